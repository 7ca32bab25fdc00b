"""Every public callable has a docstring with an example, and every example is true."""

import doctest
import inspect

import numpy as np
import pytest

import hurray
from hurray import _core

# Examples may use these without importing them.
GLOBALS = {"hurray": hurray, "np": np}
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

# Special methods whose meaning is Python's own.
SPECIAL_WITH_DOCS = {
    "__array__",
    "__dlpack__",
    "__dlpack_device__",
    "__hurray__",
}


def public_names(module):
    """The names that a module offers to others."""
    return [name for name in dir(module) if not name.startswith("_")]


def members(cls):
    """(name, object with a docstring) of what a class itself defines for users."""
    for name, member in vars(cls).items():
        if name.startswith("_") and name not in SPECIAL_WITH_DOCS:
            continue
        if isinstance(member, (staticmethod, classmethod)):
            member = member.__func__
        yield name, member


def documented():
    """(full name, object) of every public function, class, method and property, each once."""
    seen = {}
    for module in (hurray, _core):
        for name in public_names(module):
            value = getattr(module, name)
            if inspect.ismodule(value) or isinstance(value, (hurray.Dtype, int, str, float)):
                continue
            if id(value) in seen:
                continue
            seen[id(value)] = f"hurray.{name}", value
            if inspect.isclass(value) and not issubclass(value, BaseException):
                for member_name, member in members(value):
                    seen[id(member)] = f"hurray.{name}.{member_name}", member
    return list(seen.values())


DOCUMENTED = documented()
CALLABLES = [
    (name, value)
    for name, value in DOCUMENTED
    if callable(value)
    and not (inspect.isclass(value) and issubclass(value, BaseException))
    and not inspect.isgetsetdescriptor(value)
    and not inspect.ismemberdescriptor(value)
]


def examples_of(name, value):
    return doctest.DocTestParser().get_doctest(
        inspect.getdoc(value) or "", dict(GLOBALS), name, None, None
    )


def ids(rows):
    return [name for name, _ in rows]


@pytest.mark.parametrize(("name", "value"), DOCUMENTED, ids=ids(DOCUMENTED))
def test_everything_public_is_documented(name, value):
    assert (inspect.getdoc(value) or "").strip(), f"{name} has no docstring"


@pytest.mark.parametrize(("name", "value"), CALLABLES, ids=ids(CALLABLES))
def test_every_callable_has_an_example(name, value):
    assert examples_of(name, value).examples, f"{name} has no example"


@pytest.mark.parametrize(("name", "value"), DOCUMENTED, ids=ids(DOCUMENTED))
def test_every_example_is_true(name, value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    test = examples_of(name, value)
    source = "".join(example.source for example in test.examples)
    for package in ("torch", "scipy", "ml_dtypes"):
        if f"import {package}" in source:
            pytest.importorskip(package)
    report = []
    result = doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=report.append)
    assert result.failed == 0, "".join(report)


@pytest.mark.parametrize(("name", "value"), CALLABLES, ids=ids(CALLABLES))
def test_every_callable_shows_its_signature(name, value):
    # inspect reads the first line of the docstring, up to the one with "--".
    assert getattr(value, "__text_signature__", None) or inspect.signature(value)


@pytest.mark.parametrize(("name", "value"), CALLABLES, ids=ids(CALLABLES))
def test_docstrings_fit_the_page(name, value):
    for line in inspect.getdoc(value).splitlines():
        assert len(line) <= 100, line


@pytest.mark.parametrize("module", [hurray, hurray.dtype, hurray.device], ids=lambda m: m.__name__)
def test_modules_are_documented(module):
    assert module.__doc__
