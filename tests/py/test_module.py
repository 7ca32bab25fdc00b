import ast
import importlib
import pathlib
import sys
import types
import weakref

import pytest
from dtype_table import TABLE as DTYPES
from subprocesses import run_python

import hurray
from hurray import _core

EXCEPTIONS = {
    "InvalidDescriptorError",
    "BufferError",
    "CopyRequiredError",
    "UnsupportedError",
    "InternalError",
    "FileError",
    "StreamError",
}
LAYOUTS = {
    "RowMajorLayout",
    "ColMajorLayout",
    "StridedLayout",
    "TiledLayout",
    "MortonLayout",
    "HilbertLayout",
    "CooLayout",
    "CsrLayout",
    "CscLayout",
    "CsfLayout",
    "BlockPagedLayout",
    "CompositeLayout",
    "PrivateExtensionLayout",
    "UnknownLayout",
}
CLASSES = {
    *("Dtype", "Device", "Tensor", "Descriptor", "BufferHandle", "Composite", "ExtensionType"),
    *("PerTensorAffine", "PerChannelAffine", "PerBlockAffine", "NF4", "MXFP"),
    *("Statistics", "Shard", "StreamReader", "StreamWriter", "File", "VerifyReport"),
    *("AlignedAllocatorCtx", "PrintOptionsCtx", "Layout"),
    *LAYOUTS,
}
FUNCTIONS = {
    *("buffer_size_bytes", "layout_tag_kind", "decode_quantization"),
    *("from_numpy", "from_torch", "from_dlpack", "from_scipy", "sparse_coo", "asarray"),
    *("from_hurray", "aligned_allocator", "allocator_stats", "trim_allocator", "get_include"),
    *("zeros", "ones", "full", "empty", "zeros_like", "ones_like", "full_like", "empty_like"),
    *("arange", "linspace", "eye"),
    *("save", "load", "load_kv", "open", "dumps", "loads", "verify"),
    *("set_print_options", "get_print_options", "print_options"),
}
TIER_1 = {row[0] for row in DTYPES if row[2] == 1}
CONSTANTS = {"MIN_BUFFER_ALIGNMENT", "PAGE_ALIGNMENT", "__version__"}
SUBMODULES = {"dtype", "device"}
API = CLASSES | FUNCTIONS | EXCEPTIONS | TIER_1 | CONSTANTS | SUBMODULES

# Names of the API that are still to come; whoever adds one takes it out.
TO_COME = set()

NOT_CONSTRUCTIBLE = [
    "Dtype",
    "Layout",
    "BufferHandle",
    "Descriptor",
    "PerChannelAffine",
    "PerBlockAffine",
    "File",
    "VerifyReport",
]


def small_tensor():
    return hurray.Tensor(bytes(16), hurray.float32, [4])


INSTANCES = {
    "Dtype": lambda: hurray.float32,
    "Device": lambda: hurray.Device("cuda", 1),
    "Tensor": small_tensor,
    "Descriptor": lambda: small_tensor().descriptor,
    "BufferHandle": lambda: small_tensor().buffer_handles[0],
    "Composite": lambda: hurray.Composite("group", shape=[], dtype=hurray.int8, members=[]),
    "ExtensionType": lambda: hurray.ExtensionType(24),
    "PerTensorAffine": lambda: hurray.PerTensorAffine(0.5, 3),
    "PerChannelAffine": lambda: hurray.PerChannelAffine.symmetric(0, 1),
    "PerBlockAffine": lambda: hurray.PerBlockAffine.symmetric(0, 2, 1, hurray.float16),
    "NF4": lambda: hurray.NF4(0, 64, 1),
    "MXFP": lambda: hurray.MXFP(0, 32, 1),
    "Statistics": lambda: hurray.Statistics(nnz=1),
    "Shard": lambda: hurray.Shard([8], [4]),
    "StreamReader": lambda: hurray.StreamReader(b""),
    "StreamWriter": lambda: hurray.StreamWriter(),
    "AlignedAllocatorCtx": lambda: hurray.aligned_allocator(),
    "PrintOptionsCtx": lambda: hurray.print_options(),
    "RowMajorLayout": lambda: hurray.RowMajorLayout(),
    "ColMajorLayout": lambda: hurray.ColMajorLayout(),
    "StridedLayout": lambda: hurray.StridedLayout([1]),
    "TiledLayout": lambda: hurray.TiledLayout([2]),
    "MortonLayout": lambda: hurray.MortonLayout([2]),
    "HilbertLayout": lambda: hurray.HilbertLayout(1, 2),
    "CooLayout": lambda: hurray.CooLayout(1),
    "CsrLayout": lambda: hurray.CsrLayout(1),
    "CscLayout": lambda: hurray.CscLayout(1),
    "CsfLayout": lambda: hurray.CsfLayout(1, [0, 1, 2]),
    "BlockPagedLayout": lambda: hurray.BlockPagedLayout(1, 1, 0, 1),
    "CompositeLayout": lambda: hurray.CompositeLayout("group", 1),
    "PrivateExtensionLayout": lambda: hurray.PrivateExtensionLayout(0xF0, 7),
    "UnknownLayout": lambda: hurray.UnknownLayout(0x0C),
}


def present(names):
    return sorted(set(names) - TO_COME)


every_instance = pytest.mark.parametrize("name", present(INSTANCES))
every_class = pytest.mark.parametrize("name", present(CLASSES))


# ---- names


def test_all_lists_the_api():
    assert set(hurray.__all__) == API - TO_COME - {"open"}
    assert len(hurray.__all__) == len(set(hurray.__all__))


def test_open_is_public_but_never_starred():
    namespace = {}
    exec("from hurray import *", namespace)
    assert set(hurray.__all__) <= set(namespace)
    assert "open" not in namespace
    assert ("open" in TO_COME) is not hasattr(hurray, "open")


def test_nothing_else_looks_public():
    public = {name for name in dir(hurray) if not name.startswith("_")} | {"__version__"}
    assert public == API - TO_COME


@pytest.mark.parametrize(
    "name",
    [
        "SparseTensor",
        "from_hurray_buffer",
        "DYNAMIC",
        *(row[0] for row in DTYPES if row[2] == 2),
    ],
)
def test_names_that_must_not_exist(name):
    assert not hasattr(hurray, name)


@pytest.mark.parametrize("name", ["__hurray_buffer__", "__hurray_sparse_buffer__"])
def test_members_that_must_not_exist(name):
    assert not hasattr(hurray.Tensor, name)


@every_class
def test_classes_belong_to_the_package(name):
    cls = getattr(hurray, name)
    assert isinstance(cls, type)
    assert (cls.__module__, cls.__qualname__) == ("hurray", name)


@pytest.mark.parametrize("name", present(FUNCTIONS))
def test_functions_are_callable(name):
    assert callable(getattr(hurray, name))


def test_constants():
    assert hurray.MIN_BUFFER_ALIGNMENT == 64
    assert hurray.PAGE_ALIGNMENT == 4096
    assert type(hurray.__version__) is str


def test_the_version_is_that_of_the_distribution():
    metadata = importlib.import_module("importlib.metadata")
    assert hurray.__version__ == metadata.version("hurray-tensor")


@pytest.mark.parametrize("name", sorted(SUBMODULES))
def test_submodules_can_be_imported(name):
    module = importlib.import_module(f"hurray.{name}")
    assert isinstance(module, types.ModuleType)
    assert sys.modules[f"hurray.{name}"] is module
    assert getattr(hurray, name) is module


def test_importing_loads_no_framework():
    printed = run_python("""
        import sys
        import hurray
        print(sorted({"numpy", "scipy", "torch"} & set(sys.modules)))
        """)
    assert printed == "[]\n"


# ---- stubs


def names_in(stub):
    """What a stub file offers: all of `__all__`, re-exports under the same name, definitions."""
    names = set()
    for node in ast.parse(stub.read_text()).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__":
            names.update(ast.literal_eval(node.value))
        elif isinstance(node, ast.ImportFrom):
            names.update(a.name for a in node.names if a.asname == a.name)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            names.add(node.target.id)
    return names


PACKAGE = pathlib.Path(hurray.__file__).parent


def test_the_stub_of_the_package_has_the_names_of_the_package():
    assert names_in(PACKAGE / "__init__.pyi") == API - TO_COME


def test_the_stub_of_the_extension_has_the_names_of_the_extension():
    compiled = {name for name in dir(_core) if not name.startswith("_")}
    stub = {name for name in names_in(PACKAGE / "_core.pyi") if not name.startswith("_")}
    assert stub == compiled


def test_the_extension_has_no_public_name_that_the_package_lacks():
    compiled = {name for name in dir(_core) if not name.startswith("_")}
    assert compiled <= API
    assert all(getattr(hurray, name) is getattr(_core, name) for name in compiled)


def test_the_package_says_that_it_is_typed():
    assert (PACKAGE / "py.typed").exists()


# ---- immutability


@every_instance
def test_instances_take_no_attributes(name):
    instance = INSTANCES[name]()
    with pytest.raises(AttributeError):
        instance.something_new = 1
    for member in [m for m in vars(type(instance)) if not m.startswith("_")]:
        with pytest.raises(AttributeError):
            setattr(instance, member, None)
        with pytest.raises(AttributeError):
            delattr(instance, member)
    assert not hasattr(instance, "__dict__")


@every_class
def test_classes_take_no_attributes(name):
    cls = getattr(hurray, name)
    with pytest.raises(TypeError):
        cls.something_new = 1
    with pytest.raises(TypeError):
        cls.__repr__ = None
    with pytest.raises(TypeError):
        del cls.__doc__


@pytest.mark.parametrize("name", present(CLASSES - {"Layout"}))
def test_classes_are_final(name):
    with pytest.raises(TypeError):
        type("Sub", (getattr(hurray, name),), {})


def test_layout_can_be_subclassed():
    assert issubclass(type("Sub", (hurray.Layout,), {}), hurray.Layout)


@pytest.mark.parametrize("name", present(NOT_CONSTRUCTIBLE))
def test_what_only_the_library_makes_is_not_constructible(name):
    cls = getattr(hurray, name)
    with pytest.raises(TypeError):
        cls()
    with pytest.raises(TypeError):
        cls.__new__(cls)
    with pytest.raises(TypeError):
        object.__new__(cls)


@every_instance
def test_new_without_a_call_makes_nothing_unfinished(name):
    cls = getattr(hurray, name)
    with pytest.raises(TypeError):
        object.__new__(cls)


@every_instance
def test_instances_can_be_weakly_referenced(name):
    instance = INSTANCES[name]()
    reference = weakref.ref(instance)
    assert reference() is instance
    kept_by_the_module = name == "Dtype"
    del instance
    assert (reference() is not None) is kept_by_the_module


def test_every_class_with_instances_is_tested():
    assert set(INSTANCES) == CLASSES - {"Layout", "File", "VerifyReport"}
