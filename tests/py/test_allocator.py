import asyncio
import contextlib
import contextvars
import copy
import functools
import gc
import inspect
import os
import pickle
import sys
import threading
import tracemalloc
import weakref

import numpy as np
import pytest
from arrays import address_of
from instances import in_threads, references_left
from numpy_core import get_handler_name
from subprocesses import run_python

import hurray

OURS = "hurray_aligned"
DEFAULT = "default_allocator"
SIZES = [0, 1, 7, 64, 1000, 1024, 5000, 32 << 10, 100_000, 1 << 20, 4 << 20, 5_000_000]


def handler():
    """The name of the handler that a new array gets."""
    return get_handler_name()


def owner_of(array):
    """The array that has the memory of a view."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def with_block(function, *args):
    with hurray.aligned_allocator():
        return function(*args)


# ---- the block


def test_arrays_made_inside_are_shared_by_from_numpy():
    with hurray.aligned_allocator():
        for size in SIZES:
            array = np.empty(size, np.uint8)
            assert get_handler_name(array) == OURS
            tensor = hurray.from_numpy(array, copy=False)
            if size:
                assert tensor.buffer_handles[0].alignment >= 64
                assert address_of(array) % 64 == 0


def test_large_arrays_begin_on_a_page():
    with hurray.aligned_allocator():
        assert address_of(np.empty(4 << 20, np.uint8)) % 4096 == 0
        assert address_of(np.zeros(5 << 20, np.uint8)) % 4096 == 0


def test_arrays_made_outside_are_numpys_own():
    with hurray.aligned_allocator():
        pass
    assert handler() == DEFAULT
    assert get_handler_name(np.empty(3)) == DEFAULT


def test_enter_gives_none_and_exit_false():
    block = hurray.aligned_allocator()
    assert block.__enter__() is None
    assert block.__exit__(None, None, None) is False


def test_the_class_can_be_called_itself():
    assert type(hurray.aligned_allocator()) is hurray.AlignedAllocatorCtx
    with hurray.AlignedAllocatorCtx():
        assert handler() == OURS


@pytest.mark.parametrize("make", [hurray.aligned_allocator, hurray.AlignedAllocatorCtx])
def test_there_are_no_arguments(make):
    with pytest.raises(TypeError):
        make(64)
    with pytest.raises(TypeError):
        make(alignment=64)


def test_an_exception_passes_through_and_the_handler_is_restored():
    with pytest.raises(KeyError, match="passes"), hurray.aligned_allocator():
        raise KeyError("passes")
    assert handler() == DEFAULT


def test_blocks_nest():
    with hurray.aligned_allocator():
        with hurray.aligned_allocator():
            assert handler() == OURS
        assert handler() == OURS
    assert handler() == DEFAULT


def test_a_block_leaves_the_context_as_it_was():
    def values():
        return dict(contextvars.copy_context())

    before = values()
    with hurray.aligned_allocator():
        assert values() != before
    assert values() == before


def test_a_block_that_is_active_cannot_be_entered():
    block = hurray.aligned_allocator()
    with block:
        with pytest.raises(RuntimeError, match="already active"):
            block.__enter__()
        assert handler() == OURS
    assert handler() == DEFAULT


def test_a_block_can_be_used_again():
    block = hurray.aligned_allocator()
    for _ in range(3):
        with block:
            assert handler() == OURS
        assert handler() == DEFAULT


def test_exit_without_enter_is_a_runtime_error():
    block = hurray.aligned_allocator()
    with pytest.raises(RuntimeError, match="not active"):
        block.__exit__(None, None, None)
    with block:
        pass
    with pytest.raises(RuntimeError, match="not active"):
        block.__exit__(None, None, None)


def test_exit_in_another_context_is_refused_and_the_owner_can_still_leave():
    block = hurray.aligned_allocator()
    owner = contextvars.copy_context()
    owner.run(block.__enter__)
    with pytest.raises(RuntimeError, match="another thread or task") as caught:
        block.__exit__(None, None, None)
    assert isinstance(caught.value.__cause__, ValueError)
    assert handler() == DEFAULT
    assert owner.run(handler) == OURS
    owner.run(block.__exit__, None, None, None)
    assert owner.run(handler) == DEFAULT
    with block:
        assert handler() == OURS


@pytest.mark.parametrize(
    "arguments", [(), (None,), (None, None, None, None)], ids=lambda a: str(len(a))
)
def test_exit_takes_what_with_gives_it(arguments):
    block = hurray.aligned_allocator()
    with block, pytest.raises(TypeError):
        block.__exit__(*arguments)
    with pytest.raises(TypeError):
        block.__enter__(None)


def test_the_methods_work_in_any_form():
    cls = hurray.AlignedAllocatorCtx
    block = cls()
    assert cls.__enter__(block) is None
    assert handler() == OURS
    assert cls.__exit__(block, None, None, None) is False
    enter, leave = block.__enter__, block.__exit__
    assert enter.__self__ is block
    assert block.__enter__ is enter
    reference = weakref.ref(block)
    del block
    enter()
    assert handler() == OURS
    leave(None, None, None)
    del enter
    assert reference() is not None
    del leave
    assert reference() is None
    with contextlib.ExitStack() as stack:
        stack.enter_context(hurray.aligned_allocator())
        assert handler() == OURS
    assert handler() == DEFAULT
    assert isinstance(hurray.aligned_allocator(), contextlib.AbstractContextManager)
    assert inspect.signature(cls.__enter__)


def test_blocks_are_not_copied_or_pickled():
    block = hurray.aligned_allocator()
    for fail in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            fail(block)
    assert block != hurray.aligned_allocator()


def test_an_object_that_is_gone_is_gone():
    reference = weakref.ref(hurray.aligned_allocator())
    assert reference() is None
    first, second = hurray.aligned_allocator(), hurray.aligned_allocator()
    assert first is not second
    with first, second:
        assert handler() == OURS
    assert handler() == DEFAULT


def test_a_thousand_blocks_leave_nothing_behind():
    def work():
        with hurray.aligned_allocator() as entered:
            assert entered is None

    # One object is kept for the next block.
    assert references_left(hurray.AlignedAllocatorCtx, work) == 0


def test_a_block_that_is_never_left_does_no_harm():
    contextvars.copy_context().run(lambda: hurray.aligned_allocator().__enter__())
    gc.collect()
    assert handler() == DEFAULT


# ---- the decorator


def test_each_call_of_a_decorated_function_runs_in_a_block():
    @hurray.aligned_allocator()
    def factorial(n):
        """Of a small number."""
        assert handler() == OURS
        return np.full(1, n) * (factorial(n - 1) if n > 1 else 1)

    assert get_handler_name(factorial(5)) == OURS
    assert factorial(5) == 120
    assert handler() == DEFAULT
    assert factorial.__name__ == "factorial"
    assert factorial.__doc__ == "Of a small number."
    in_threads(lambda: factorial(3), rounds=10)


def test_a_decorated_coroutine_runs_in_a_block():
    @hurray.aligned_allocator()
    async def make():
        await asyncio.sleep(0)
        return np.empty(10)

    async def main():
        arrays = await asyncio.gather(make(), make())
        assert handler() == DEFAULT
        return arrays

    assert inspect.iscoroutinefunction(make)
    assert [get_handler_name(a) for a in asyncio.run(main())] == [OURS, OURS]


def test_a_generator_function_cannot_be_decorated():
    def items():
        yield 1

    async def more_items():
        yield 1

    for function in (items, more_items):
        with pytest.raises(TypeError, match="generator"):
            hurray.aligned_allocator()(function)


@pytest.mark.parametrize("arguments", [(), (5,), (len, len)], ids=lambda a: str(len(a)))
def test_only_functions_can_be_decorated(arguments):
    with pytest.raises(TypeError):
        hurray.aligned_allocator()(*arguments)


def test_what_a_decorated_function_raises_passes_through():
    @hurray.aligned_allocator()
    def fail():
        raise KeyError("passes")

    with pytest.raises(KeyError, match="passes"):
        fail()
    assert handler() == DEFAULT


# ---- contexts


def test_a_thread_started_inside_has_the_default_handler():
    seen = []
    with hurray.aligned_allocator():
        # From CPython 3.14 on, a thread may be told to inherit its starter's context.
        thread = threading.Thread(target=lambda: seen.append(handler()))
        thread.start()
        thread.join()
        assert handler() == OURS
    inherits = getattr(sys.flags, "thread_inherit_context", 0)
    assert seen == [OURS if inherits else DEFAULT]


def test_the_block_holds_across_await():
    async def aligned(barrier):
        with hurray.aligned_allocator():
            await barrier.wait()
            await asyncio.sleep(0)
            return handler()

    async def plain(barrier):
        barrier.set()
        await asyncio.sleep(0)
        return handler()

    async def main():
        barrier = asyncio.Event()
        return await asyncio.gather(aligned(barrier), plain(barrier))

    assert asyncio.run(main()) == [OURS, DEFAULT]


def test_threads_enter_and_leave_at_once():
    def work():
        with hurray.aligned_allocator():
            a = np.ones(1000)
            assert address_of(a) % 64 == 0
            assert get_handler_name(a + a) == OURS
        assert handler() == DEFAULT

    in_threads(work)


# ---- without NumPy, and with old versions

FAKE_NUMPY = """
    import sys

    class Absent:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] == "numpy":
                raise ModuleNotFoundError("No module named 'numpy'", name="numpy")

    sys.meta_path.insert(0, Absent())
"""


def test_without_numpy_entering_is_an_import_error():
    program = f"""{FAKE_NUMPY}
    import hurray
    block = hurray.aligned_allocator()
    for _ in range(2):
        try:
            block.__enter__()
        except ImportError as error:
            print(error)
    hurray.allocator_stats()
    hurray.trim_allocator()
    """
    assert run_python(program) == "No module named 'numpy'\n" * 2


def test_a_numpy_too_old_for_handlers_is_unsupported():
    # The two functions that tell NumPy 1.21's versions, in the places that NumPy gives them.
    program = """
    import ctypes, sys, types

    table = (ctypes.c_void_p * 400)()
    version = ctypes.CFUNCTYPE(ctypes.c_uint)
    functions = {0: version(lambda: 0x1000009), 211: version(lambda: 0xE)}
    for slot, function in functions.items():
        table[slot] = ctypes.cast(function, ctypes.c_void_p).value
    make_capsule = ctypes.pythonapi.PyCapsule_New
    make_capsule.restype = ctypes.py_object
    make_capsule.argtypes = [ctypes.c_void_p] * 3
    for name in ("numpy", "numpy.core", "numpy.core._multiarray_umath"):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = []
    sys.modules[name]._ARRAY_API = make_capsule(ctypes.addressof(table), None, None)

    import hurray
    block = hurray.aligned_allocator()
    for _ in range(2):
        try:
            block.__enter__()
        except hurray.UnsupportedError as error:
            print(error)
    """
    assert run_python(program) == (
        "aligned_allocator needs NumPy 1.22 or newer, which lets others allocate\n" * 2
    )


# ---- arrays that outlive things


def test_arrays_outlive_the_block_and_their_thread():
    arrays = []
    thread = threading.Thread(
        target=lambda: arrays.extend(with_block(np.full, size, 7, np.uint8) for size in SIZES)
    )
    thread.start()
    thread.join()
    gc.collect()
    for array, size in zip(arrays, SIZES, strict=True):
        assert array.sum(dtype=np.uint64) == 7 * size
        array[...] = 1
    arrays.clear()


def test_arrays_are_freed_on_another_thread_than_made_them():
    before = hurray.allocator_stats()["bytes_in_use"]
    arrays = [with_block(np.empty, size % 5000 + 1, np.uint8) for size in range(5000)]
    assert hurray.allocator_stats()["bytes_in_use"] > before
    thread = threading.Thread(target=arrays.clear)
    thread.start()
    thread.join()
    assert hurray.allocator_stats()["bytes_in_use"] <= before


@pytest.mark.parametrize("size", [10, 100_000, 5_000_000])
def test_arrays_outlive_the_interpreter(size):
    program = f"""
    import sys, threading, builtins
    import numpy as np, hurray

    with hurray.aligned_allocator():
        kept = [np.ones({size}), hurray.from_numpy(np.ones({size}), copy=False)]
        kept.append(hurray.zeros([{size}]))
    # In cycles, in a module that goes last, and on a thread that never ends.
    kept.append(kept)
    builtins.kept = kept
    sys.kept = np.asarray(kept[1])

    def wait(array=hurray.from_numpy(kept[0], copy=False)):
        threading.Event().wait()

    threading.Thread(target=wait, daemon=True).start()
    block = hurray.aligned_allocator()
    block.__enter__()
    late = np.ones({size})
    print("done")
    """
    assert run_python(program) == "done\n"


def test_the_module_may_go_before_its_arrays():
    program = """
    import gc, sys
    import numpy as np, hurray

    with hurray.aligned_allocator():
        arrays = [np.ones(size) for size in (1, 100, 100_000, 5_000_000)]
    block = hurray.aligned_allocator()
    for name in [name for name in sys.modules if name.startswith("hurray")]:
        del sys.modules[name]
    del hurray
    gc.collect()
    with block:
        arrays += [array + 1 for array in arrays]
    del block
    gc.collect()
    print(sum(float(array[-1]) for array in arrays))
    """
    assert run_python(program) == "12.0\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_child_uses_and_frees_what_its_parent_made():
    program = """
    import os, threading
    import numpy as np, hurray

    def work():
        with hurray.aligned_allocator():
            return [np.full(size, 3, np.uint8) for size in (1, 100, 5000, 100_000, 5_000_000)]

    arrays = work()
    stop = False
    def busy():
        while not stop:
            work()
    thread = threading.Thread(target=busy)
    thread.start()
    for _ in range(10):
        pid = os.fork()
        if pid == 0:
            good = all((array == 3).all() for array in arrays)
            arrays.clear()
            good = good and all((array == 3).all() for array in work())
            hurray.trim_allocator()
            os._exit(0 if good else 1)
        assert os.waitpid(pid, 0)[1] == 0
    stop = True
    thread.join()
    assert all((array == 3).all() for array in arrays)
    print("done")
    """
    assert run_python(program) == "done\n"


# ---- traps in what NumPy does


@pytest.mark.parametrize("count", [0, 1, 10, 1000, 100_000])
def test_free_gets_null_from_sort_argsort_and_partition(count):
    values = np.random.default_rng(0).random(count)
    expected = sorted(values)
    with hurray.aligned_allocator():
        assert list(np.sort(values)) == expected
        assert list(values[np.argsort(values)]) == expected
        assert list(values[np.argsort(values, kind="stable")]) == expected
        if count:
            half = count // 2
            assert np.partition(values, half)[half] == expected[half]
            assert values[np.argpartition(values, half)[half]] == expected[half]
        assert list(np.sort(values, kind="stable")) == expected
        ordered = values.copy()
        ordered.sort()
        assert list(ordered) == expected


@pytest.mark.parametrize("kind", ["sort", "argsort", "partition"])
def test_scratch_memory_of_sorting_comes_from_the_handler(kind):
    values = np.random.default_rng(0).random((100, 1000))
    # Along an axis that is not contiguous: each column is copied out and back.
    work = {
        "sort": lambda: values.sort(axis=0),
        "argsort": lambda: values.argsort(axis=0),
        "partition": lambda: values.partition(5, axis=0),
    }[kind]

    def blocks(function, *args):
        before = hurray.allocator_stats()
        function(*args)
        after = hurray.allocator_stats()
        return sum(
            sum(after[regime].values()) - sum(before[regime].values())
            for regime in ("small", "middle", "large")
        )

    assert blocks(work) == 0
    assert blocks(with_block, work) > (kind == "argsort")
    if kind == "sort":
        assert (np.diff(values, axis=0) >= 0).all()


def test_free_gets_wrong_sizes_from_empty_and_resized_arrays():
    before = hurray.allocator_stats()["bytes_in_use"]
    with hurray.aligned_allocator():
        for shape in [(0,), (0, 5), (3, 0, 2)]:
            for dtype in (np.uint8, np.float64, "S0", "V7", "U5"):
                array = np.empty(shape, dtype)
                assert array.size == 0
                del array
        for size in SIZES:
            array = np.empty(size, np.uint8)
            array.resize(0, refcheck=False)
            array.resize(3, refcheck=False)
            assert array.tolist() == [0, 0, 0]
    del array
    assert hurray.allocator_stats()["bytes_in_use"] <= before


@pytest.mark.parametrize("count", [1, 5000, 300_000, 1_500_000])
def test_realloc_comes_without_the_gil_and_without_the_old_size(count, tmp_path):
    text = " ".join(str(i % 1000) for i in range(count))
    path = tmp_path / "numbers.txt"
    path.write_text(text)
    expected = np.arange(count) % 1000
    before = hurray.allocator_stats()["bytes_in_use"]

    def parse():
        with hurray.aligned_allocator():
            from_text = np.fromstring(text, dtype=np.int64, sep=" ")
            from_file = np.fromfile(path, dtype=np.int64, sep=" ")
        for array in (from_text, from_file):
            assert get_handler_name(array) == OURS
            assert address_of(array) % 64 == 0
            np.testing.assert_array_equal(array, expected)

    parse()
    in_threads(parse, threads=2, rounds=1)
    assert hurray.allocator_stats()["bytes_in_use"] <= before


def test_resizing_keeps_contents_and_alignment():
    random = np.random.default_rng(1)
    with hurray.aligned_allocator():
        array = np.empty(0, np.uint32)
        filled = 0
        for bits in random.integers(0, 22, 200):
            size = int(2**bits + random.integers(0, 2**bits))
            array.resize(size, refcheck=False)
            filled = min(filled, size)
            assert address_of(array) % 64 == 0
            np.testing.assert_array_equal(array[:filled], np.arange(filled, dtype=np.uint32))
            assert not array[filled:].any()
            array[:] = np.arange(size, dtype=np.uint32)
            filled = size


def test_arrays_swapped_between_handlers_keep_each_its_own():
    def set_to(array, values):
        # What has to be byte-swapped goes into new memory, of the handler that is set now.
        state = (1, values.shape, np.dtype(">f8"), False, values.astype(">f8").tobytes())
        array.__setstate__(state)

    before = hurray.allocator_stats()["bytes_in_use"]
    outside = np.full(1000, 1.0)
    inside = with_block(np.full, 1000, 2.0)
    set_to(inside, np.full(1500, 3.0))
    with hurray.aligned_allocator():
        set_to(outside, np.full(1500, 4.0))
    assert get_handler_name(inside) == DEFAULT
    assert get_handler_name(outside) == OURS
    for block in (contextlib.nullcontext(), hurray.aligned_allocator()):
        with block:
            for size in (20_000, 1_000_000, 1000):
                inside.resize(size, refcheck=False)
                outside.resize(size, refcheck=False)
                assert (inside[:1000] == 3).all()
                assert (outside[:1000] == 4).all()
                assert address_of(outside) % 64 == 0
    del outside, inside
    assert hurray.allocator_stats()["bytes_in_use"] <= before


def test_temporary_elision_uses_memory_from_outside():
    # The sum goes into the temporary's own memory, whoever allocated that.
    def temporary():
        return contextvars.Context().run(np.ones, 1_000_000)

    with hurray.aligned_allocator():
        added = temporary() + np.float64(1)
    assert (added == 2).all()
    plain = with_block(np.ones, 1_000_000) + np.float64(1)
    assert (plain == 2).all()
    for array in (added, plain):
        assert get_handler_name(array) in (OURS, DEFAULT)
        array.resize(10, refcheck=False)
        assert (array == 2).all()


@pytest.mark.parametrize("exponent", [40, 47, 50, 60, 62])
def test_allocation_failure_is_a_memory_error_and_the_heap_intact(exponent):
    with hurray.aligned_allocator():
        small = np.arange(1000)
        for make in (np.empty, np.zeros, np.ones):
            for size in (2**exponent, 2**exponent - 1, 2**exponent + 4096):
                if exponent == 40 and make is not np.ones:
                    continue  # a terabyte of addresses may well be had
                with pytest.raises((MemoryError, ValueError)):
                    make(size, np.uint8)
                    raise MemoryError  # granted, as overcommitting systems do
        with pytest.raises((MemoryError, ValueError)):
            small.resize(2**exponent // 8, refcheck=False)
            raise MemoryError
        after = np.arange(100_000)
    assert small[:1000].tolist() == list(range(1000))
    assert after.sum() == 99_999 * 50_000


@pytest.mark.parametrize("size", [2**63 - 1, 2**63 - 64, 2**63 - 4096, 2**62, 2**61 + 1])
def test_sizes_near_the_end_of_the_address_space(size):
    with hurray.aligned_allocator():
        for make in (np.empty, np.zeros):
            with pytest.raises((MemoryError, ValueError)):
                make(size, np.uint8)
        array = np.arange(10)
        with pytest.raises((MemoryError, ValueError)):
            array.resize(size // 8, refcheck=False)
        assert array.tolist() == list(range(10))


def test_ten_thousand_random_sizes_are_aligned():
    random = np.random.default_rng(2)
    kept = []
    with hurray.aligned_allocator():
        for bits in random.integers(0, 21, 10_000):
            size = int(2**bits + random.integers(0, 2**bits))
            array = (np.empty if size % 2 else np.zeros)(size, np.uint8)
            assert address_of(array) % 64 == 0
            if len(kept) < 300:
                kept.append(array)
            else:
                kept[size % 300] = array


def aligned_results():
    """(name, function of a float array whose result is new memory)."""
    random = np.random.default_rng(3)
    order = random.permutation(1000)
    return [
        ("zeros", lambda a: np.zeros(a.shape)),
        ("ones", lambda a: np.ones(a.shape)),
        ("concatenate", lambda a: np.concatenate([a, a, a[:5]])),
        ("ufunc", lambda a: a + 1),
        ("ufunc of strided input", lambda a: a[::3] * a[::3]),
        ("unary ufunc", np.sqrt),
        ("reduction", lambda a: np.add.reduce(np.stack([a, a]))),
        ("reduction over an axis", lambda a: np.stack([a, a]).max(axis=0)),
        ("accumulate", np.cumsum),
        ("astype", lambda a: a.astype(np.float32)),
        ("fancy indexing", lambda a: a[order]),
        ("boolean indexing", lambda a: a[a >= 0]),
        ("where", lambda a: np.where(a > 500, a, 0)),
        ("outer", lambda a: np.multiply.outer(a, a)),
        ("matmul", lambda a: np.outer(a, a) @ a),
        ("einsum", lambda a: np.einsum("i,i->i", a, a)),
        ("copy", np.copy),
        ("reversed copy", lambda a: a[::-1].copy()),
        ("sort", np.sort),
        ("argsort", np.argsort),
        ("unique", np.unique),
        ("take", lambda a: np.take(a, order)),
        ("repeat", lambda a: np.repeat(a, 3)),
        ("pad", lambda a: np.pad(a, 3)),
        ("fromiter", lambda a: np.fromiter((float(x) for x in a), np.float64)),
        ("empty_like", np.empty_like),
        ("arange", lambda a: np.arange(a.size)),
        ("linspace", lambda a: np.linspace(0, 1, a.size)),
        ("broadcast sum", lambda a: a[:, None] + a),
        ("object", lambda a: a.astype(object)),
        ("complex", lambda a: a + 1j),
    ]


@pytest.mark.parametrize(
    "function", [pytest.param(f, id=name.replace(" ", "-")) for name, f in aligned_results()]
)
def test_results_are_aligned_and_right(function):
    array = np.arange(1000, dtype=np.float64)
    expected = function(array)
    with hurray.aligned_allocator():
        result = function(array)
    assert address_of(result) % 64 == 0
    assert get_handler_name(owner_of(result)) == OURS
    if function is not np.empty_like:
        np.testing.assert_array_equal(result, expected)


def test_views_are_where_their_base_is():
    with hurray.aligned_allocator():
        base = np.arange(10_000, dtype=np.float32).reshape(100, 100)
        views = [base.T, base[16:], base[::2], base.view(np.uint32), base.reshape(-1)[32:]]
        fields = np.zeros(100, [("a", "f8"), ("b", "i4")])
    for view in views:
        assert get_handler_name(view) in (None, OURS)
        assert np.shares_memory(view, base)
    assert address_of(base.T) % 64 == 0
    assert address_of(base[16:]) % 64 == 0
    assert address_of(fields["a"]) % 64 == 0
    keep = views[1]
    del base, views, fields
    gc.collect()
    assert keep[0, 0] == 1600


def test_loaded_arrays_are_aligned(tmp_path):
    array = np.arange(100_000, dtype=np.float32).reshape(100, 1000)
    np.save(tmp_path / "a.npy", array)
    np.savez(tmp_path / "a.npz", array=array)
    np.savetxt(tmp_path / "a.txt", array[:3])
    with hurray.aligned_allocator():
        loaded = [
            np.load(tmp_path / "a.npy"),
            np.load(tmp_path / "a.npz")["array"],
            np.fromfile(tmp_path / "a.npy", np.uint8),
            np.loadtxt(tmp_path / "a.txt"),
            np.genfromtxt(tmp_path / "a.txt"),
        ]
    for result in loaded:
        owner = owner_of(result)
        assert address_of(owner) % 64 == 0
        assert get_handler_name(owner) == OURS
    np.testing.assert_array_equal(loaded[0], array)
    np.testing.assert_array_equal(loaded[1], array)


def test_zeros_are_zero_whatever_was_there_before():
    with hurray.aligned_allocator():
        for round in range(40):
            for size in SIZES:
                zeros = np.zeros(size, np.uint8)
                assert not zeros.any()
                if round % 3:
                    zeros[...] = 255
                del zeros
                used = np.full(size, 255, np.uint8)
                del used


def test_tracemalloc_counts_each_block_once():
    def traced(size):
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        array = np.empty(size, np.uint8)
        after = tracemalloc.get_traced_memory()[0]
        del array
        left = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        return after - before, left - before

    for size in (2000, 50_000, 1_000_000, 10_000_000):
        outside = traced(size)
        inside = with_block(traced, size)
        assert size <= inside[0] < size + 1000
        assert abs(inside[0] - outside[0]) < 1000
        assert abs(inside[1]) < 1000


def test_object_arrays_count_their_references_as_without_the_block():
    class Item:
        pass

    def left_after(block):
        item = Item()
        before = sys.getrefcount(item)
        with block:
            array = np.array([item] * 1000, dtype=object)
            array = np.concatenate([array, array])
            # Older versions of NumPy do not let go of what this cuts off.
            array.resize(500, refcheck=False)
            copied = np.zeros(10, dtype=object)
            copied[:] = item
        del array, copied
        return sys.getrefcount(item) - before

    left = left_after(contextlib.nullcontext())
    assert left_after(hurray.aligned_allocator()) == left


# ---- what users see of the allocator


def test_stats_have_the_keys_of_the_contract():
    stats = hurray.allocator_stats()
    regimes = {"small", "middle", "large"}
    assert set(stats) == {"bytes_in_use", "bytes_cached", "mappings"} | regimes
    for name, value in stats.items():
        if name in regimes:
            assert set(value) == {"hits", "misses"}
            assert all(type(count) is int and count >= 0 for count in value.values())
        else:
            assert type(value) is int
            assert value >= 0


@pytest.mark.parametrize(
    ("size", "regime"), [(100, "small"), (100_000, "middle"), (5_000_000, "large")]
)
def test_stats_count_arrays_and_tensors(size, regime):
    for make in (
        lambda: with_block(np.empty, size, np.uint8),
        lambda: hurray.empty([size], dtype=hurray.uint8),
    ):
        before = hurray.allocator_stats()
        made = make()
        after = hurray.allocator_stats()
        assert sum(after[regime].values()) > sum(before[regime].values())
        assert after["bytes_in_use"] >= before["bytes_in_use"] + size
        del made
        assert hurray.allocator_stats()["bytes_in_use"] <= before["bytes_in_use"]


def test_trimming_gives_back_what_is_kept():
    hurray.trim_allocator()
    with hurray.aligned_allocator():
        array = np.ones(2_000_000)
        del array
    assert hurray.allocator_stats()["bytes_cached"] >= 16_000_000
    mappings = hurray.allocator_stats()["mappings"]
    assert hurray.trim_allocator() is None
    assert hurray.allocator_stats()["bytes_cached"] < 2_000_000
    assert hurray.allocator_stats()["mappings"] < mappings


def test_large_memory_is_used_again():
    hurray.trim_allocator()
    with hurray.aligned_allocator():
        first = address_of(np.ones(1_000_000))
        hits = hurray.allocator_stats()["large"]["hits"]
        second = address_of(np.ones(1_000_000))
    assert second == first
    assert hurray.allocator_stats()["large"]["hits"] == hits + 1


@functools.cache
def environment_report(variable, value):
    program = f"""
    import os
    os.environ[{variable!r}] = {value!r}
    import numpy as np, hurray

    with hurray.aligned_allocator():
        for size in (10, 1000, 50_000, 4 << 20, 20 << 20):
            for _ in range(2):
                array = np.zeros(size, np.uint8)
                assert array.ctypes.data % 64 == 0 and not array.any()
                array[...] = 1
                array.resize(2 * size, refcheck=False)
                array.resize(size // 2, refcheck=False)
                assert array.all()
                del array
        array = np.ones(64 << 20, np.uint8)
        with open("/proc/self/smaps") as file:
            huge = any(line.startswith("VmFlags") and " hg" in line for line in file)
    del array
    print(hurray.allocator_stats()["bytes_cached"] >= 1 << 20, huge)
    """
    return run_python(program).split()


def test_the_cache_can_be_switched_off():
    assert environment_report("HURRAY_ALLOCATOR_CACHE_BYTES", "0")[0] == "False"
    assert environment_report("HURRAY_ALLOCATOR_CACHE_BYTES", "100000000")[0] == "True"


@pytest.mark.skipif(sys.platform != "linux", reason="there are no huge pages")
def test_huge_pages_can_be_switched_off():
    assert environment_report("HURRAY_ALLOCATOR_HUGE_PAGES", "1")[1] == "True"
    assert environment_report("HURRAY_ALLOCATOR_HUGE_PAGES", "0")[1] == "False"


def test_the_portable_way_works_too():
    assert environment_report("HURRAY_ALLOCATOR_PORTABLE", "1")[1] == "False"
