"""What tests need of NumPy's inside, whose name has changed."""

try:
    from numpy._core import multiarray
except ImportError:  # before NumPy 2
    from numpy.core import multiarray

get_handler_name = multiarray.get_handler_name
CORE = multiarray.__name__.rpartition(".")[0]  # "numpy._core" or "numpy.core"
