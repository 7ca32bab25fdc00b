"""Hand-made inputs, each with a line on what it attacks. All else in them is in order."""

from dataclasses import dataclass

import pytest
from features import needs

ACCEPTED = "accepted"


@dataclass(frozen=True)
class Input:
    """`verdicts` are the exception classes of which one is right, or ACCEPTED."""

    name: str
    attacks: str
    data: bytes
    verdicts: tuple
    # Names of the API without which the input cannot be judged.
    needs: tuple = ()

    @property
    def param(self):
        return pytest.param(self, id=self.name, marks=[needs(*self.needs)])
