"""Works for one party: told once what to run, it answers every further line with a timing.

Runs in the party's environment, so it imports nothing but the standard library.
"""

import json
import os
import sys
import timeit

# What is run in loops: so long that the clock is good enough for one, so short that most are over
# before the system gives the processor to somebody else; so many that a round is worth its turn.
LOOP_SECONDS = 0.001
ROUND_SECONDS = 0.02


def report(**answer):
    print(json.dumps(answer), file=answers, flush=True)


def make_round(setup, statement, times_itself, variables):
    """A function that does one round and returns the nanoseconds for one call."""
    if times_itself:
        names = dict(variables)
        exec(setup, names)
        code = compile(statement, "<statement>", "eval")
        eval(code, names)
        return lambda: eval(code, names)
    # Like a function's body, the statement sees locals: no look-up in a dict is timed.
    timer = timeit.Timer(statement, setup, globals=dict(variables))
    timer.timeit(1)
    loops = 1
    while (seconds := timer.timeit(loops)) < LOOP_SECONDS:
        loops = max(loops + 1, int(loops * min(LOOP_SECONDS / max(seconds, 1e-9), 10)))
    repeats = max(int(ROUND_SECONDS / seconds), 1)
    return lambda: min(timer.repeat(repeats, loops)) / loops * 1e9


def main():
    round_ = None
    for line in sys.stdin:
        try:
            if round_ is None:
                round_ = make_round(**json.loads(line))
                report(ready=True)
            else:
                report(nanoseconds=round_())
        except Exception as error:
            report(error=f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    # What the work prints shall not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    main()
