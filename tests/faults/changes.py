"""Clients that change rules and settings: mappings that get tighter, templates, pipelines, durability, snapshots."""
import json

from actors import Actor, Churn, Documents, Rolls, Streams, Swaps, create, settings
from ledger import HITS_MAX, Operation, send_bulk
from server import Broken, is_unknown, reason


class Tightened(Churn):
    """An index whose rules get stricter than documents that it has acknowledged."""

    name = "tightened"
    SHARDS = (1, 2)
    # `n`, `day` and `deep` are not mapped at first and take anything; `parts` are nested objects.
    MAPPINGS = {"dynamic": False, "properties": {"t": {"type": "keyword"}, "parts": {"type": "nested"}}}
    LIMITS = ({"index.mapping.nested_objects.limit": 1}, {"index.mapping.depth.limit": 2},
              {"index.mapping.total_fields.limit": 3})

    def __init__(self, findings):
        super().__init__(findings)
        self.is_tight = False

    def created(self):
        super().created()
        self.is_tight = False

    def check(self, client, settle):
        super().check(client, settle)
        self.is_tight = True

    def change(self, client, rng):
        way = rng.random()
        if way < 0.2:
            return self.tighten(client, rng)
        return send_bulk(client, [self.loose_or_good(rng) for _ in range(rng.choice((1, 4, 12)))], self.ledger, self.name)

    def loose_or_good(self, rng):
        token = self.token()
        source = {"t": token}
        if not self.is_tight:
            source.update(n="not a number", day="not a day", deep={"a": {"b": {"c": {"d": 1}}}}, parts=[{"x": 1}] * 5)
        return Operation("index", self.name, token, source)

    def tighten(self, client, rng):
        self.is_tight = True
        mapping = ({"properties": {"n": {"type": "integer"}}}, {"properties": {"day": {"type": "date"}}},
                   {"dynamic": "strict"}, {"properties": {"deep": {"type": "keyword"}}})
        if rng.random() < 0.6:
            path, body = f"/{self.name}/_mapping", rng.choice(mapping)
        else:
            path, body = f"/{self.name}/_settings", rng.choice(self.LIMITS)
        status, _ = client.call("PUT", path, body)
        self.findings.count("mappings tightened", status == 200)
        return not is_unknown(status)


class Rules(Actor):
    """Templates, pipelines, scripts and settings of the cluster. Each says in its body which change made it."""

    name = "rules"
    PATHS = ("/_index_template/rule-a", "/_index_template/rule-b", "/_component_template/rule-c", "/_ingest/pipeline/rule-d",
             "/_ingest/pipeline/rule-e", "/_scripts/rule-f", "/_cluster/settings")

    def __init__(self, findings):
        super().__init__(findings)
        self.possible = {path: {None} for path in self.PATHS}
        self.changes = 0

    def step(self, client, rng):
        path = rng.choice(self.PATHS)
        self.changes += 1
        value = None if rng.random() < 0.2 and path != "/_cluster/settings" else self.changes
        try:
            if value is None:
                status, answer = client.call("DELETE", path)
            else:
                status, answer = client.call("PUT", path, self.body(path, value))
        except Broken:
            self.possible[path].add(value)
            raise
        if status == 404 and value is None:
            # Nothing was changed, so what a failed change left open stays open.
            if None not in self.possible[path]:
                self.findings.add("lost", f"DELETE {path} finds nothing, it was {self.possible[path]}")
        elif status == 200:
            self.findings.count("rules changed")
            self.possible[path] = {value}
        elif is_unknown(status):
            self.possible[path].add(value)
        elif client.strict:
            self.findings.add("refused", f"{path} {status}: {reason(answer)}")
        return status in (200, 404)

    def body(self, path, value):
        if "_index_template" in path:
            return {"index_patterns": [path[-1] + "-nothing-*"], "version": value}
        if "_component_template" in path:
            return {"template": {}, "version": value}
        if "pipeline" in path:
            return {"processors": [], "version": value}
        if "_scripts" in path:
            return {"script": {"lang": "painless", "source": f"return {value};"}}
        return {"persistent": {"search.max_buckets": 10_000 + value}}

    def found(self, client, path):
        status, answer = client.call("GET", path)
        if status == 404 or not answer:
            return None
        if status != 200:
            return f"{status}: {reason(answer)}"
        if "_index_template" in path:
            return answer["index_templates"][0]["index_template"]["version"]
        if "_component_template" in path:
            return answer["component_templates"][0]["component_template"]["version"]
        if "pipeline" in path:
            return next(iter(answer.values()))["version"]
        if "_scripts" in path:
            return int(answer["script"]["source"].removeprefix("return ").removesuffix(";"))
        buckets = answer["persistent"].get("search", {}).get("max_buckets") or answer["persistent"].get("search.max_buckets")
        return None if buckets is None else int(buckets) - 10_000

    def check(self, client, settle):
        for path, possible in self.possible.items():
            found = self.found(client, path)
            if found not in possible:
                self.findings.add("lost" if found is None else "wrong", f"{path} is {found}, possible are {possible}")
            if settle:
                self.possible[path] = {found}


class Durability(Actor):
    """An index that is switched between `async` and `request`.

    What is acknowledged while it is `async` may be lost, but only from its end: an operation that is there proves all before it. What is there
    when the switch to `request` was answered stays there. Not all that was acknowledged before needs to be: a shard that failed meanwhile
    has lost what its log had not been given yet.
    """

    name = "durability"
    KEPT = 300

    def __init__(self, findings):
        super().__init__(findings)
        self.promised = {}
        self.hoped = {}
        self.sent = set()
        self.is_request = {True}

    def prepare(self, client):
        create(client, "/durability", {"settings": settings(1, **{"index.translog.sync_interval": "5s"})})

    def indices(self):
        return ["durability"]

    def step(self, client, rng):
        way = rng.random()
        if way < 0.1:
            return self.switch(client, rng.random() < 0.5)
        if way < 0.2 and len(self.promised) > self.KEPT:
            return self.start_over(client)
        tokens = [self.token() for _ in range(rng.choice((1, 3, 10)))]
        self.sent.update(tokens)
        lines = "".join(Operation("index", "durability", token, {"t": token}).lines() for token in tokens)
        status, answer = client.call("POST", "/_bulk", lines.encode())
        if status != 200:
            return False
        for item in answer["items"]:
            if item["index"]["status"] == 201:
                self.hoped[item["index"]["_id"]] = item["index"]["_seq_no"]
                self.findings.count("acknowledged")
        if self.is_request == {True}:
            self.promise()
        return not answer["errors"]

    def promise(self):
        self.promised.update(self.hoped)
        self.hoped.clear()

    def switch(self, client, to_request):
        self.is_request.add(to_request)
        wanted = "request" if to_request else "async"
        status, _ = client.call("PUT", "/durability/_settings", {"index.translog.durability": wanted})
        if status == 200:
            known = not to_request or self.promise_what_is_there(client)
            self.is_request = {to_request}
            return known
        return False

    def promise_what_is_there(self, client):
        status, found = self.search(client)
        if found is None:
            # Nobody knows what the switch found.
            self.hoped.clear()
            return False
        self.hoped = {id: seq_no for id, seq_no in self.hoped.items() if id in found}
        self.promise()
        return True

    def search(self, client):
        """Status and sequence numbers by id of what is there; `None` where shards failed."""
        client.call("POST", "/durability/_refresh")
        body = {"size": HITS_MAX, "seq_no_primary_term": True}
        status, answer = client.call("POST", "/durability/_search", body)
        if status != 200 or answer["_shards"]["failed"]:
            return f"{status}: {reason(answer)}", None
        return status, {hit["_id"]: hit["_seq_no"] for hit in answer["hits"]["hits"]}

    def start_over(self, client):
        """Deletes what is there, so that checks stay small."""
        self.promised.clear()
        self.hoped.clear()
        status, _ = client.call("POST", "/durability/_refresh")
        status, _ = client.call("POST", "/durability/_delete_by_query?refresh=true&conflicts=proceed", {"query": {"match_all": {}}})
        return status == 200

    def check(self, client, settle):
        status, found = self.search(client)
        if found is None:
            return self.findings.add("red", f"search of durability {status}")
        missing = [(seq_no, id) for id, seq_no in self.promised.items() if id not in found]
        if missing:
            self.findings.add("lost", f"durability: {len(missing)} of {len(self.promised)} promised, first {min(missing)}")
        last = max(found.values(), default=-1)
        holes = [(seq_no, id) for id, seq_no in self.hoped.items() if seq_no < last and id not in found]
        if holes:
            self.findings.add("lost", f"durability: {holes[:3]} are missing before {last}")
        if not set(found) <= self.sent:
            self.findings.add("invented", f"durability: {sorted(set(found) - self.sent)[:3]}")
        if settle:
            self.promised, self.hoped = found, {}
        return None


class Snapshots(Actor):
    """Snapshots of an index to a folder, some of which are restored; nothing where the server has no `_snapshot`."""

    name = "snapshots"
    KEPT = 4
    MAX = 50

    def __init__(self, findings, location):
        super().__init__(findings)
        self.location = location
        self.is_there = False
        self.documents = 0
        # Documents of each finished snapshot; and those that may or may not be there.
        self.finished = {}
        self.unknown = set()
        self.doomed = set()
        self.restored = None

    def prepare(self, client):
        body = {"type": "fs", "settings": {"location": str(self.location)}}
        strict, client.strict = client.strict, False
        status, answer = client.call("PUT", "/_snapshot/faults", body)
        client.strict = strict
        self.is_there = status == 200
        if not self.is_there:
            return print(f"snapshots: skipped, the server answers {status}: {reason(answer)}")
        create(client, "/copied", {"settings": settings(2)})
        return None

    def indices(self):
        return ["copied", "restored"] if self.is_there else []

    def step(self, client, rng):
        if not self.is_there:
            return True
        way = rng.random()
        if way < 0.5:
            return self.write(client)
        # A repository holds 500 at most, those that may be there included.
        if (way < 0.8 and len(self.finished) + len(self.unknown) < self.MAX) or not self.finished:
            return self.take(client)
        if len(self.finished) > self.KEPT:
            return self.delete(client, next(iter(self.finished)))
        return self.restore(client, rng.choice(sorted(self.finished)))

    def write(self, client):
        """Ids count up, so that the documents of a snapshot are known by their number."""
        ids = range(self.documents, self.documents + 10)
        body = "".join(Operation("index", "copied", str(id), {"t": f"copied-{id}"}).lines() for id in ids)
        status, answer = client.call("POST", "/_bulk?refresh=true", body.encode())
        if status == 200 and not answer["errors"]:
            self.documents += 10
        return status == 200

    def take(self, client):
        snapshot = f"snapshot-{self.token().split('-')[1]}"
        self.unknown.add(snapshot)
        path = f"/_snapshot/faults/{snapshot}?wait_for_completion=true"
        status, answer = client.call("PUT", path, {"indices": "copied", "include_global_state": False})
        if status == 200 and answer["snapshot"]["state"] == "SUCCESS":
            self.unknown.discard(snapshot)
            self.finished[snapshot] = self.documents
            self.findings.count("snapshots")
        elif not is_unknown(status):
            self.unknown.discard(snapshot)
            if client.strict:
                self.findings.add("refused", f"snapshot {status}: {reason(answer)}")
        return status == 200

    def delete(self, client, snapshot):
        self.doomed.add(snapshot)
        status, _ = client.call("DELETE", f"/_snapshot/faults/{snapshot}")
        if status == 200:
            self.finished.pop(snapshot)
            self.doomed.discard(snapshot)
        return status == 200

    def restore(self, client, snapshot):
        client.call("DELETE", "/restored")
        body = {"indices": "copied", "rename_pattern": "copied", "rename_replacement": "restored", "include_global_state": False}
        status, answer = client.call("POST", f"/_snapshot/faults/{snapshot}/_restore?wait_for_completion=true", body)
        if status != 200:
            if not is_unknown(status) and client.strict and snapshot not in self.doomed:
                self.findings.add("refused", f"restore of {snapshot} {status}: {reason(answer)}")
            return not is_unknown(status)
        status, answer = client.call("POST", "/restored/_search", {"size": HITS_MAX, "track_total_hits": True})
        self.findings.count("restores")
        ids = {int(hit["_id"]) for hit in answer["hits"]["hits"]} if status == 200 else set()
        # A bulk without an answer may be in it as well, in part.
        expected = set(range(self.finished[snapshot]))
        wrong = [hit["_id"] for hit in answer["hits"]["hits"] if hit["_source"] != {"t": f"copied-{hit['_id']}"}] if ids else []
        if not expected <= ids or wrong:
            missing = sorted(expected - ids)
            self.findings.add("lost", f"{snapshot} restored {len(ids)} of {len(expected)}, misses {missing[:5]}, wrong {wrong[:5]}")
        return True

    def check(self, client, settle):
        if not self.is_there:
            return
        status, answer = client.call("GET", "/_snapshot/faults/_all")
        if status != 200:
            self.findings.add("lost", f"GET /_snapshot/faults/_all {status}: {reason(answer)}")
            return
        found = {snapshot["snapshot"]: snapshot["state"] for snapshot in answer["snapshots"]}
        for snapshot in list(self.finished):
            if found.get(snapshot) == "SUCCESS":
                continue
            if snapshot in self.doomed and snapshot not in found:
                self.finished.pop(snapshot)
            else:
                self.findings.add("lost", f"{snapshot} was finished and is {found.get(snapshot)}")
                self.finished.pop(snapshot)
        strange = set(found) - set(self.finished) - self.unknown
        if strange:
            self.findings.add("invented", f"snapshots {sorted(strange)[:5]} were never asked for or were deleted")
        self.doomed.clear()
        status, answer = client.call("GET", "/copied/_count")
        if status != 200 or answer["count"] < self.documents:
            self.findings.add("lost", f"copied has {json.dumps(answer)[:200]}, acknowledged were {self.documents}")


def everyone(findings, writers, location):
    """The actors of a full run: several that write documents, and one of each other kind."""
    return [*Documents.several(findings, writers), Swaps(findings), Rolls(findings), Streams(findings), Churn(findings),
            Tightened(findings), Rules(findings), Durability(findings), Snapshots(findings, location)]
