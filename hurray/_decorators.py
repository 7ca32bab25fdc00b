"""Context managers of the compiled part as decorators."""

import functools
import inspect

from hurray._core import aligned_allocator


def with_aligned_allocator(function, /):
    """The function, each call of which runs in an `aligned_allocator` block of its own."""
    if not callable(function):
        raise TypeError(f"aligned_allocator() decorates functions, not {type(function).__name__}")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        # Its body runs in the context of whoever asks for the next item, block or not.
        raise TypeError(
            "aligned_allocator() cannot decorate a generator function; put the block inside"
        )
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def in_block(*args, **kwargs):
            with aligned_allocator():
                return await function(*args, **kwargs)

    else:

        @functools.wraps(function)
        def in_block(*args, **kwargs):
            with aligned_allocator():
                return function(*args, **kwargs)

    return in_block
