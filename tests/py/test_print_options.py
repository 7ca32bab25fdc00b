import asyncio
import contextvars
import gc
import sys
import threading

import pytest

import hurray

METADATA = {"sparse_display": "metadata"}
CONTENT = {"sparse_display": "content"}


@pytest.fixture(autouse=True)
def the_default():
    with hurray.print_options(sparse_display="metadata"):
        yield


def test_metadata_is_the_default():
    assert contextvars.Context().run(hurray.get_print_options) == METADATA


def test_setting_changes_what_is_read():
    assert hurray.set_print_options(sparse_display="content") is None
    assert hurray.get_print_options() == CONTENT
    hurray.set_print_options(sparse_display="metadata")
    assert hurray.get_print_options() == METADATA


def test_each_reading_is_a_dict_of_its_own():
    hurray.get_print_options()["sparse_display"] = "content"
    assert hurray.get_print_options() == METADATA


@pytest.mark.parametrize("arguments", [{}, {"sparse_display": None}], ids=str)
def test_none_leaves_the_option_as_it_is(arguments):
    hurray.set_print_options(sparse_display="content")
    assert hurray.set_print_options(**arguments) is None
    with hurray.print_options(**arguments):
        assert hurray.get_print_options() == CONTENT
    assert hurray.get_print_options() == CONTENT


def test_with_applies_and_restores():
    with hurray.print_options(sparse_display="content") as entered:
        assert entered is None
        assert hurray.get_print_options() == CONTENT
    assert hurray.get_print_options() == METADATA


def test_with_restores_after_an_exception_and_lets_it_pass():
    def fail():
        with hurray.print_options(sparse_display="content"):
            raise KeyError("passes through")

    with pytest.raises(KeyError, match="passes through"):
        fail()
    assert hurray.get_print_options() == METADATA


def test_with_restores_what_was_set_before_not_the_default():
    hurray.set_print_options(sparse_display="content")
    with hurray.print_options(sparse_display="metadata"):
        hurray.set_print_options(sparse_display="content")
    assert hurray.get_print_options() == CONTENT


def test_with_none_restores_what_was_set_inside():
    with hurray.print_options():
        hurray.set_print_options(sparse_display="content")
    assert hurray.get_print_options() == METADATA


def test_blocks_nest():
    with hurray.print_options(sparse_display="content"):
        with hurray.print_options(sparse_display="metadata"):
            assert hurray.get_print_options() == METADATA
        assert hurray.get_print_options() == CONTENT


def test_one_object_serves_again_but_not_inside_itself():
    block = hurray.print_options(sparse_display="content")
    for _ in range(2):
        with block:
            with pytest.raises(RuntimeError, match="already active"):
                block.__enter__()
            assert hurray.get_print_options() == CONTENT
        assert hurray.get_print_options() == METADATA


def test_exit_without_enter_is_a_runtime_error():
    with pytest.raises(RuntimeError):
        hurray.print_options().__exit__(None, None, None)


def test_exit_in_another_context_is_refused_and_the_owner_can_still_leave():
    block = hurray.print_options(sparse_display="content")
    owner = contextvars.copy_context()
    owner.run(block.__enter__)
    with pytest.raises(RuntimeError, match="another thread or task"):
        block.__exit__(None, None, None)
    assert owner.run(hurray.get_print_options) == CONTENT
    owner.run(block.__exit__, None, None, None)
    assert owner.run(hurray.get_print_options) == METADATA


def test_the_class_can_be_called_itself():
    assert type(hurray.print_options()) is hurray.PrintOptionsCtx
    with hurray.PrintOptionsCtx(sparse_display="content"):
        assert hurray.get_print_options() == CONTENT


@pytest.mark.parametrize("function", ["set_print_options", "print_options", "PrintOptionsCtx"])
@pytest.mark.parametrize(
    ("value", "error"),
    [
        ("contents", ValueError),
        ("", ValueError),
        ("Metadata", ValueError),
        ("metadata\0", ValueError),
        ("\ud800", ValueError),
        (1, TypeError),
        (True, TypeError),
        (b"content", TypeError),
        (["content"], TypeError),
    ],
    ids=repr,
)
def test_other_values_are_refused_at_the_call(function, value, error):
    with pytest.raises(error):
        getattr(hurray, function)(sparse_display=value)
    assert hurray.get_print_options() == METADATA


@pytest.mark.parametrize("function", ["set_print_options", "print_options", "PrintOptionsCtx"])
def test_options_are_keywords(function):
    with pytest.raises(TypeError):
        getattr(hurray, function)("content")
    with pytest.raises(TypeError):
        getattr(hurray, function)(dense_display="content")
    with pytest.raises(TypeError):
        hurray.get_print_options("sparse_display")


def test_threads_have_options_of_their_own():
    hurray.set_print_options(sparse_display="content")
    seen = []
    thread = threading.Thread(target=lambda: seen.append(hurray.get_print_options()))
    thread.start()
    thread.join()
    assert seen == [METADATA]
    assert hurray.get_print_options() == CONTENT


def test_tasks_have_options_of_their_own():
    async def content_for_a_while(entered, leave):
        with hurray.print_options(sparse_display="content"):
            entered.set()
            await leave.wait()
            return hurray.get_print_options()

    async def main():
        entered, leave = asyncio.Event(), asyncio.Event()
        task = asyncio.create_task(content_for_a_while(entered, leave))
        await entered.wait()
        outside = hurray.get_print_options()
        leave.set()
        return outside, await task

    assert asyncio.run(main()) == (METADATA, CONTENT)


def test_the_variable_has_its_public_name():
    hurray.set_print_options(sparse_display="content")
    values = {variable.name: value for variable, value in contextvars.copy_context().items()}
    assert values["hurray.print_options.sparse_display"] == "content"


def test_a_strange_value_of_the_variable_does_no_harm():
    (variable,) = (
        variable
        for variable in contextvars.copy_context()
        if variable.name == "hurray.print_options.sparse_display"
    )
    token = variable.set(7)
    try:
        repr(hurray.Tensor(bytes(4), hurray.float32, [1]))
    finally:
        variable.reset(token)


def test_blocks_are_not_pickled_or_compared_by_value():
    block = hurray.print_options()
    with pytest.raises(TypeError):
        __import__("pickle").dumps(block)
    assert block != hurray.print_options()


def test_a_thousand_blocks_leave_nothing_behind():
    def work():
        for _ in range(1000):
            with hurray.print_options(sparse_display="content"):
                pass

    work()
    gc.collect()
    before = sys.getrefcount(hurray.PrintOptionsCtx)
    work()
    gc.collect()
    after = sys.getrefcount(hurray.PrintOptionsCtx)
    assert after == before
