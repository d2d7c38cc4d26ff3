"""Other encodings of bodies and answers, and lines of bulks: what a few bytes of them stand for."""

import gzip
import json
import socket
import struct
import time
import zlib

from case import OK, REFUSED, Case, acts
from wire import CLOSED, ONE_REFUSAL, connect, exchange, sent

ONE = {"number_of_shards": 1, "number_of_replicas": 0}


def text(name):
    """A short text of CBOR."""
    data = name.encode()
    return bytes([0x60 + len(data)]) + data


def nested(depth, inner):
    return "[" * depth + inner + "]" * depth


SETUP = [
    ("PUT", "/media", {"settings": ONE, "mappings": {"enabled": False}}),
    ("PUT", "/media/_doc/deep?refresh=true", lambda: '{"a":' + nested(110, ",".join("1" * 400_000)) + "}"),
    ("PUT", "/media/_doc/many?refresh=true", lambda: '{"a":[' + ",".join(["[]"] * 1_500_000) + "]}"),
    ("PUT", "/media/_doc/objects?refresh=true", lambda: '{"a":[' + ",".join(['{"":0}'] * 600_000) + "]}"),
    ("PUT", "/media/_doc/escapes?refresh=true", lambda: json.dumps({"a": "\u0001" * 900_000})),
    ("PUT", "/filtered", {"settings": ONE, "mappings": {"enabled": False, "_source": {"excludes": ["z"]}}}),
    ("PUT", "/synthetic", {"settings": {**ONE, "index.mapping.source.mode": "synthetic"}, "mappings": {"enabled": False}}),
]


def body(name, media, data, path="/media/_search", expect=REFUSED, **more):
    return Case(name, "POST", path, data, expect, headers={"Content-Type": f"application/{media}"}, **{"seconds": 30, **more})


def shown(name, path, expect=OK + REFUSED, headers=None, **more):
    return Case(name, "GET", path, None, expect, headers=headers, **{"seconds": 60, **more})


CBOR = [
    body("cbor_object_of_objects", "cbor", lambda: b"\x9f" + b"\xa1\x60\x00" * 3_000_000 + b"\xff"),
    body("cbor_chunks_of_text", "cbor", lambda: b"\x7f" + b"\x61a" * 10_000_000 + b"\xff"),
    body("cbor_chunks_of_nothing", "cbor", lambda: b"\x7f" + b"\x60" * 20_000_000 + b"\xff"),
    body("cbor_tags", "cbor", lambda: b"\xc0" * 500_000 + b"\x00"),
    body("cbor_numbers_long", "cbor", lambda: b"\xa1" + text("size") + b"\xc2\x5a" + struct.pack(">I", 1_000_000) + b"\xff" * 1_000_000),
    body("cbor_declared_map", "cbor", b"\xbb\x7f\xff\xff\xff\xff\xff\xff\xff\x60\x00"),
    body("cbor_declared_bytes", "cbor", b"\x5b\x7f\xff\xff\xff\xff\xff\xff\xff\x00"),
    body("cbor_declared_small_often", "cbor", lambda: b"\x9f" + b"\x9a\x00\xff\xff\xff" * 200),
    body("cbor_break_alone", "cbor", b"\xff" * 1_000),
    body("cbor_reserved", "cbor", bytes(range(0x1C, 0x20)) * 100),
    body("cbor_floats", "cbor", b"\xa1" + text("min_score") + b"\xf9\x7c\x00", expect=OK + REFUSED),
    body("cbor_not_utf8", "cbor", b"\xa1\x62\xc3\x28\x00"),
    body("cbor_same_keys", "cbor", lambda: b"\xbf" + b"\x61a\x00" * 5_000_000 + b"\xff"),
    body("cbor_keys_of_everything", "cbor", b"\xa3\x80\x00\xa0\x00\xf6\x00"),
    body("cbor_in_bulk", "cbor", lambda: b"\xa1" + text("index") + b"\xa0\xff" + b"\xa1" + text("a") + b"\x9b\x7f\xff\xff\xff\xff\xff\xff\xff\xff", path="/media/_bulk", expect=OK + REFUSED),
    body("cbor_document", "cbor", lambda: b"\xa1" + text("a") + b"\x9f" + b"\x9f" * 90 + b"\xa0" * 2_000_000 + b"\xff" * 91, path="/media/_doc", expect=OK + REFUSED),
    body("smile_document", "smile", b":)\n\x07\xfa\x80a\x24" + b"\xf8\xf9" * 10_000 + b"\xfb", path="/media/_doc"),
    body("smile_floats", "smile", b":)\n\x01\xfa" + b"\x29" * 100_000),
    body("smile_shared_texts", "smile", lambda: b":)\n\x02\xf8\xbf" + b"x" * 64 + b"\x01" * 20_000_000 + b"\xf9", path="/media/_doc", expect=OK + REFUSED),
    body("smile_shared_names", "smile", lambda: b":)\n\x01\xf8\xfa\xf7" + b"x" * 60 + b"\x21\xfb" + b"\xfa\x40\x21\xfb" * 5_000_000 + b"\xf9", expect=OK + REFUSED),
    body("smile_parts", "smile", lambda: (b":)\n\x00\xfa\xfb\xff") * 2_000_000, path="/media/_bulk"),
    body("smile_separators", "smile", lambda: b"\xff" * 20_000_000, path="/media/_bulk", expect=OK + REFUSED),
    body("smile_large_number", "smile", lambda: b":)\n\x00\x26\x0f\x21\x40\x80" + b"\x01" * 2_000_000),
    body("smile_bytes_declared", "smile", b":)\n\x04\xfd\x7f\x7f\x7f\x7f\x7f\x7f\x7f\xbf"),
]

YAML = [
    body("yaml_aliases_within_limits", "yaml", lambda: "a: &a [" + ",".join("1" * 60_000) + "]\nb: [" + ",".join(["*a"] * 90) + "]\n", expect=OK + REFUSED),
    body("yaml_aliases_of_aliases", "yaml", lambda: "a: &a [" + ",".join("1" * 1_500) + "]\nb: &b [" + ",".join(["*a"] * 90) + "]\nc: [" + ",".join(["*b"] * 80) + "]\n", expect=OK + REFUSED),
    body("yaml_aliases_of_text", "yaml", lambda: "a: &a " + "x" * 500_000 + "\nb: [" + ",".join(["*a"] * 400) + "]\n", expect=OK + REFUSED),
    body("yaml_aliases_of_themselves", "yaml", "a: &a [*a, *a]\n"),
    body("yaml_anchors", "yaml", lambda: "".join(f"k{n}: &a{n} 1\n" for n in range(200_000))),
    body("yaml_merges", "yaml", lambda: "a: &a {x: 1}\n" + "".join(f"b{n}: {{<<: *a}}\n" for n in range(50_000))),
    body("yaml_tags", "yaml", lambda: "a: " + "!t " * 100_000 + "1\n"),
    body("yaml_documents", "yaml", lambda: "---\n{}\n" * 100_000, expect=OK + REFUSED),
    body("yaml_block_deep", "yaml", lambda: "- " * 20_000 + "1\n"),
    body("yaml_block_maps", "yaml", lambda: "".join(" " * n + "a:\n" for n in range(2_000))),
    body("yaml_keys_of_lists", "yaml", lambda: "? [[[1]]]\n: 1\n" * 5_000),
    body("yaml_scalars_folded", "yaml", lambda: "a: >\n" + "  x\n" * 1_000_000),
    body("yaml_scalars_quoted", "yaml", lambda: 'a: "' + "\\x41" * 1_000_000 + '"\n'),
    body("yaml_octets", "yaml", lambda: "size: 0o" + "7" * 100_000 + "\n"),
    body("yaml_comments", "yaml", lambda: "#" * 5_000_000 + "\n{}", expect=OK + REFUSED),
    body("yaml_flow_unclosed", "yaml", lambda: "a: [" + "{b: [" * 450),
    body("yaml_questions", "yaml", lambda: "? " * 50_000),
    body("yaml_document", "yaml", lambda: "a: [" + ",".join(["[]"] * 500_000) + "]\n", path="/media/_doc", expect=OK + REFUSED),
]

ANSWERS = [
    shown("yaml_of_deep", "/media/_doc/deep?format=yaml"),
    shown("yaml_of_deep_often", "/media/_doc/deep?format=yaml", clients=6),
    shown("yaml_of_many", "/media/_doc/many?format=yaml"),
    shown("yaml_of_objects", "/media/_search?format=yaml", clients=3),
    shown("yaml_of_escapes", "/media/_doc/escapes?format=yaml", clients=6),
    shown("cbor_of_many", "/media/_doc/many?format=cbor", clients=4),
    shown("cbor_of_objects", "/media/_doc/objects?format=cbor", clients=4),
    shown("pretty_of_deep", "/media/_doc/deep?pretty", clients=3),
    shown("pretty_of_objects", "/media/_doc/objects?pretty&human", clients=3),
    shown("filtered_of_objects", "/media/_doc/objects?filter_path=**.a*,-**.z,**.*.*.*", clients=3),
    shown("filtered_of_many", "/media/_search?filter_path=" + ",".join(f"**.a{n}.**" for n in range(100)), clients=2),
    shown("filtered_stars", "/media/_doc/deep?filter_path=" + ".".join(["**"] * 60), clients=2),
    shown("sources_filtered", "/media/_doc/objects?_source_includes=" + ",".join(f"*a{n}*" for n in range(300)), clients=3),
    shown("source_of_many", "/media/_source/many?_source_excludes=z", clients=4),
    shown("packed_answers", "/media/_search?size=10", headers={"Accept-Encoding": "gzip"}, clients=12),
    shown("vectors_of_many", "/media/_termvectors/many?fields=a", clients=2),
    shown("explained", "/media/_explain/many?q=a&_source=true", clients=3),
    Case("updates_of_objects", "POST", "/media/_update/objects?_source=true", {"doc": {"n": 1}}, clients=4, seconds=60),
    Case("updates_by_query_of_objects", "POST", "/media/_update_by_query?conflicts=proceed", {"script": {"source": "ctx._source.n = 1"}}, seconds=60, clients=2),
    Case("fields_of_objects", "POST", "/media/_search", {"fields": ["*"], "script_fields": {"f": {"script": "params._source.size()"}}}, seconds=60, clients=2),
    Case("runtime_of_objects", "POST", "/media/_search", {"runtime_mappings": {"a": {"type": "long"}}, "query": {"range": {"a": {"gte": 0}}}}, seconds=60, clients=2),
    Case("excluded_of_many", "PUT", "/filtered/_doc/1?refresh=true", lambda: '{"a":[' + ",".join(["[]"] * 5_000_000) + "]}", seconds=60),
    Case("excluded_of_objects", "POST", "/filtered/_bulk", lambda: ('{"index":{}}\n{"a":[' + ",".join(['{"":0}'] * 400_000) + "]}\n") * 4, headers={"Content-Type": "application/x-ndjson"}, seconds=60),
    Case("excluded_shown", "GET", "/filtered/_search", None, clients=4, seconds=60),
    Case("synthetic_of_objects", "PUT", "/synthetic/_doc/1?refresh=true", lambda: '{"a":[' + ",".join(['{"":0}'] * 1_000_000) + "]}", seconds=60),
    Case("synthetic_shown", "GET", "/synthetic/_search", None, clients=4, seconds=60),
]


def bulk(name, data, expect=OK + REFUSED, query="", **more):
    return Case(f"bulk_{name}", "POST", f"/lines/_bulk{query}", data, expect, headers={"Content-Type": "application/x-ndjson", **more.pop("headers", {})},
                **{"cleanup": [("DELETE", "/lines,line-*?expand_wildcards=all")], "seconds": 60, **more})


LINES = [
    bulk("carriage_returns", '{"index":{}}\r\n{"a":1}\r\n' * 1_000),
    bulk("carriage_returns_only", '{"index":{}}\r{"a":1}\r' * 1_000),
    bulk("byte_order_mark", b'\xef\xbb\xbf{"index":{}}\n{"a":1}\n'),
    bulk("nul_lines", b"\0\n" * 100_000),
    bulk("record_separators", b'\x1e{"index":{}}\n\x1e{"a":1}\n'),
    bulk("line_separators", '{"index":{}}\u2028{"a":1}\u2028\n'),
    bulk("same_keys", lambda: '{"index":{' + ",".join(['"_id":"1"'] * 200_000) + "}}\n{}\n"),
    bulk("two_actions", '{"index":{},"delete":{"_id":"1"}}\n{}\n'),
    bulk("unknown_metadata", lambda: '{"index":{' + ",".join(f'"_x{n}":1' for n in range(100_000)) + "}}\n{}\n"),
    bulk("templates_many", lambda: '{"index":{"dynamic_templates":{' + ",".join(f'"f{n}":"t"' for n in range(300_000)) + "}}}\n{}\n"),
    bulk("indices_many", lambda: "".join(f'{{"create":{{"_index":"line-{n}"}}}}\n{{"a":1}}\n' for n in range(600)), seconds=120),
    bulk("index_long", lambda: '{"index":{"_index":"' + "i" * 1_000_000 + '"}}\n{}\n'),
    bulk("index_of_math", lambda: '{"index":{"_index":"<line-{now+' + "9" * 1_000 + 'y}>"}}\n{}\n' * 100),
    bulk("sources_asked", lambda: '{"update":{"_id":"1","_source":[' + ",".join(f'"*a{n}*"' for n in range(50_000)) + ']}}\n{"doc":{"a":1},"doc_as_upsert":true}\n'),
    bulk("deletes_with_bodies", '{"delete":{"_id":"1"}}\n{"a":1}\n' * 2_000),
    bulk("aliases_required", lambda: '{"index":{"require_alias":true}}\n{}\n' * 20_000),
    bulk("upserts_wide", lambda: '{"update":{"_id":"1"}}\n{"upsert":{"a":[' + ",".join(["[]"] * 400_000) + ']},"doc":{"b":1}}\n' * 3, query="?pipeline=_none"),
    bulk("pipelines_listed", lambda: '{"index":{"pipeline":"' + "p" * 5_000 + '"}}\n{}\n' * 2_000, query="?list_executed_pipelines=true"),
    bulk("last_line_open", lambda: '{"index":{}}\n{"a":"' + "x" * 10_000_000),
    bulk("spaces_before", lambda: " " * 20_000_000 + '{"index":{}}\n{}\n'),
    bulk("tabs_in_actions", lambda: '{"index":{' + "\t" * 20_000_000 + "}}\n{}\n"),
    bulk("comments", '{"index":{}}//x\n{"a":1}/*y*/\n'),
    bulk("numbers_of_ids", lambda: '{"index":{"_id":' + "9" * 100_000 + "}}\n{}\n"),
    bulk("versions_of_numbers", lambda: '{"index":{"_id":"1","version":' + "9" * 100_000 + ',"version_type":"external_gte"}}\n{}\n'),
    bulk("packed_empty_blocks", lambda: b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + b"\0\0\0\xff\xff" * 4_000_000, headers={"Content-Encoding": "gzip"}),
    bulk("packed_deflate", lambda: zlib.compress(b"\n" * 50_000_000), (400, 415), headers={"Content-Encoding": "deflate"}),
    bulk("packed_zstd", b"\x28\xb5\x2f\xfd" + b"\xff" * 1_000, (400, 415), headers={"Content-Encoding": "zstd"}),
    bulk("packed_identity", b'{"index":{}}\n{}\n', headers={"Content-Encoding": "identity"}),
    bulk("packed_lines", lambda: gzip.compress(b'{"delete":{"_id":"1"}}\n' * 3_000_000), headers={"Content-Encoding": "gzip"}, seconds=120),
]


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"")


def chunked_bomb(server):
    """A bomb that comes in small chunks, each of which unpacks to a megabyte."""
    packed = zlib.compressobj(9, zlib.DEFLATED, 31)
    with connect(server, 30) as stream:
        stream.sendall(b"POST /_bulk HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-ndjson\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n")
        try:
            for _ in range(400):
                part = packed.compress(b" " * 1_000_000) + packed.flush(zlib.Z_SYNC_FLUSH)
                stream.sendall(b"%x\r\n" % len(part) + part + b"\r\n")
            stream.sendall(b"0\r\n\r\n")
            answer = stream.recv(4096)
        except OSError:
            return [CLOSED]
        return [int(answer[9:12])] if answer[9:12].isdigit() else [CLOSED]


def header_floods(server):
    """Headers up to the limit on many connections, none of them finished."""
    held = []
    for _ in range(400):
        stream = connect(server)
        stream.settimeout(1)
        try:
            stream.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n" + b"".join(b"x%d: %s\r\n" % (n, b"y" * 150) for n in range(45)))
        except OSError:
            pass
        held.append(stream)
    time.sleep(2)
    for stream in held:
        stream.close()
    return [200]


def resets(server):
    """Requests whose connection is reset as soon as they are sent: rapid reset, as far as HTTP/1.1 has it."""
    body = b'{"query":{"match_all":{}},"aggs":{"a":{"terms":{"field":"t.keyword"}}}}'
    for _ in range(3_000):
        stream = connect(server)
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        stream.sendall(b"POST /ordinary/_search HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        stream.close()
    return [200]


def heads_pipelined(server):
    return exchange(server, b"HEAD /media/_doc/objects HTTP/1.1\r\nHost: a\r\n\r\n" * 60 + b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", timeout=60)[-1:]


def half_closed(server):
    """Clients that close their side at once, with requests that take long to answer."""
    found = []
    for _ in range(20):
        with connect(server, 60) as stream:
            stream.sendall(b"GET /media/_search?format=yaml HTTP/1.1\r\nHost: a\r\n\r\n")
            stream.shutdown(socket.SHUT_WR)
    return found or [200]


def mixed_encodings(server):
    """Each part of a request in another form than it says."""
    found = []
    for media in ("json", "yaml", "cbor", "x-ndjson", "vnd.elasticsearch+json;compatible-with=9", "vnd.elasticsearch+cbor;compatible-with=9"):
        for data in (b'{"size":1}', b"size: 1", b"\xa1" + text("size") + b"\x01", b":)\n\x05\xfa\x83size\xc2\xfb", gzip.compress(b"{}"), b"\xff\xfe{\0}\0", b"\0" * 100):
            found.append(server.send("POST", "/media/_search", data, {"Content-Type": f"application/{media}"}))
    return found


SOCKETS = [
    sent("h2_settings", PREFACE + frame(4, 0, 0, b"\0\3\xff\xff\xff\xff" * 5_000)),
    sent("h2_continuations", PREFACE + frame(1, 0, 1, b"\x82") + frame(9, 0, 1, b"\x40\1a\1b" * 4_000) * 500),
    sent("h2_rapid_resets", PREFACE + b"".join(frame(1, 5, n, b"\x82\x84\x86\x41\1a") + frame(3, 0, n, b"\0\0\0\x08") for n in range(1, 40_001, 2))),
    sent("h2_pings", PREFACE + frame(6, 0, 0, b"\0" * 8) * 100_000),
    sent("websocket", b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n", OK + ONE_REFUSAL),
    sent("cookies", lambda: b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + b"Cookie: " + b"a=b; " * 1_500 + b"\r\n\r\n", OK + ONE_REFUSAL),
    sent("ranges", b"GET /media/_doc/objects HTTP/1.1\r\nHost: a\r\nConnection: close\r\nRange: bytes=" + b",".join(b"%d-" % n for n in range(1_000)) + b"\r\n\r\n", OK + ONE_REFUSAL, timeout=20),
    sent("origins", lambda: b"OPTIONS /_search HTTP/1.1\r\nHost: a\r\nConnection: close\r\nOrigin: http://" + b"o" * 6_000 + b"\r\nAccess-Control-Request-Method: " + b"X" * 1_000 + b"\r\n\r\n", OK + REFUSED),
    sent("credentials", lambda: b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Basic " + b"A" * 7_000 + b"\r\n\r\n", OK + REFUSED),
    sent("methods", b"".join(b"%s /media/_search HTTP/1.1\r\nHost: a\r\n\r\n" % method for method in (b"PATCH", b"LOCK", b"G" * 50, b"get")) + b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
         OK + REFUSED + (CLOSED, 501)),
    acts("chunked_bomb", chunked_bomb, (CLOSED, 400, 413, 429), seconds=60),
    acts("header_floods", header_floods),
    acts("resets", resets, seconds=60),
    acts("heads_pipelined", heads_pipelined, 200, seconds=60),
    acts("half_closed", half_closed, seconds=60),
    acts("mixed_encodings", mixed_encodings),
]

CASES = CBOR + YAML + ANSWERS + LINES + SOCKETS
