"""No memory map of a file can be made for a while, as when `vm.max_map_count` is reached; then they can again."""
import errno
import random

import inject

ROUNDS = 10


def faults(options):
    """From the n-th map on, all fail until the fault is over."""
    rng = random.Random(options.seed)
    while True:
        nth = rng.randrange(1, 30)
        yield {"calls": ["mmap"], "errno": errno.ENOMEM, "nth": nth, "count": 1 << 40, "name": f"mmap ENOMEM from {nth} on"}


def run(options, findings):
    return inject.run(options, findings, faults(options))
