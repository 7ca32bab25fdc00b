"""Hand-made inputs, each with a line on what it attacks. All else in them is in order."""

from dataclasses import dataclass

import pytest

ACCEPTED = "accepted"


@dataclass(frozen=True)
class Input:
    """`verdicts` are the exception classes of which one is right, or ACCEPTED."""

    name: str
    attacks: str
    data: bytes
    verdicts: tuple

    @property
    def param(self):
        return pytest.param(self, id=self.name)
