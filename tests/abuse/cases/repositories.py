"""Repositories with much in them, and such whose blobs somebody else wrote."""

import atexit
import json
import os
import shutil
import struct
import tempfile
import zlib

from case import OK, REFUSED, Case, acts

FOLDER = tempfile.mkdtemp(prefix="abuse-repositories-")
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
SETTINGS = [f"path.repo={FOLDER}"]
ONE = {"number_of_shards": 1, "number_of_replicas": 0}
SNAPSHOTS = 260
SETUP = [
    ("PUT", "/snap", {"settings": ONE, "mappings": {"properties": {"k": {"type": "keyword"}}}}),
    ("PUT", "/snap/_doc/1?refresh=true", {"k": "key", "t": "hello world"}),
    ("PUT", "/_snapshot/good", {"type": "fs", "settings": {"location": f"{FOLDER}/good", "compress": False}}),
    ("PUT", "/_snapshot/good/s?wait_for_completion=true", {"indices": "snap", "include_global_state": False}),
    ("PUT", "/shards", {"settings": {"number_of_shards": 400, "number_of_replicas": 0}}),
    ("PUT", "/_snapshot/many", {"type": "fs", "settings": {"location": f"{FOLDER}/many"}}),
    *[("PUT", f"/_snapshot/many/s{n}?wait_for_completion=true", {"indices": "shards"}) for n in range(SNAPSHOTS)],
]


def write(path, data, claimed=None, kind=0):
    """A blob with a sound header."""
    head = b"LIMBSNAP" + struct.pack("<IIQQI", 1, kind, len(data), len(data) if claimed is None else claimed, zlib.crc32(data))
    with open(path, "wb") as file:
        file.write(head + struct.pack("<I", zlib.crc32(head)) + data)


def opened(path):
    with open(path, "rb") as file:
        return json.loads(file.read()[40:])


def blobs(folder):
    found = {}
    for where, _, files in os.walk(folder):
        for file in files:
            path = os.path.join(where, file)
            name = os.path.relpath(path, folder)
            kind = "root" if name.startswith("generations") else "snapshot" if name.startswith("snapshots") else "meta" if "/meta-" in name else "manifest" if "/manifest-" in name else "data"
            found.setdefault(kind, []).append(path)
    return found


READS = [
    ("GET", "/_snapshot/evil/_all"), ("GET", "/_snapshot/evil/s/_status"), ("GET", "/_cat/snapshots/evil"), ("POST", "/_snapshot/evil/_verify"),
    ("POST", "/_snapshot/evil/s/_restore?wait_for_completion=true", {"indices": "*", "rename_pattern": "(.+)", "rename_replacement": "re-$1", "include_global_state": True}),
    ("PUT", "/_snapshot/evil/s/_clone/c", {"indices": "*"}), ("POST", "/_snapshot/evil/_cleanup"), ("DELETE", "/_snapshot/evil/s"),
]


def evil(name, kind, change):
    """A copy of the repository of which somebody with rights on its folder changed a blob."""
    def act(server):
        folder = f"{FOLDER}/evil-{name}"
        shutil.copytree(f"{FOLDER}/good", folder)
        change(blobs(folder)[kind][0])
        yield server.send("PUT", "/_snapshot/evil?verify=false", {"type": "fs", "settings": {"location": folder, "compress": False}})
        for method, path, *body in READS:
            status, answer = server.send(method, path, *body, timeout=90)
            is_told = status == 500 and (b"repository_" in answer or b"snapshot_" in answer or b"corrupt" in answer)
            yield (400 if is_told else status), f"{method} {path}: ".encode() + answer[:300]
        shutil.rmtree(folder, ignore_errors=True)
    return acts(name, act, OK + REFUSED, cleanup=[("DELETE", "/re-*?expand_wildcards=all"), ("DELETE", "/_snapshot/evil")], seconds=120)


def member(name, text):
    """Sets a member to JSON that is given as bytes."""
    def change(path):
        value = opened(path)
        value[name] = "@@@"
        write(path, json.dumps(value).encode().replace(b'"@@@"', text()))
    return change


def shards(one):
    def change(path):
        value = opened(path)
        for entry in value["snapshots"]:
            for index in entry["indices"].values():
                index["shards"] = [one] * 3_000_000
        write(path, json.dumps(value).encode())
    return change


def snapshots(count):
    def change(path):
        value = opened(path)
        one = value["snapshots"][0]
        value["snapshots"] = [{**one, "name": f"s{n}"} for n in range(count)] + [one]
        write(path, json.dumps(value).encode())
    return change


def sparse(path):
    os.truncate(path, 900 << 20)


def wide(item, count):
    return lambda: b"[" + b",".join([item] * count) + b"]"


CASES = [
    Case("status_of_all", "GET", "/_snapshot/many/_all/_status", None, seconds=60),
    Case("status_at_once", "GET", "/_snapshot/many/_all/_status", None, clients=6, seconds=60),
    Case("all_at_once", "GET", "/_snapshot/many/_all?verbose=true&index_details=true", None, clients=6, seconds=60),
    evil("root_wide", "root", member("lineage", wide(b'""', 20_000_000))),
    evil("root_claims_much", "root", lambda path: write(path, b"{}", claimed=900 << 20, kind=1)),
    evil("root_claims_less", "root", lambda path: write(path, json.dumps(opened(path)).encode(), claimed=3)),
    evil("root_sparse", "root", sparse),
    evil("snapshot_sparse", "snapshot", sparse),
    evil("meta_sparse", "meta", sparse),
    evil("shards_many", "root", shards("x")),
    evil("shards_null", "root", shards(None)),
    evil("snapshots_many", "root", snapshots(100_000)),
    evil("metadata_wide", "snapshot", member("metadata", wide(b"[]", 12_000_000))),
    evil("metadata_objects", "snapshot", member("metadata", wide(b'{"":0}', 8_000_000))),
    evil("metadata_at_limit", "snapshot", member("metadata", wide(b"[]", 600_000))),
    evil("global_state_wide", "snapshot", member("global_state", lambda: b'{"settings":' + wide(b"[]", 12_000_000)() + b"}")),
    evil("settings_wide", "meta", member("settings", lambda: b'{"a":' + wide(b"[]", 12_000_000)() + b"}")),
    evil("settings_at_limit", "meta", member("settings", lambda: b'{"a":' + wide(b"[]", 600_000)() + b"}")),
    evil("mappings_wide", "meta", member("mappings", lambda: b'{"properties":{' + b",".join(b'"f%d":{"type":"text"}' % n for n in range(500_000)) + b"}}")),
    evil("mappings_at_limit", "meta", member("mappings", lambda: b'{"properties":{' + b",".join(b'"f%d":{"type":"text"}' % n for n in range(150_000)) + b"}}")),
]
