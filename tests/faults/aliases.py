"""Readers beside alias swaps see neither no index nor two; what a failed deletion leaves behind acknowledges nothing that is lost."""
import errno
import threading

from crew import Place
from inject import start_under_injector
from ledger import Ledger, Operation, send_one
from server import Broken, Client, Server, StartRefused, reason

ROUNDS = 300
READERS = 3
# Faults while an index is deleted: the call, and which of its occurrences.
DELETION_FAULTS = [(call, nth) for call in ("unlink", "unlinkat", "rename", "openat", "fsync", "fdatasync", "rmdir", "getdents64", "write")
                   for nth in range(1, 9)]


def run(options, findings):
    place = Place(options, "aliases")
    try:
        findings.context = f"seed {options.seed} swaps"
        swap_beside_readers(options, findings, place)
        for number, (call, nth) in enumerate(DELETION_FAULTS):
            if options.is_over() or (len(findings) and not options.keep_going):
                break
            if options.only in call:
                findings.context = f"seed {options.seed} deletion {number}: {call} EIO nth={nth}"
                delete_under_fault(options, findings, place, call, nth)
    finally:
        place.close()


def swap_beside_readers(options, findings, place):
    server = Server(options.binary, place.fresh())
    over = threading.Event()
    try:
        client = Client(server, findings)
        for index in ("left", "right"):
            client.call("PUT", f"/{index}", {"settings": {"number_of_replicas": 0}})
            client.call("PUT", f"/{index}/_doc/{index}?refresh=true", {"in": index})
        client.call("POST", "/_aliases", {"actions": [{"add": {"index": "left", "alias": "swap"}}]})
        readers = [threading.Thread(target=read, args=(server, findings, over, number)) for number in range(READERS)]
        for reader in readers:
            reader.start()
        for number in range(options.rounds):
            old, new = ("left", "right") if number % 2 == 0 else ("right", "left")
            actions = [{"remove": {"index": old, "alias": "swap"}}, {"add": {"index": new, "alias": "swap"}}]
            status, answer = client.call("POST", "/_aliases", {"actions": actions})
            if status != 200:
                findings.add("half", f"swap {number} answered {status}: {reason(answer)}")
            findings.count("alias swaps")
        over.set()
        for reader in readers:
            reader.join()
    finally:
        over.set()
        server.kill()


def read(server, findings, over, number):
    """Search, get of the alias, multi search in turn."""
    client = Client(server, findings)
    try:
        while not over.is_set():
            findings.count("reads")
            status, answer = client.call("POST", "/swap/_search", {"query": {"match_all": {}}})
            seen = [hit["_index"] for hit in answer["hits"]["hits"]] if status == 200 else []
            if len(seen) != 1:
                findings.add("half", f"reader {number} searches the alias: {status}, hits of {seen}")
            status, answer = client.call("GET", "/_alias/swap")
            if status != 200 or len(answer) != 1:
                findings.add("half", f"reader {number} asks for the alias: {status}, {sorted(answer)}")
    except Broken as error:
        findings.add("dead", f"{error}")


def delete_under_fault(options, findings, place, call, nth):
    """A deletion fails somewhere: the index is gone, or it is there with all that it acknowledges, before and after a restart."""
    data = place.fresh()
    server, control = start_under_injector(options, place, data, None)
    ledger = Ledger(findings)
    before = len(findings)
    try:
        client = Client(server, findings, strict=False)
        client.call("PUT", "/doomed", {"settings": {"number_of_shards": 2, "number_of_replicas": 0}})
        write(client, ledger, "early")
        client.call("POST", "/doomed/_flush")
        write(client, ledger, "before")
        control.arm({"calls": [call], "errno": errno.EIO, "nth": nth, "count": 1, "path": str(data)})
        status, answer = client.call("DELETE", "/doomed")
        fired = control.disarm()["fired"]
        findings.count("deletions under a fault", bool(fired))
        findings.context += f" answered {status}" + (f" at {fired[0][1].removeprefix(str(data))}" if fired else "")
        is_there = client.call("GET", "/doomed")[0] == 200
        if status == 200 and is_there:
            findings.add("wrong", "the deletion was acknowledged and the index is there")
        if status != 200 and status < 500:
            findings.add("wrong", f"a failed disk answers {reason(answer)}")
        acknowledged = is_there and write(client, ledger, "after")
        server.kill()
        server = Server(options.binary, data)
        client = Client(server, findings, strict=False)
        hold_against(client, findings, ledger, status == 200 or not is_there, acknowledged)
    except (Broken, StartRefused) as error:
        findings.add("dead", f"{error}")
    finally:
        control.close()
        server.kill()
    if len(findings) > before:
        place.keep_copy(data)
    place.remove(data)


def write(client, ledger, name):
    return all([send_one(client, Operation("index", "doomed", f"{name}{number}", {"t": name}), ledger, "doomed") for number in range(5)])


def hold_against(client, findings, ledger, was_gone, acknowledged):
    status, _ = client.call("GET", "/doomed")
    if status == 200 and was_gone and acknowledged:
        findings.add("invented", "the index was gone and is there again")
    elif status != 200 and acknowledged:
        findings.add("lost", f"the index acknowledged writes after its failed deletion and is gone: {status}")
    elif status == 200:
        ledger.check(client, "doomed")
