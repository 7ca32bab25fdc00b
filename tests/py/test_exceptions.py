import builtins

import pytest

import hurray

BASES = {
    "InvalidDescriptorError": (ValueError,),
    "BufferError": (ValueError,),
    "CopyRequiredError": (hurray.BufferError, hurray.UnsupportedError),
    "UnsupportedError": (NotImplementedError,),
    "InternalError": (RuntimeError,),
    "FileError": (OSError,),
    "StreamError": (OSError,),
}


@pytest.fixture(params=BASES)
def error(request):
    return getattr(hurray, request.param)


@pytest.mark.parametrize(("name", "bases"), BASES.items(), ids=BASES.keys())
def test_each_exception_has_its_bases(name, bases):
    assert getattr(hurray, name).__bases__ == bases


def test_exceptions_belong_to_the_package(error):
    assert error.__module__ == "hurray"
    assert repr(error) == f"<class 'hurray.{error.__name__}'>"


def test_exceptions_are_documented(error):
    assert error.__doc__


def test_exceptions_take_one_message(error):
    with pytest.raises(error) as caught:
        raise error("what went wrong")
    assert str(caught.value) == "what went wrong"
    assert caught.value.args == ("what went wrong",)


def test_exceptions_can_be_subclassed(error):
    subclass = type("Special", (error,), {})
    with pytest.raises(error):
        raise subclass("what went wrong")


def test_buffer_error_is_not_the_builtin():
    assert hurray.BufferError is not builtins.BufferError
    assert not issubclass(hurray.BufferError, builtins.BufferError)
    assert not issubclass(builtins.BufferError, hurray.BufferError)


@pytest.mark.parametrize(
    "caught_as",
    [
        hurray.CopyRequiredError,
        hurray.BufferError,
        hurray.UnsupportedError,
        ValueError,
        NotImplementedError,
        RuntimeError,
    ],
)
def test_copy_required_error_is_caught_as(caught_as):
    with pytest.raises(caught_as):
        raise hurray.CopyRequiredError("a copy is needed")


def test_copy_required_error_resolves_in_the_documented_order():
    assert hurray.CopyRequiredError.__mro__ == (
        hurray.CopyRequiredError,
        hurray.BufferError,
        ValueError,
        hurray.UnsupportedError,
        NotImplementedError,
        RuntimeError,
        Exception,
        BaseException,
        object,
    )


@pytest.mark.parametrize("error", [hurray.FileError, hurray.StreamError], ids=lambda e: e.__name__)
def test_os_errors_take_an_error_number(error):
    failure = error(2, "No such file", "gone.hrry")
    assert (failure.errno, failure.strerror, failure.filename) == (
        2,
        "No such file",
        "gone.hrry",
    )
