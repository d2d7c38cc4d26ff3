"""A call that the disk takes seconds for, in the folder of one index: clients of another index do not wait."""
import threading
import time

from crew import Place
from inject import start_under_injector
from server import Broken, Client, StartRefused

ROUNDS = 8
DELAY_SECONDS = 3
# What a request on another index may take at most: far less than the delay, far more than it needs on a busy machine.
OTHERS_SECONDS_MAX = 1.5
CALLS = ("rename", "fsync", "fdatasync", "openat")


def run(options, findings):
    place = Place(options, "slow")
    data = place.fresh()
    server, control = start_under_injector(options, place, data, None)
    try:
        client = Client(server, findings)
        for index in ("slow", "other"):
            client.call("PUT", f"/{index}", {"settings": {"number_of_replicas": 0}})
            client.call("PUT", f"/{index}/_doc/1?refresh=true", {"value": 1})
        uuid = client.call("GET", "/slow/_settings")[1]["slow"]["settings"]["index"]["uuid"]
        for round in range(options.rounds):
            call = CALLS[round % len(CALLS)]
            findings.context = f"round {round} seed {options.seed}: {call} of the slow index takes {DELAY_SECONDS} s"
            one_round(findings, server, control, client, {"calls": [call], "nth": 1, "delay": DELAY_SECONDS, "path": uuid}, round)
            findings.count("rounds")
            if options.is_over() or (len(findings) and not options.keep_going):
                break
    except (Broken, StartRefused) as error:
        findings.add("dead", f"{error}")
    finally:
        control.close()
        server.kill()
        place.close()


def one_round(findings, server, control, client, fault, round):
    control.arm(fault)
    # New fields change the mapping; the flush writes and syncs.
    writer = threading.Thread(target=change, args=(server, findings, round))
    writer.start()
    deadline = time.monotonic() + 2
    while not control.status()["fired"] and time.monotonic() < deadline:
        time.sleep(0.005)
    findings.count("slow calls", bool(control.status()["fired"]))
    # It may wait, for mappings are changed one after another; who reads the other index, or writes without a new field, may not.
    waiter = threading.Thread(target=change, args=(server, findings, round, "other", False))
    waiter.start()
    time.sleep(0.1)
    requests = (("POST", "/other/_search", {"query": {"match_all": {}}}), ("GET", "/other/_doc/1", None), ("POST", "/other/_refresh", None),
                ("PUT", f"/other/_doc/{round}", {"value": round}), ("GET", "/_cluster/health", None))
    for method, path, body in requests:
        started = time.monotonic()
        client.call(method, path, body)
        took = time.monotonic() - started
        findings.count("requests beside it")
        if took > OTHERS_SECONDS_MAX:
            findings.add("stuck", f"{method} {path} took {took:.1f} s")
    writer.join()
    waiter.join()
    control.disarm()


def change(server, findings, round, index="slow", flushes=True):
    client = Client(server, findings)
    try:
        client.call("PUT", f"/{index}/_doc/new{round}", {f"field{round}": round})
        if flushes:
            client.call("POST", f"/{index}/_flush")
    except Broken as error:
        findings.add("dead", f"{error}")
    finally:
        client.close()
