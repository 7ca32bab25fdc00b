import inspect

import pytest
from subprocesses import run_python

import hurray

# What api.md puts into the namespace. Names that are still to come are not asked for.
TIER_1 = (
    "float16 bfloat16 float32 float64 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool"
).split()
TIER_2 = (
    "float8_e4m3 float8_e5m2 float8_e8m0 float4_e2m1 float6_e2m3 float6_e3m2 float128 "
    "int4 uint4 int2 uint2 complex64 complex128"
).split()
DEVICES = "cpu cuda rocm metal vulkan webgpu hexagon level_zero opencl".split()
ABSENT = (
    "SparseTensor from_hurray_buffer DYNAMIC int4 uint2 complex64 complex128 float8_e4m3 float128"
).split()


@pytest.mark.parametrize("package", ["numpy", "scipy", "torch", "ml_dtypes", "hurray.dtype"])
def test_importing_loads_no_other_package(package):
    printed = run_python(
        """
        import sys
        import hurray
        print(sys.argv[1] in sys.modules)
        """,
        package,
    )
    assert printed == "False\n"


def test_dense_tensors_work_without_numpy():
    run_python(
        """
        import sys
        sys.modules["numpy"] = None
        import hurray
        tensor = hurray.Tensor(bytes(16), hurray.float32, [2, 2], layout=hurray.ColMajorLayout())
        assert memoryview(tensor).shape == (2, 2)
        assert tensor.T.shape == (2, 2)
        assert memoryview(tensor.buffer(0)).nbytes == 16
        assert hurray.Descriptor.decode(tensor.descriptor.encode()) == tensor.descriptor
        tensor.validate_contents()
        str(tensor), repr(tensor)
        for call in (
            tensor.numpy,
            tensor.__array__,
            lambda: hurray.asarray([1]),
            lambda: hurray.from_numpy([1]),
        ):
            try:
                call()
            except ImportError as error:
                assert "numpy" in str(error).lower(), error
            else:
                raise AssertionError(call)
        """
    )


def test_files_and_streams_work_without_numpy(tmp_path):
    run_python(
        """
        import sys
        sys.modules["numpy"] = None
        import hurray
        tensor = hurray.full([3], 7)
        hurray.save(sys.argv[1], {"x": tensor}, kv={"answer": 42})
        assert hurray.load_kv(sys.argv[1]) == {"answer": 42}
        loaded = hurray.load(sys.argv[1])["x"]
        assert bytes(loaded.buffer(0)) == bytes(tensor.buffer(0))
        writer = hurray.StreamWriter()
        writer.write(loaded)
        (read,) = hurray.StreamReader(writer.getvalue())
        assert bytes(read.buffer(0)) == bytes(tensor.buffer(0))
        """,
        str(tmp_path / "file.hrry"),
    )


def test_numpy_may_come_after():
    run_python(
        """
        import hurray
        tensor = hurray.arange(3)
        import numpy
        assert numpy.asarray(tensor).tolist() == [0, 1, 2]
        assert hurray.from_numpy(numpy.arange(3)).shape == (3,)
        """
    )


def test_numpy_is_found_when_it_was_missing_before():
    run_python(
        """
        import sys
        sys.modules["numpy"] = None
        import hurray
        tensor = hurray.arange(3)
        try:
            tensor.numpy()
        except ImportError:
            pass
        del sys.modules["numpy"]
        assert tensor.numpy().tolist() == [0, 1, 2]
        """
    )


# ---- the namespace


def test_every_name_of_all_exists():
    assert len(set(hurray.__all__)) == len(hurray.__all__)
    for name in hurray.__all__:
        assert hasattr(hurray, name), name


def test_all_leaves_out_what_shadows_a_builtin():
    assert "open" not in hurray.__all__


def test_a_star_import_brings_no_submodules_of_others():
    names = run_python(
        """
        from hurray import *
        print(*sorted(name for name in globals() if not name.startswith("__")))
        """
    ).split()
    assert {"Tensor", "zeros", "float32", "dtype", "device"} <= set(names)
    assert "_core" not in names


def test_tier_1_types_are_at_the_top():
    for name in TIER_1:
        assert getattr(hurray, name) is getattr(hurray.dtype, name)
    for name in TIER_2:
        assert isinstance(getattr(hurray.dtype, name), hurray.Dtype)
        assert not hasattr(hurray, name)


def test_the_submodules_can_be_imported_by_name():
    import hurray.dtype
    from hurray.device import cpu
    from hurray.dtype import int4

    assert cpu is hurray.device.cpu
    assert int4 is hurray.dtype.int4
    assert {name for name in dir(hurray.dtype) if not name.startswith("_")} == {*TIER_1, *TIER_2}
    assert {name for name in dir(hurray.device) if not name.startswith("_")} == {*DEVICES}


def test_the_submodules_need_no_import_of_their_own():
    printed = run_python(
        """
        import hurray
        assert {"device", "dtype", "float32"} <= set(dir(hurray))
        print(hurray.device.cpu.kind, hurray.dtype.int4.name, hurray.bool is hurray.dtype.bool)
        """
    )
    assert printed == "cpu int4 True\n"


@pytest.mark.parametrize("name", ABSENT)
def test_some_names_must_not_exist(name):
    assert not hasattr(hurray, name)


def test_constants_have_their_values():
    assert hurray.MIN_BUFFER_ALIGNMENT == 64
    assert hurray.PAGE_ALIGNMENT == 4096
    assert isinstance(hurray.__version__, str)


def test_the_version_is_that_of_the_distribution():
    from importlib.metadata import version

    assert hurray.__version__ == version("hurray-tensor")


@pytest.mark.parametrize("name", sorted(hurray.__all__))
def test_public_objects_say_where_they_come_from(name):
    value = getattr(hurray, name)
    if inspect.isclass(value):
        assert value.__module__ == "hurray"
        assert value.__qualname__ == value.__name__ == name
