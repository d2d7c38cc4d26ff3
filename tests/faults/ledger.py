"""A ledger of operations: what was sent, what was acknowledged, and so which states each document may be in.

A request that was answered with success leaves a document in one state, with the sequence number and the version of the answer. One that
failed, or whose connection broke, has an unknown outcome: the document may be in its state from before or in the one after. The ledger
holds every document against that: in each answer while the server runs, and in full after a restart.

Every source that is sent carries a token of its own, so a source that was never sent is told from one that was.
"""
import json
from dataclasses import dataclass, field, replace

from server import Broken, is_unknown, reason

# The most hits that one search answers; no index here holds as many.
HITS_MAX = 10_000
# States that one document may be in at most; a document with more is not written to until it was read.
STATES_MAX = 64


@dataclass(frozen=True)
class State:
    """A document as it may be found. `version` and `seq_no` are known when the operation was acknowledged."""

    source: str | None
    version: int | None = None
    seq_no: int | None = None

    def admits(self, found):
        return (self.source == found.source and self.version in (None, found.version)
                and self.seq_no in (None, found.seq_no))


ABSENT = State(None)


@dataclass(frozen=True)
class Operation:
    """`kind` is `index`, `create`, `update` or `delete`; `id` is `None` where the server chooses one."""

    kind: str
    index: str
    id: str | None
    source: dict = field(default_factory=dict, hash=False)

    def apply(self, state):
        """The state after the operation, if it was performed."""
        if self.kind == "delete":
            return ABSENT
        if self.kind == "update":
            return state if state.source is None else State(text({**json.loads(state.source), **self.source}))
        if self.kind == "create" and state.source is not None:
            return state
        return State(text(self.source))

    def lines(self):
        """The operation in a bulk."""
        target = {"_index": self.index} if self.id is None else {"_index": self.index, "_id": self.id}
        lines = json.dumps({self.kind: target}) + "\n"
        if self.kind == "update":
            lines += json.dumps({"doc": self.source}) + "\n"
        elif self.kind != "delete":
            lines += json.dumps(self.source) + "\n"
        return lines


@dataclass
class Known:
    """`index` is where the document lies; `None` while it may lie in several, because it was sent to an alias."""

    index: str | None
    states: list


def text(source):
    return json.dumps(source, sort_keys=True)


class Ledger:
    """The documents of one actor, or of several that write to the same index.

    An id is used by one client only, so that its operations have an order.
    """

    def __init__(self, findings, one_shard=False):
        self.findings = findings
        self.docs = {}
        # Sources sent without an id whose outcome is unknown.
        self.nameless = set()
        # Sources that were answered with 429 after a fault. Elasticsearch's clients take that for "not done" and send them again.
        self.pushed_back = set()
        # In indices of one shard no sequence number is given to two operations.
        self.one_shard = one_shard
        self.seq_nos = {}

    def ids(self, index):
        return [id for id, known in list(self.docs.items()) if known.index == index]

    def live_ids(self, token=""):
        """Ids that certainly hold a document, with their index; those whose source has the token."""
        return [(known.index, id) for id, known in list(self.docs.items())
                if known.index and all(state.source is not None and token in state.source for state in known.states)]

    def is_settled(self, id):
        return id not in self.docs or len(self.docs[id].states) < STATES_MAX

    def unanswered(self, operation, index=None):
        """The request failed or broke. `index`: where it can have gone only."""
        self.findings.count("unknown")
        if operation.id is None:
            self.nameless.add(text(operation.source))
            return
        known = self.docs.setdefault(operation.id, Known(index, [ABSENT]))
        known.states = distinct(known.states + [operation.apply(state) for state in known.states])

    def answered(self, operation, item, strict, index=None):
        """One item of an answer: acknowledged, refused, or failed."""
        status = item["status"]
        if 200 <= status < 300 or (status == 404 and item.get("result") == "not_found"):
            self.acknowledged(operation, item)
        elif is_unknown(status):
            if status == 429 and operation.source:
                self.pushed_back.add(text(operation.source))
            self.unanswered(operation, index)
            if strict:
                self.findings.add("refused", f"{operation.kind} {operation.index}/{operation.id} {status}: {reason(item)}")
        else:
            self.declined(operation, status, item, strict)

    def acknowledged(self, operation, item):
        self.findings.count("acknowledged")
        id, result, index = item["_id"], item["result"], item["_index"]
        version, seq_no = item["_version"], item["_seq_no"]
        known = self.docs.setdefault(id, Known(index, [ABSENT]))
        known.index = index
        before = [state for state in known.states if fits(state, result, version)]
        if not before:
            kind = "lost" if result in ("created", "not_found") else "wrong"
            self.findings.add(kind, f"{operation.kind} of {index}/{id} says {result}, version {version}, while it was {known.states}")
            before = known.states
        known.states = distinct([replace(operation.apply(state), version=version, seq_no=seq_no) for state in before])
        if self.one_shard:
            other = self.seq_nos.setdefault((index, seq_no), id)
            if other != id:
                self.findings.add("duplicated", f"sequence number {seq_no} of {index} was given to {other} and to {id}")

    def declined(self, operation, status, item, strict):
        """The operation was not performed. A conflict and a missing document say what the server holds."""
        self.findings.count("declined")
        known = self.docs.get(operation.id, Known(None, [ABSENT]))
        missing = item.get("error", {}).get("type") == "document_missing_exception"
        if operation.kind == "update" and status == 404 and missing:
            if all(state.source is not None for state in known.states):
                self.findings.add("lost", f"update of {operation.index}/{operation.id} finds nothing, it was {known.states}")
        elif operation.kind == "create" and status == 409:
            if all(state.source is None for state in known.states):
                self.findings.add("invented", f"create of {operation.index}/{operation.id} finds a document")
        elif strict:
            self.findings.add("refused", f"{operation.kind} {operation.index}/{operation.id} {status}: {reason(item)}")

    def forget(self, index):
        """The index was deleted."""
        for id in self.ids(index):
            del self.docs[id]
        self.seq_nos = {key: id for key, id in self.seq_nos.items() if key[0] != index}

    def check(self, client, pattern, settle=True, absent=()):
        """Holds every document under `pattern` against the ledger, by realtime get and by search; both must agree.

        `settle`: afterwards each document is known to be in the state it was found in. That holds after a restart only: while the server
        runs, what a failed operation left behind may still come or go. `absent`: indices that are gone for now.
        """
        by_get = self.read_by_get(client, absent)
        status, answer = client.call("POST", f"/{pattern}/_refresh")
        if status != 200 or answer["_shards"]["failed"]:
            self.findings.add("red", f"refresh of {pattern} {status}: {reason(answer)}")
            return
        by_search = self.read_by_search(client, pattern)
        if by_get is None or by_search is None:
            return
        for id, (index, found) in by_search.items():
            known = self.docs.get(id)
            if found.source in self.pushed_back:
                self.findings.count("done though answered with 429")
                self.pushed_back.discard(found.source)
            if known is None and found.source in self.nameless:
                if settle:
                    self.docs[id] = Known(index, [found])
            elif known is None:
                self.findings.add("invented", f"{index}/{id} was never sent or was deleted, and holds {found}")
            elif known.index not in (None, index):
                self.findings.add("wrong", f"{id} lies in {index}, it was acknowledged in {known.index}")
        for id, known in list(self.docs.items()):
            index, found = by_search.get(id, (known.index, ABSENT))
            if known.index in absent:
                continue
            self.judge(id, known, found, by_get)
            if not settle:
                continue
            if found.source is None:
                del self.docs[id]
            else:
                self.docs[id] = Known(index, [found])
        if settle:
            self.nameless.clear()
        self.findings.count("documents read", len(by_search))

    def judge(self, id, known, found, by_get):
        place = f"{known.index}/{id}"
        got = by_get.get(id)
        if got is not None and got != found:
            self.findings.add("wrong", f"{place}: search finds {found}, get {got}")
        possible = [state for state in known.states if state.admits(found) or state.source is found.source is None]
        if not possible:
            is_older = all(state.seq_no is not None and state.seq_no > found.seq_no for state in known.states) if found.source else True
            kind = "lost" if is_older else "wrong"
            self.findings.add(kind, f"{place} holds {found}, possible are {known.states[:4]}")

    def read_by_get(self, client, absent):
        wanted = [{"_index": known.index, "_id": id} for id, known in self.docs.items()
                  if known.index and known.index not in absent]
        found = {}
        for start in range(0, len(wanted), 1000):
            status, answer = client.call("POST", "/_mget", {"docs": wanted[start:start + 1000]})
            if status != 200:
                self.findings.add("red", f"_mget {status}: {reason(answer)}")
                return None
            for doc in answer["docs"]:
                if "error" in doc:
                    self.findings.add("red", f"get of {doc['_index']}/{doc['_id']}: {reason(doc)}")
                    return None
                found[doc["_id"]] = state_of(doc) if doc["found"] else ABSENT
        return found

    def read_by_search(self, client, pattern):
        body = {"size": HITS_MAX, "track_total_hits": True, "version": True, "seq_no_primary_term": True}
        status, answer = client.call("POST", f"/{pattern}/_search", body)
        if status != 200 or answer["_shards"]["failed"]:
            self.findings.add("red", f"search of {pattern} {status}: {reason(answer)}")
            return None
        found = {}
        hits = answer["hits"]["hits"]
        if answer["hits"]["total"]["value"] != len(hits):
            self.findings.add("wrong", f"{pattern}: total {answer['hits']['total']}, {len(hits)} hits")
        for hit in hits:
            if hit["_id"] in found:
                self.findings.add("duplicated", f"{hit['_id']} in {hit['_index']} and in {found[hit['_id']][0]}")
            found[hit["_id"]] = (hit["_index"], state_of(hit))
        return found


def state_of(doc):
    return State(text(doc["_source"]), doc["_version"], doc["_seq_no"])


def fits(state, result, version):
    """Whether an operation on `state` can have had this result."""
    if result in ("created", "not_found"):
        return state.source is None
    return state.source is not None and state.version in (None, version - 1)


def distinct(states):
    return list(dict.fromkeys(states))


def send_bulk(client, operations, ledger, index=None):
    """Sends the operations as one bulk and enters the outcome of each; whether all was answered with success."""
    body = "".join(operation.lines() for operation in operations).encode()
    try:
        status, answer = client.call("POST", "/_bulk", body)
    except Broken:
        for operation in operations:
            ledger.unanswered(operation, index)
        raise
    if status == 200:
        for operation, item in zip(operations, answer["items"], strict=True):
            ledger.answered(operation, next(iter(item.values())), client.strict, index)
        return not answer["errors"]
    for operation in operations:
        ledger.answered(operation, {"status": status, **answer}, client.strict, index)
    return False


def send_one(client, operation, ledger, index=None):
    """The same for one document."""
    method, path, body = {
        "index": ("PUT", f"/{operation.index}/_doc/{operation.id}", operation.source),
        "create": ("PUT", f"/{operation.index}/_create/{operation.id}", operation.source),
        "update": ("POST", f"/{operation.index}/_update/{operation.id}", {"doc": operation.source}),
        "delete": ("DELETE", f"/{operation.index}/_doc/{operation.id}", None),
    }[operation.kind]
    if operation.id is None:
        method, path = "POST", f"/{operation.index}/_doc"
    try:
        status, answer = client.call(method, path, body)
    except Broken:
        ledger.unanswered(operation, index)
        raise
    ledger.answered(operation, {**answer, "status": status}, client.strict, index)
    return 200 <= status < 300
