"""Makes the n-th call of each kind fail while the server starts, for every n: it refuses with a reason or recovers, and deletes nothing."""
import errno
import random
import shutil
import time

from crew import Crew, Place
from inject import ERRORS, READS, WRITES, start_under_injector
from actors import Churn, Documents, Rolls, Streams, Swaps
from changes import Rules
from server import Broken, Server, StartRefused

ROUNDS = 120
# A start makes fewer calls of one kind than this.
NTH_MAX = 400


def run(options, findings):
    place = Place(options, "startup")
    try:
        data = place.fresh()
        crew = prepare(options, findings, place, data)
        pristine = place.root / "pristine"
        shutil.copytree(data, pristine)
        for number, (call, error, nth) in zip(range(options.rounds), faults(options, place, data, findings)):
            if options.is_over() or (len(findings) and not options.keep_going):
                break
            findings.context = f"round {number} seed {options.seed} start {call} {error} nth={nth}"
            before = len(findings)
            one_start(options, findings, place, data, crew, call, error, nth)
            findings.count("rounds")
            if len(findings) > before:
                place.keep_copy(data)
                shutil.rmtree(data)
                shutil.copytree(pristine, data)
    finally:
        place.close()


def prepare(options, findings, place, data):
    """A data folder with some of everything, whose server was killed."""
    actors = [*Documents.several(findings, 1), Swaps(findings), Rolls(findings), Streams(findings), Churn(findings), Rules(findings)]
    crew = Crew(findings, options.seed, actors=actors)
    findings.context = "preparation"
    server = Server(options.binary, data)
    try:
        crew.prepare(server)
        crew.start(server, "preparation")
        time.sleep(1.5)
        server.kill()
        crew.stop()
        server = Server(options.binary, data)
        crew.check(server)
    finally:
        server.kill()
    return crew


def faults(options, place, data, findings):
    """Every call of a start that succeeds, counted first, with each error; in an order that the seed decides."""
    all_faults = []
    for call in READS + WRITES:
        server, control = start_under_injector(options, place, data, counting(call, data))
        seen = control.status()["seen"]
        control.close()
        server.kill()
        findings.count("calls of a start", seen)
        for error in ERRORS.get(call, ("EIO",)):
            all_faults += [(call, error, nth) for nth in range(1, min(seen, NTH_MAX) + 1) if options.only in f"{call}/{error}"]
    random.Random(options.seed).shuffle(all_faults)
    return all_faults


def counting(call, data):
    return {"calls": [call], "errno": 0, "nth": 1 << 40, "path": str(data)}


def one_start(options, findings, place, data, crew, call, error, nth):
    fault = {"calls": [call], "errno": getattr(errno, error), "nth": nth, "count": 1, "path": str(data)}
    server, control = start_under_injector(options, place, data, fault, wait=False)
    try:
        try:
            server.wait_until_it_listens()
            findings.context += "".join(f" at {path.removeprefix(str(data))}" for _, path in control.disarm()["fired"])
        except StartRefused as refused:
            findings.count("starts refused")
            if not str(refused):
                findings.add("dead", "the start was refused without a word")
        else:
            findings.count("starts in spite of the fault")
            crew.check(server, settle=False, seconds=15)
    except (Broken, OSError) as broken:
        findings.add("dead", f"{broken!r}; log: {server.log_tail()}")
    finally:
        control.close()
        server.kill()
    try:
        server = Server(options.binary, data)
        crew.check(server)
    except StartRefused as refused:
        findings.add("dead", f"the start after the fault is refused: {refused}")
    finally:
        server.kill()
