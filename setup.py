"""Builds hurray: writes a Ninja build for one flavour and lets Ninja run it.

    pip install .                     the package
    python setup.py build_cpp_tests   the GoogleTest binary; needs no Python headers and no NumPy
    python setup.py build_fuzzers     a libFuzzer binary for each tests/cpp/fuzz/*_fuzzer.cc (Clang)
    python setup.py check_syntax      all but the tests through the compiler's front end only

The two that make programs print their paths, one a line, after everything else.
The environment chooses:

    HURRAY_DEBUG=1        no optimization, debug information, assertions
    HURRAY_SANITIZE=LIST  "address,undefined" or "thread"
    HURRAY_COVERAGE=1     counters for gcov
    HURRAY_WERROR=1       warnings are errors (for CI; never for people who install)
    CXX CXXFLAGS LDFLAGS  as usual; ccache is put in front of the compiler where it is installed

What is built lands in build/native/<flavour>/, and what depends on a Python in a folder of its own
below that, so another flavour or another Python never rebuilds what it can share.
"""

import contextlib
import fcntl
import filecmp
import importlib.metadata
import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from setuptools import Command, Extension, find_packages, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

# Relative, and Ninja runs in this folder: nothing that is built contains the path of the checkout,
# and ccache finds its results again when the same sources are built elsewhere, as from an sdist.
BUILD = Path("build")
CSRC = Path("csrc")
CPP_TESTS = Path("tests/cpp")
FUZZERS = CPP_TESTS / "fuzz"
EXPORTS = CSRC / "python" / "exports.map"
C_HEADER = CSRC / "include" / "hurray" / "hurray.h"

# In the order a linker wants them: each uses only those that follow.
LIBRARY_FOLDERS = (CSRC / "io", CSRC / "storage", CSRC / "core")

WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow"]
COMPILE_FLAGS = [
    "-std=c++20",
    "-fPIC",
    "-fvisibility=hidden",
    "-pthread",
    *WARNINGS,
    f"-I{CSRC}",
    f"-I{CSRC / 'include'}",
]
LINK_FLAGS = ["-pthread"]
GOOGLETEST_LIBRARIES = ["-lgmock", "-lgtest", "-lgtest_main"]


def switched_on(variable):
    return os.environ.get(variable, "") not in ("", "0")


def environment_words(variable):
    return shlex.split(os.environ.get(variable, ""))


# ---- flavours


@dataclass(frozen=True)
class Flavour:
    """One way to compile everything, and the folder for what comes of it."""

    name: str
    compiler: list
    compile_flags: list
    link_flags: list

    @classmethod
    def from_environment(cls):
        sanitizers = [s for s in os.environ.get("HURRAY_SANITIZE", "").split(",") if s]
        if sanitizers:
            flavour = cls.with_sanitizers("-".join(sanitizers), default_compiler(), sanitizers)
        elif switched_on("HURRAY_DEBUG"):
            flags = ["-O0", "-g", "-D_GLIBCXX_ASSERTIONS"]
            flavour = cls("debug", default_compiler(), flags, [])
        else:
            flags = ["-O3", "-DNDEBUG"]
            flavour = cls(
                "release", default_compiler(), flags, ["-Wl,--strip-all", "-static-libstdc++"]
            )
        if switched_on("HURRAY_COVERAGE"):
            flavour = flavour.plus("coverage", ["--coverage"], ["--coverage"])
        if switched_on("HURRAY_WERROR"):
            flavour = flavour.plus("werror", ["-Werror"], [])
        return flavour.with_environment_flags()

    @classmethod
    def for_fuzzing(cls):
        sanitizers = ["fuzzer-no-link", "address", "undefined"]
        flavour = cls.with_sanitizers("fuzz", ["clang++"], sanitizers)
        return flavour.with_environment_flags()

    @classmethod
    def with_sanitizers(cls, name, compiler, sanitizers):
        flag = "-fsanitize=" + ",".join(sanitizers)
        flags = ["-O1", "-g1", "-fno-omit-frame-pointer", "-D_GLIBCXX_ASSERTIONS", flag]
        if "undefined" in sanitizers:
            # Without it a finding is a line on stderr, and the test that made it still passes.
            flags.append("-fno-sanitize-recover=undefined")
        return cls(name, compiler, flags, [flag])

    def plus(self, name, compile_flags, link_flags):
        return replace(
            self,
            name=f"{self.name}-{name}",
            compile_flags=[*self.compile_flags, *compile_flags],
            link_flags=[*self.link_flags, *link_flags],
        )

    def with_environment_flags(self):
        compiler = environment_words("CXX")
        programs = [Path(word).name for word in compiler if not word.startswith("-")]
        return replace(
            self,
            name="-".join([self.name, *programs]),
            compiler=compiler or self.compiler,
            compile_flags=[*COMPILE_FLAGS, *self.compile_flags, *environment_words("CXXFLAGS")],
            link_flags=[*LINK_FLAGS, *self.link_flags, *environment_words("LDFLAGS")],
        )

    @property
    def folder(self):
        return BUILD / "native" / self.name


def default_compiler():
    for name in ("g++", "c++", "clang++"):
        if shutil.which(name):
            return [name]
    sys.exit("hurray is built by a C++20 compiler (GCC 11, Clang 14 or newer), and none was found")


# ---- headers that come as packages


def python_include_flags():
    """Python, NumPy and DLPack, as system headers: their warnings are not ours to mend."""
    folders = dict.fromkeys(sysconfig.get_path(name) for name in ("include", "platinclude"))
    return [f"-isystem{folder}" for folder in [*folders, numpy_headers(), dlpack_headers()]]


def numpy_headers():
    import numpy

    # Headers of NumPy 1 would compile, into an extension that NumPy 2 cannot load.
    if int(numpy.__version__.split(".")[0]) < 2:
        sys.exit(f"hurray is built with the headers of NumPy 2 or newer, not {numpy.__version__}")
    return steady_copy("numpy", numpy.__version__, Path(numpy.get_include()), "numpy/**/*.h")


def dlpack_headers():
    # The package's own answer, but from the one file that gives it: the whole of tvm_ffi would load
    # PyTorch as well, and take seconds.
    package = importlib.util.find_spec("tvm_ffi")
    if package is None:
        sys.exit("hurray is built with dlpack.h from apache-tvm-ffi, which is not installed")
    file = Path(package.submodule_search_locations[0]) / "libinfo.py"
    spec = importlib.util.spec_from_file_location("tvm_ffi_libinfo", file)
    libinfo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(libinfo)
    version = importlib.metadata.version("apache-tvm-ffi")
    return steady_copy("dlpack", version, Path(libinfo.find_dlpack_include_path()), "dlpack/*.h")


def steady_copy(name, version, source, pattern):
    """Copies headers to a path that stays: each isolated build has them in a new temporary folder.

    The version in the path makes Ninja rebuild when it changes, because compilers leave system
    headers out of what they report as dependencies.
    """
    target = BUILD / "headers" / f"{name}-{version}"
    for header in source.glob(pattern):
        copy = target / header.relative_to(source)
        if not copy.exists() or not filecmp.cmp(header, copy, shallow=False):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(header, copy)
    return target


# ---- the Ninja file


def ninja_escape(text):
    return text.replace("$", "$$").replace(" ", "$ ").replace(":", "$:")


class NinjaFile:
    """The build of one flavour. Its methods add targets and return the paths of what they make."""

    def __init__(self, flavour):
        self.flavour = flavour
        self.compile_commands = []
        compiler = self.command_line(flavour.compiler)
        has_cache = shutil.which("ccache") and "ccache" not in compiler
        self.lines = [
            "ninja_required_version = 1.8",
            f"builddir = {ninja_escape(str(flavour.folder))}",
            f"cxx = {compiler}",
            f"cached_cxx = {'ccache ' if has_cache else ''}{compiler}",
            f"ar = {self.command_line(environment_words('AR') or ['ar'])}",
            # The dependencies stay in files beside the objects. In Ninja's own log they would last
            # only while its file names the object, and a build for another Python writes another.
            "rule compile",
            "  command = $cached_cxx -MMD -MF $out.d $flags -c $in -o $out",
            "  depfile = $out.d",
            "  description = compile $in",
            "rule check",
            "  command = $cxx -MMD -MT $out -MF $out.d $flags -fsyntax-only $in && touch $out",
            "  depfile = $out.d",
            "  description = check $in",
            # A fresh archive: `ar` would keep the objects of sources that are gone.
            "rule archive",
            "  command = rm -f $out && $ar crs $out $in",
            "  description = archive $out",
            "rule link",
            "  command = $cxx -o $out $in $flags",
            "  description = link $out",
        ]

    @staticmethod
    def command_line(words):
        return " ".join(shlex.quote(str(word)) for word in words).replace("$", "$$")

    def add(self, rule, output, inputs, flags=(), needs=()):
        line = f"build {ninja_escape(str(output))}: {rule} " + " ".join(
            ninja_escape(str(i)) for i in inputs
        )
        if needs:
            line += " | " + " ".join(ninja_escape(str(n)) for n in needs)
        self.lines.append(line)
        if flags:
            self.lines.append(f"  flags = {self.command_line(flags)}")
        return output

    def compile(self, sources, folder, flags):
        for source in sources:
            command = self.command_line([*self.flavour.compiler, *flags, "-c", source])
            entry = {"directory": os.getcwd(), "file": str(source), "command": command}
            self.compile_commands.append(entry)
        return [self.add("compile", folder / f"{source}.o", [source], flags) for source in sources]

    def check(self, sources, flags):
        folder = self.flavour.folder / "checked"
        return [self.add("check", folder / f"{source}.ok", [source], flags) for source in sources]

    def add_libraries(self):
        return [
            self.add(
                "archive",
                self.flavour.folder / f"libhurray_{folder.name}.a",
                self.compile(sources_in(folder), self.flavour.folder, self.flavour.compile_flags),
            )
            for folder in LIBRARY_FOLDERS
        ]

    def add_extension(self, libraries, version):
        folder = self.flavour.folder / sysconfig.get_config_var("SOABI")
        objects = self.compile(sources_in(CSRC / "python"), folder, self.python_flags(version))
        flags = ["-shared", f"-Wl,--version-script={EXPORTS}", *self.flavour.link_flags]
        return self.add("link", folder / "_core.so", [*objects, *libraries], flags, needs=[EXPORTS])

    def add_cpp_tests(self, libraries):
        objects = self.compile(cpp_test_sources(), self.flavour.folder, self.cpp_test_flags())
        flags = [*GOOGLETEST_LIBRARIES, *self.flavour.link_flags]
        return self.add("link", self.flavour.folder / "hurray_tests", [*objects, *libraries], flags)

    def add_fuzzers(self, libraries):
        flags = [*self.flavour.link_flags, "-fsanitize=fuzzer"]
        return [
            self.add(
                "link",
                self.flavour.folder / source.stem,
                [
                    *self.compile([source], self.flavour.folder, self.flavour.compile_flags),
                    *libraries,
                ],
                flags,
            )
            for source in fuzzer_sources()
        ]

    def add_checks(self, version):
        without_python = [*sources_in(*LIBRARY_FOLDERS), *fuzzer_sources()]
        checked = self.check(without_python, self.flavour.compile_flags)
        checked += self.check(sources_in(CSRC / "python"), self.python_flags(version))
        if C_HEADER.exists():
            # What other people's C compilers read, in the language that we promise them.
            checked += self.check(
                [C_HEADER],
                ["-x", "c", "-std=c99", "-pedantic-errors", *WARNINGS, "-Wno-unused-function"],
            )
        return checked

    def python_flags(self, version):
        return [
            *self.flavour.compile_flags,
            # CPython's tables of members ask for offsets in structs that hold C++ values; both
            # compilers know them, the standard leaves that to them.
            "-Wno-invalid-offsetof",
            # Calls of CPython, of which the quick functions have many, without a stop on the way.
            "-fno-plt",
            "-fno-semantic-interposition",
            f'-DHURRAY_VERSION="{version}"',
            *python_include_flags(),
        ]

    def cpp_test_flags(self):
        # GoogleTest's templates take long to optimize, and nothing is gained by it.
        return [*self.flavour.compile_flags, "-O0", f"-I{CPP_TESTS}"]

    def build(self, targets):
        """Makes the targets. Ninja prints to stderr, which leaves stdout to a command's result."""
        import ninja

        self.flavour.folder.mkdir(parents=True, exist_ok=True)
        file = self.flavour.folder / "build.ninja"
        file.write_text("\n".join(self.lines) + "\n")
        command = [os.path.join(ninja.BIN_DIR, "ninja"), "-f", str(file)]
        jobs = len(os.sched_getaffinity(0))
        done = subprocess.run([*command, "-j", str(jobs), *map(str, targets)], stdout=sys.stderr)
        if done.returncode != 0:
            sys.exit(f"the build in {self.flavour.folder} failed")

    def write_compile_commands(self):
        """For editors; clangd looks into the folder `build` by itself."""
        text = json.dumps(self.compile_commands, indent=1)
        (BUILD / "compile_commands.json").write_text(text + "\n")


def sources_in(*folders):
    return [source for folder in folders for source in sorted(folder.glob("**/*.cc"))]


def cpp_test_sources():
    return [source for source in sources_in(CPP_TESTS) if FUZZERS not in source.parents]


def fuzzer_sources():
    return sorted(FUZZERS.glob("*_fuzzer.cc"))


# ---- commands


class BuildPy(build_py):
    """Copies the Python files into an emptied folder: no deleted module lives on in a wheel."""

    def run(self):
        if not self.editable_mode:
            shutil.rmtree(os.path.join(self.build_lib, "hurray"), ignore_errors=True)
        super().run()


class BuildExt(build_ext):
    """Lets Ninja make the extension, then puts it and the C header where setuptools wants them."""

    def run(self):
        ninja_file = NinjaFile(Flavour.from_environment())
        libraries = ninja_file.add_libraries()
        extension = ninja_file.add_extension(libraries, self.distribution.get_version())
        ninja_file.add_cpp_tests(libraries)
        ninja_file.write_compile_commands()
        ninja_file.build([extension])
        for module in self.extensions:
            target = Path(self.get_ext_fullpath(module.name))
            self.install(extension, target)
            if C_HEADER.exists():
                self.install(C_HEADER, target.parent / C_HEADER.relative_to(CSRC))

    @staticmethod
    def install(source, target):
        # Not self.copy_file: it leaves a newer target alone, such as another flavour's extension.
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        shutil.copy(source, target)


class NinjaCommand(Command):
    user_options: ClassVar = []

    def initialize_options(self):
        pass

    def finalize_options(self):
        pass


class BuildCppTests(NinjaCommand):
    description = "build the GoogleTest binary and print its path"

    def run(self):
        ninja_file = NinjaFile(Flavour.from_environment())
        binary = ninja_file.add_cpp_tests(ninja_file.add_libraries())
        ninja_file.build([binary])
        print(binary.resolve())


class BuildFuzzers(NinjaCommand):
    description = "build the libFuzzer binaries and print their paths"

    def run(self):
        ninja_file = NinjaFile(Flavour.for_fuzzing())
        binaries = ninja_file.add_fuzzers(ninja_file.add_libraries())
        ninja_file.build(binaries)
        print(*(binary.resolve() for binary in binaries), sep="\n")


class CheckSyntax(NinjaCommand):
    description = "run every source but the tests through the compiler's front end"

    def run(self):
        ninja_file = NinjaFile(Flavour.from_environment())
        ninja_file.build(ninja_file.add_checks(self.distribution.get_version()))


@contextlib.contextmanager
def turn():
    """Lets one build at a time into this folder: two would write the same files, setuptools too."""
    BUILD.mkdir(exist_ok=True)
    with open(BUILD / "lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("waiting for another build in this folder", file=sys.stderr)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


with turn():
    setup(
        packages=find_packages(include=["hurray", "hurray.*"]),
        # Named, and not what MANIFEST.in happens to list: that is for the sdist.
        package_data={"hurray": ["*.pyi", "py.typed"]},
        include_package_data=False,
        # No sources: setuptools learns the name and so the wheel's tag, and Ninja does the rest.
        ext_modules=[Extension("hurray._core", sources=[])],
        cmdclass={
            "build_py": BuildPy,
            "build_ext": BuildExt,
            "build_cpp_tests": BuildCppTests,
            "build_fuzzers": BuildFuzzers,
            "check_syntax": CheckSyntax,
        },
    )
