"""What a benchmark is: one piece of work, and the parties that do it."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Party:
    """Somebody who does the work, in a process of its own.

    `statement` is run in a timing loop after `setup`. With `times_itself` it is an expression
    instead: the nanoseconds that one round took.
    """

    name: str
    setup: str
    statement: str
    times_itself: bool = False

    @property
    def in_peer_environment(self):
        return self.name not in ("hurray", "numpy", "limit", "torch", "tvm-ffi")


@dataclass(frozen=True)
class Case:
    """`goals` maps a party to two ratios of our time to its own: what must be, what is aimed at."""

    id: str
    what: str
    parties: tuple
    goals: dict = field(default_factory=dict)

    @property
    def ours(self):
        return next(party for party in self.parties if party.name == "hurray")
