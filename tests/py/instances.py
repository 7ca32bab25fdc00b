"""What every type is tested for: nothing leaks, threads may share it, copies are equal."""

import copy
import gc
import pickle
import sys
import threading


def references_left(cls, make, count=1000):
    """How many more references to `cls` there are after `count` instances came and went.

    Call it outside an assert: pytest's rewriting holds references of its own.
    """
    make()
    gc.collect()
    before = sys.getrefcount(cls)
    for _ in range(count):
        make()
    gc.collect()
    return sys.getrefcount(cls) - before


def in_threads(work, threads=8, rounds=100):
    """Runs `work` again and again in many threads that start together; raises what one raised."""
    start = threading.Barrier(threads)
    failures = []

    def run():
        try:
            start.wait()
            for _ in range(rounds):
                work()
        except BaseException as error:
            failures.append(error)

    workers = [threading.Thread(target=run) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if failures:
        raise failures[0]


def copies(value):
    """The value as copying and each protocol of pickling give it back."""
    yield copy.copy(value)
    yield copy.deepcopy(value)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        yield pickle.loads(pickle.dumps(value, protocol))
