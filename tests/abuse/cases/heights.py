"""What a sixth attacker found by reading on 30 November 2026: trees as high as a flat text is long, one client with many names, and lists that are compared with lists."""

import http.client
import json
import threading
import time

from case import OK, REFUSED, Case, acts

ANY = OK + REFUSED
ONE = {"number_of_shards": 1, "number_of_replicas": 0}
SETUP = [
    ("PUT", "/h", {"settings": ONE, "mappings": {"properties": {"t": {"type": "text"}, "n": {"type": "long"}, "k": {"type": "keyword"}, "c": {"type": "completion"}}}}),
    ("PUT", "/h/_doc/1", {"t": "a b", "n": 1}),
    ("PUT", "/h/_doc/2?refresh=true", {"t": "a c", "n": 2}),
]


def search(name, body, **more):
    return Case(name, "POST", "/h/_search", body, **{"expect": ANY, **more})


def expressions():
    """Regular expressions of Lucene that are as long as they like, where no setting bounds their length."""
    for name, pattern in [("intersections", "a&" * 50_000 + "a"), ("options", "a?" * 50_000), ("group", "(" + "a" * 100_000 + ")b"), ("repeats", "".join("(" for _ in range(90)) + "a" + ("*" * 9 + ")") * 90)]:
        yield Case(f"tokenizer_{name}", "POST", "/_analyze", {"tokenizer": {"type": "simple_pattern", "pattern": pattern}, "text": "aab"}, ANY)
        yield search(f"intervals_{name}", {"query": {"intervals": {"t": {"regexp": {"pattern": pattern}}}}})
        yield search(f"completion_{name}", {"suggest": {"s": {"regex": pattern, "completion": {"field": "c"}}}})
        yield search(f"regexp_{name}", {"query": {"regexp": {"k": pattern}}}, setup=[("PUT", "/h/_settings", {"index.max_regex_length": 2_147_483_647})])


def levels(server):
    """Pipelines of many levels, each of which calls the next one."""
    for n in range(100):
        inner = {"pipeline": {"name": f"level{n + 1}"}} if n < 99 else {"set": {"field": "b", "value": 1}}
        for _ in range(49):
            inner = {"foreach": {"field": "a", "processor": inner}}
        yield server.send("PUT", f"/_ingest/pipeline/level{n}", {"processors": [inner]})
    yield server.send("PUT", "/leveled/_doc/1?pipeline=level0", {"a": [1]})
    yield server.send("PUT", "/leveled/_doc/2?refresh=true", {"a": [1]})
    yield server.send("POST", "/leveled/_update_by_query?pipeline=level0", {})


WIDE = [("PUT", "/wide", lambda: {"settings": {**ONE, "index.mapping.total_fields.limit": 6_000}, "mappings": {"properties": {f"f{n}": {"type": "keyword"} for n in range(5_000)}}}),
        ("PUT", "/wide/_doc/1?refresh=true", {"f1": "a"})]
WORD = "a" * 30_000
WORDS = [("PUT", "/words", {"settings": ONE, "mappings": {"properties": {"k": {"type": "keyword"}}}}), ("PUT", "/words/_doc/1?refresh=true", {"k": WORD + "b"})]


def distances():
    for measure in ("damerau_levenshtein", "levenshtein", "jaro_winkler", "ngram"):
        yield Case(f"distance_{measure}", "POST", "/words/_search", {"suggest": {"s": {"text": WORD + "c", "term": {"field": "k", "string_distance": measure}}}}, ANY, setup=WORDS,
                   cleanup=[("DELETE", "/words")])


def disguised(server, request, n, seconds):
    """A request from another address than the ordinary client's, with a user agent of its own. Returns its status and answer; None if it has none after some seconds."""
    method, path, body = request
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=seconds, source_address=("127.0.0.2", 0))
    try:
        connection.request(method, path, body and json.dumps(body), {"User-Agent": f"client-{n}", "Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read()[:300]
    except OSError:
        return None
    finally:
        connection.close()


def many_names(name, count, request, mine, seconds):
    """One client sends requests at the same time, each with another index expression and user agent; a second later another client sends one, which must not wait for them."""
    def act(server):
        threads = [threading.Thread(target=disguised, args=(server, request(n), n, seconds)) for n in range(count)]
        for thread in threads:
            thread.start()
        time.sleep(1)
        started = time.monotonic()
        status, answer = server.send(*mine)
        waited = time.monotonic() - started
        for thread in threads:
            thread.join()
        yield (status if waited < 1.5 else 500), f"waited {waited:.2f} s: ".encode() + answer[:300]
    return acts(name, act, OK, seconds=seconds + 30, cleanup=[("DELETE", "/fresh")])


CASES = [
    # Each change of operators puts everything before it one level deeper.
    search("operators_in_turn", {"query": {"simple_query_string": {"query": "a + b | " * 2_000, "fields": ["t"]}}}, expect=400),
    search("operators_explained", {"explain": True, "query": {"simple_query_string": {"query": "a + b | " * 2_000, "fields": ["t"]}}}, expect=400),
    *expressions(),
    acts("levels", levels, ANY, seconds=60, cleanup=[("DELETE", "/leveled"), ("DELETE", "/_ingest/pipeline/level*")]),
    # Patterns that each select all fields of a mapping.
    *[Case(name, "POST", "/wide/_search", body, ANY, setup=WIDE, cleanup=[("DELETE", "/wide")], seconds=60) for name, body in [
        ("stars_multi_match", {"query": {"multi_match": {"query": "a b c", "fields": ["*"] * 100_000}}}),
        ("stars_query_string", {"query": {"query_string": {"query": "a +b c", "fields": ["*"] * 100_000}}}),
        ("stars_simple", {"query": {"simple_query_string": {"query": "a b", "fields": ["f*"] * 100_000}}}),
        ("stars_fields", {"fields": ["*"] * 1_000, "size": 100}),
        ("stars_stored", {"stored_fields": ["*"] * 100_000, "size": 100})]],
    # Each synonym of a word was compared with all others.
    Case("synonyms", "POST", "/_analyze", lambda: {"tokenizer": "standard", "filter": [{"type": "synonym", "synonyms": [f"a => b{n}" for n in range(200_000)]}], "text": "c"}, ANY, seconds=20),
    # A thread for each slice.
    Case("slices", "POST", "/h/_update_by_query?slices=1024&requests_per_second=0.1&scroll_size=1&conflicts=proceed", {}, ANY, clients=30, hang_up=5.0),
    # A table of each character of a word with each of another.
    *distances(),
    # Threads that wait: a pool has 256 for them.
    many_names("names_that_wait", 400, lambda n: ("POST", f"/h,none-{n}*/_update_by_query?requests_per_second=0.1&scroll_size=1", {"query": {"match_all": {}}}), ("PUT", "/fresh", {"settings": ONE}), 8),
    many_names("names_that_watch", 8, lambda n: ("GET", f"/_nodes/hot_threads?interval=8s&threads={n + 1}", None), ("PUT", "/fresh", {"settings": ONE}), 12),
    # A queue that is full of requests with one name each.
    many_names("names_in_a_queue", 1_500, lambda n: ("POST", f"/h,none-{n}*/_search", {"query": {"script": {"script": "int s = 0; for (int i = 0; i < 900000; i++) { s += i } return s > 0"}}}),
               ("POST", "/h/_search", {"query": {"match": {"t": "a"}}}), 8),
]
