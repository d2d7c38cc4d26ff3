"""Makes file system calls fail one by one while clients work: nothing acknowledged is lost, the node lives, and it writes again by itself."""
import errno
import itertools
import random
import sys
import time

import injector
from actors import Churn, Documents, Rolls, Streams, Swaps
from changes import Durability, Rules
from crew import Crew, Place
from server import Broken, Server, StartRefused, check_offline

ROUNDS = 60

WRITES = ("openat", "write", "pwrite64", "fsync", "fdatasync", "rename", "unlink", "unlinkat", "ftruncate", "mkdir")
READS = ("mmap", "statx", "pread64", "read", "getdents64", "newfstatat")
ERRORS = {
    "openat": ("EIO", "ENOSPC", "EMFILE", "ENOMEM"), "write": ("EIO", "ENOSPC"), "pwrite64": ("EIO", "ENOSPC"),
    "fsync": ("EIO", "ENOSPC"), "fdatasync": ("EIO", "ENOSPC"), "rename": ("EIO", "ENOSPC"), "mkdir": ("EIO", "ENOSPC"),
    "mmap": ("ENOMEM", "EIO"), "statx": ("EIO", "ENOMEM"), "getdents64": ("EIO", "ENOMEM"),
}
# Calls of one kind that fail in a run: one alone, a few, and all for a while.
COUNTS = (1, 3, 1000)
NTH_MAX = 24
# A fault has fired by then, or the calls that the clients cause are too few.
FIRE_SECONDS_MAX = 0.6
# Everyone has to succeed again within this time after the fault is over.
RECOVER_SECONDS_MAX = 15
CHECKS_BETWEEN_RESTARTS = 6


def sweep(options):
    """All faults in an order that the seed decides; every call and error comes before any comes again."""
    rng = random.Random(options.seed)
    pairs = [(call, error) for call in WRITES + READS for error in ERRORS.get(call, ("EIO",))]
    pairs = [pair for pair in pairs if options.only in "/".join(pair)]
    for turn in itertools.count():
        rng.shuffle(pairs)
        for call, error in pairs:
            nth = turn + 1 if turn < NTH_MAX else rng.randrange(1, 200)
            yield {"calls": [call], "errno": getattr(errno, error), "nth": nth, "count": COUNTS[turn % len(COUNTS)],
                   "name": f"{call} {error} nth={nth} count={COUNTS[turn % len(COUNTS)]}"}


class Bench:
    """A server under the injector over one data folder, with its crew."""

    def __init__(self, options, findings, place):
        self.options, self.findings, self.place = options, findings, place
        self.data = place.fresh()
        actors = [*Documents.several(findings, 2), Swaps(findings), Rolls(findings), Streams(findings),
                  Churn(findings), Rules(findings), Durability(findings)]
        self.crew = Crew(findings, options.seed, actors=actors)
        self.start()
        self.crew.prepare(self.server)

    def start(self, fault=None):
        self.server, self.control = start_under_injector(self.options, self.place, self.data, fault)

    def kill(self):
        self.control.close()
        self.server.kill()

    def restart(self):
        self.kill()
        self.findings.count("restarts")
        check_offline(self.options.binary, self.data, self.findings)
        self.start()
        return self.crew.check(self.server)

    def fault(self, fault, part):
        """One fault while everyone works; whether it fired."""
        self.control.arm({**fault, "path": str(self.data)})
        self.crew.start(self.server, part, strict=False)
        deadline = time.monotonic() + FIRE_SECONDS_MAX
        while not (status := self.control.status())["fired"] and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.15)
        fired = self.control.disarm()["fired"] or status["fired"]
        self.findings.context += f" at {fired[0][1].removeprefix(str(self.data))}" if fired else ""
        self.crew.recover(self.server, RECOVER_SECONDS_MAX)
        self.crew.stop()
        return bool(fired)


def start_under_injector(options, place, data, fault, wait=True):
    path = place.root / f"control{time.monotonic_ns()}"
    launcher = [sys.executable, injector.__file__, str(path), injector.json.dumps(fault)]
    server = Server(options.binary, data, launcher=launcher, wait=wait)
    return server, injector.Control(path)


def run(options, findings, faults=None):
    place = Place(options, "inject")
    bench = None
    since_restart = 0
    try:
        for number, fault in zip(range(options.rounds), faults or sweep(options)):
            if options.is_over() or (len(findings) and not options.keep_going):
                break
            findings.context = f"round {number} seed {options.seed} {fault['name']}"
            before = len(findings)
            try:
                if bench is None:
                    bench, since_restart = Bench(options, findings, place), 0
                findings.count("faults" if bench.fault(fault, number) else "faults not reached")
                one_check(bench, findings, since_restart)
                since_restart = (since_restart + 1) % CHECKS_BETWEEN_RESTARTS
            except (StartRefused, Broken, OSError) as error:
                findings.add("dead", f"{error}")
            findings.count("rounds")
            if len(findings) > before and bench:
                bench.crew.stop()
                bench.kill()
                place.keep_copy(bench.data)
                place.remove(bench.data)
                bench = None
        if bench:
            findings.context = "at the end"
            bench.restart()
    finally:
        if bench:
            bench.kill()
        place.close()


def one_check(bench, findings, since_restart):
    if not bench.server.is_alive():
        findings.add("dead", f"the server ended: {bench.server.log_tail()}")
    elif since_restart == CHECKS_BETWEEN_RESTARTS - 1:
        bench.restart()
    else:
        bench.crew.check(bench.server, settle=False)
