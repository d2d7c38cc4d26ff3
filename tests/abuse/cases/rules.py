"""Query rules: every value of a request is compared with every value of every rule."""

import threading
import time

from case import OK, REFUSED, Case, Lines, acts

ONE = {"number_of_shards": 1, "number_of_replicas": 0}


def rules(count, values, text, kind="fuzzy"):
    return {"rules": [{"rule_id": f"r{n}", "type": "pinned", "criteria": [{"type": kind, "metadata": "q", "values": [f"{text}{m}" for m in range(values)]}],
                       "actions": {"ids": ["1"]}} for n in range(count)]}


SETUP = [
    ("PUT", "/odd", {"settings": ONE, "mappings": {"properties": {"t": {"type": "text"}}}}),
    ("POST", "/odd/_bulk?refresh=true", lambda: Lines([line for n in range(500) for line in ({"index": {"_id": str(n)}}, {"t": f"some words {n}"})])),
    *[("PUT", f"/_query_rules/s{n}", lambda: rules(50, 10, "a" * 248)) for n in range(10)],
    ("PUT", "/_query_rules/contains", lambda: rules(100, 100, "ab" * 20, "contains")),
]
SETS = [f"s{n}" for n in range(10)]


def ruled(said, sets):
    return {"query": {"rule": {"organic": {"match_all": {}}, "match_criteria": {"q": said}, "ruleset_ids": sets}}}


def still_busy(name, path, body):
    """A request uses no processor after its client has gone."""
    def act(server):
        server.hang_up("POST", path, body(), 0.5)
        time.sleep(1.5)
        before = server.cpu_seconds()
        time.sleep(2)
        used = server.cpu_seconds() - before
        return [(599, f"{used:.1f} s of processor in two seconds after its client had gone".encode())] if used > 1 else [200]
    return acts(name, act, OK, seconds=60)


def others_meanwhile(name, path, body, count):
    """Management goes on while many clients send this and are gone after a second."""
    def act(server):
        for _ in range(count):
            threading.Thread(target=lambda: server.hang_up("POST", path, body(), 1.0), daemon=True).start()
        time.sleep(0.5)
        for method, target, sent in (("GET", "/_cluster/health", None), ("PUT", "/beside", {"settings": ONE}), ("GET", "/_cat/indices", None), ("DELETE", "/beside", None)):
            started = time.monotonic()
            status, _ = server.send(method, target, sent, timeout=15)
            took = time.monotonic() - started
            yield (599 if took > 3 else status), f"{method} {target}: {status} after {took:.1f} s".encode()
    return acts(name, act, OK, seconds=120)


def many():
    return ["b" * 250] * 1_000


CASES = [
    Case("timeout", "POST", "/odd/_search?timeout=1s", lambda: ruled(many(), SETS), OK, seconds=8),
    Case("at_once", "POST", "/odd/_search?timeout=5s", lambda: ruled(many(), SETS), clients=8, hang_up=1.0),
    still_busy("gone", "/odd/_search", lambda: ruled([f"{'ab' * 124}{n % 10}" for n in range(1_000)], SETS)),
    still_busy("test_gone", "/_query_rules/s0/_test", lambda: {"match_criteria": {"q": many()}}),
    others_meanwhile("test_and_others", "/_query_rules/s0/_test", lambda: {"match_criteria": {"q": many()}}, 12),
    Case("values", "POST", "/odd/_search", lambda: ruled(many() * 3, SETS), 400, contains="at most 1000 values"),
    Case("test_values", "POST", "/_query_rules/s0/_test", lambda: {"match_criteria": {"q": many() * 3}}, 400, contains="at most 1000 values"),
    Case("long_value", "POST", "/odd/_search", lambda: ruled("a" * 5_000_000, ["contains"]), 400, contains="32766 bytes"),
    Case("contains", "POST", "/odd/_search?timeout=2s", lambda: ruled(["a" * 32_000] * 500, ["contains"]), seconds=10),
    Case("names", "POST", "/_query_rules/s0/_test", lambda: {"match_criteria": {f"n{n}": "x" for n in range(100_000)}}, REFUSED),
]
