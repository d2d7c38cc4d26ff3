#!/usr/bin/env python3
"""Asks a server for answers.txt's requests and writes check.ts, in which each answer is declared to have its type: check.py URL FOLDER"""
import http.client
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
SETUP = [
    ("PUT", "/docs", {
        "settings": {"number_of_shards": 1, "number_of_replicas": 0},
        "mappings": {"properties": {
            "t": {"type": "text", "fields": {"k": {"type": "keyword"}}}, "n": {"type": "long"}, "d": {"type": "date"},
            "g": {"type": "geo_point"}, "ne": {"type": "nested", "properties": {"a": {"type": "keyword"}}},
        }},
        "aliases": {"al": {"filter": {"term": {"n": 1}}}},
    }),
    ("PUT", "/other", {"settings": {"number_of_replicas": 1}}),
    ("PUT", "/docs/_doc/1?refresh", {"t": "hello world", "n": 1, "d": "2020-01-01", "g": "1,2", "ne": [{"a": "x"}]}),
    ("PUT", "/_ingest/pipeline/p1", {"processors": [{"set": {"field": "a", "value": 1, "tag": "x"}}]}),
    ("PUT", "/_index_template/it", {"index_patterns": ["it-*"], "priority": 3, "version": 2, "_meta": {"a": 1}}),
    ("PUT", "/_component_template/ct", {"template": {"mappings": {"properties": {"a": {"type": "keyword"}}}}}),
    ("PUT", "/_template/lt", {"index_patterns": ["lt-*"], "order": 1}),
    ("PUT", "/_scripts/s1", {"script": {"lang": "painless", "source": "1+1"}}),
    ("PUT", "/_enrich/policy/e1", {"match": {"indices": "docs", "match_field": "t.k", "enrich_fields": ["n"]}}),
    ("PUT", "/_transform/t1", {
        "source": {"index": "docs"}, "dest": {"index": "sums"},
        "pivot": {"group_by": {"k": {"terms": {"field": "t.k"}}}, "aggs": {"s": {"sum": {"field": "n"}}}},
    }),
]


def ask(host, method, path, body):
    connection = http.client.HTTPConnection(host, timeout=30)
    try:
        headers = {"Content-Type": "application/json"} if body else {}
        connection.request(method, path, body or None, headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def main(url, folder):
    host = url.removeprefix("http://")
    for method, path, body in SETUP:
        status, text = ask(host, method, path, json.dumps(body))
        if status >= 300:
            sys.exit(f"{method} {path}: {status} {text}")
    lines = ["import * as T from './node_modules/@elastic/elasticsearch/lib/api/types'"]
    failures = 0
    for line in (HERE / "answers.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        kind, request = line.split("\t")
        method, rest = request.split(" ", 1)
        path, _, body = rest.partition(" ")
        status, text = ask(host, method, path, body)
        if status != 200:
            failures += 1
            print(f"{request}: {status} {text[:300]}")
            continue
        # Answers end with a comment that tells what was asked, for the messages of the compiler.
        lines.append(f"export const answer{len(lines)}: T.{kind} = {text.strip()} // {request}")
    pathlib.Path(folder, "check.ts").write_text("\n".join(lines) + "\n")
    sys.exit(1 if failures else 0)


main(*sys.argv[1:])
