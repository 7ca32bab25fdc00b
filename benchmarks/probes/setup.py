"""Builds hurray_probes; benchmarks/probes/__init__.py calls it."""

import numpy
from setuptools import Extension, setup

setup(
    name="hurray_probes",
    ext_modules=[
        Extension(
            "hurray_probes",
            ["hurray_probes.c"],
            include_dirs=[numpy.get_include()],
            extra_compile_args=["-O3"],
        )
    ],
)
