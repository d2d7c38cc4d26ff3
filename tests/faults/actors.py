"""Clients that change documents and aliases, each with what it knows of the state it made.

An actor prepares its indices, makes one change a step, and checks everything it owns when all rest. Its requests may fail or break at any
moment: it then keeps both outcomes, and the check accepts either, but nothing between them.
"""
from ledger import Ledger, Operation, send_bulk, send_one
from server import Broken, is_unknown, reason


class Actor:
    name = "actor"

    def __init__(self, findings):
        self.findings = findings
        self.tokens = 0

    def token(self):
        self.tokens += 1
        return f"{self.name}-{self.tokens}"

    def prepare(self, client):
        """Creates what the actor works on, on an empty server."""

    def step(self, client, rng):
        """One change. Raises `Broken` when the server is gone."""

    def check(self, client, settle):
        """Holds the server against what is known, while nothing changes. `settle`: see `Ledger.check`."""

    def indices(self):
        """Names that flush, refresh and merge may be sent to."""
        return []

    def may_exist(self, index):
        return index in self.indices()


def create(client, path, body):
    status, answer = client.call("PUT", path, body)
    if status != 200:
        raise RuntimeError(f"PUT {path} answered {status}: {reason(answer)}")


def settings(shards, **more):
    return {"number_of_shards": shards, "number_of_replicas": 0, **more}


class Documents(Actor):
    """Bulks over two indices of ten and two shards, with and without ids, updates and deletes, new fields now and then."""

    IDS = 250
    NAMELESS_MAX = 150
    INDICES = (("ledger", 10), ("second", 2))

    def __init__(self, findings, number=0, first=None):
        """`first`: the actor that owns the indices; this one writes to them as well, beside it."""
        super().__init__(findings)
        self.name = f"documents{number}"
        self.is_first = first is None
        self.ledger = Ledger(findings) if first is None else first.ledger
        self.fields = 0

    @staticmethod
    def several(findings, number):
        """That many, all on the same indices."""
        first = Documents(findings)
        return [first, *(Documents(findings, other, first) for other in range(1, number))]

    def prepare(self, client):
        for index, shards in self.INDICES if self.is_first else ():
            more = {"index.translog.flush_threshold_size": "256kb", "index.refresh_interval": "200ms"}
            create(client, f"/{index}", {"settings": settings(shards, **more)})

    def indices(self):
        return [index for index, _ in self.INDICES]

    def source(self, rng):
        source = {"t": self.token(), "value": rng.randrange(1000), "text": "alpha beta gamma"[:rng.randrange(17)]}
        if rng.random() < 0.02 and self.fields < 200:
            self.fields += 1
            source[f"{self.name}-field{self.fields}"] = self.fields
        return source

    def operation(self, rng):
        index = "ledger" if rng.random() < 0.8 else "second"
        kind = rng.choices(("index", "create", "update", "delete", "nameless"), (50, 10, 20, 12, 8))[0]
        if kind == "nameless":
            return Operation("index", index, None, self.source(rng))
        id = f"{self.name}-{index[0]}{rng.randrange(self.IDS)}"
        if not self.ledger.is_settled(id):
            kind = "index"
        source = {"t": self.token()} if kind == "update" else {} if kind == "delete" else self.source(rng)
        return Operation(kind, index, id, source)

    def step(self, client, rng):
        way = rng.random()
        if way < 0.15:
            operation = self.operation(rng)
            return send_one(client, operation, self.ledger, operation.index)
        if way < 0.2:
            return self.delete_nameless(client)
        operations = [self.operation(rng) for _ in range(rng.choice((1, 3, 10, 40)))]
        return send_bulk(client, operations, self.ledger)

    def delete_nameless(self, client):
        """Documents whose ids the server chose are never overwritten, so the oldest are deleted."""
        own = self.ledger.live_ids(f'"{self.name}-')
        nameless = [(index, id) for index, id in own if not id.startswith(self.name)]
        doomed = [Operation("delete", index, id) for index, id in nameless[:max(0, len(nameless) - self.NAMELESS_MAX)]]
        return not doomed or send_bulk(client, doomed, self.ledger)

    def check(self, client, settle):
        if self.is_first:
            self.ledger.check(client, ",".join(self.indices()), settle)


class Swaps(Actor):
    """An alias that moves between two indices, and documents that are written through it."""

    name = "swaps"
    KEPT = 60

    def __init__(self, findings):
        super().__init__(findings)
        self.ledger = Ledger(findings)
        self.possible = {"left"}

    def prepare(self, client):
        create(client, "/left", {"settings": settings(1), "aliases": {"swap": {}}})
        create(client, "/right", {"settings": settings(1)})

    def indices(self):
        return ["left", "right"]

    def step(self, client, rng):
        if rng.random() < 0.5:
            return self.swap(client, rng.choice(("left", "right")))
        live = self.ledger.live_ids()
        if len(live) > self.KEPT:
            return send_bulk(client, [Operation("delete", *doc) for doc in live[:10]], self.ledger)
        token = self.token()
        return send_one(client, Operation("index", "swap", token, {"t": token}), self.ledger)

    def swap(self, client, target):
        actions = [{"remove": {"indices": ["left", "right"], "alias": "swap"}}, {"add": {"index": target, "alias": "swap"}}]
        try:
            status, answer = client.call("POST", "/_aliases", {"actions": actions})
        except Broken:
            self.possible.add(target)
            raise
        if status == 200:
            self.findings.count("alias swaps")
            self.possible = {target}
        elif is_unknown(status):
            self.possible.add(target)
        elif client.strict or status == 404:
            self.findings.add("half", f"swap of the alias to {target} answered {status}: {reason(answer)}")
        return status == 200

    def check(self, client, settle):
        status, answer = client.call("GET", "/_alias/swap")
        found = set(answer) if status == 200 else set()
        if len(found) != 1 or not found <= self.possible:
            self.findings.add("half", f"the alias is on {sorted(found)}, possible is one of {sorted(self.possible)}")
        if settle:
            self.possible = found or {"left"}
        self.ledger.check(client, "left,right", settle)


class Appends(Actor):
    """Documents that are appended to something that rolls over; its oldest indices are deleted."""

    target = ""
    INDICES_MAX = 4

    def __init__(self, findings):
        super().__init__(findings)
        self.ledger = Ledger(findings)
        # Oldest first; the last is written to.
        self.known = []
        self.rollovers_unknown = 0
        self.deletions_unknown = set()

    def indices(self):
        return [self.target]

    def step(self, client, rng):
        way = rng.random()
        if way < 0.15:
            return self.roll_over(client)
        deletable = [index for index in self.known if index not in self.deletions_unknown]
        if way < 0.3 and len(deletable) > self.INDICES_MAX:
            return self.delete(client, deletable[0])
        sources = [(self.token(), rng.randrange(1000)) for _ in range(rng.choice((1, 5, 20)))]
        operations = [Operation("create", self.target, token, self.source(token, value)) for token, value in sources]
        if rng.random() < 0.2:
            return send_one(client, operations[0], self.ledger)
        return send_bulk(client, operations, self.ledger)

    def source(self, token, value):
        return {"t": token, "value": value, "@timestamp": f"2026-01-01T00:00:{value % 60:02}Z"}

    def roll_over(self, client):
        try:
            status, answer = client.call("POST", f"/{self.target}/_rollover")
        except Broken:
            self.rollovers_unknown += 1
            raise
        if status != 200:
            self.rollovers_unknown += is_unknown(status)
            if client.strict:
                self.findings.add("refused", f"rollover of {self.target} {status}: {reason(answer)}")
            return False
        self.findings.count("rollovers")
        if answer["old_index"] not in self.known:
            if not self.rollovers_unknown:
                self.findings.add("wrong", f"rollover of {self.target} from {answer['old_index']}, known are {self.known}")
            self.known.append(answer["old_index"])
        self.known.append(answer["new_index"])
        # An earlier one either showed as the old index now, or never happened.
        self.rollovers_unknown = 0
        return True

    def delete(self, client, index):
        try:
            status, answer = client.call("DELETE", f"/{index}")
        except Broken:
            self.deletions_unknown.add(index)
            raise
        if status == 200:
            self.known.remove(index)
            self.ledger.forget(index)
        elif is_unknown(status):
            self.deletions_unknown.add(index)
        elif client.strict:
            self.findings.add("lost", f"DELETE {index} {status}: {reason(answer)}")
        return status == 200

    def check(self, client, settle):
        found, write_index, orphans = self.found(client)
        if found is None:
            return
        gone = [index for index in self.known if index not in found]
        added = [index for index in found if index not in self.known]
        if not set(gone) <= self.deletions_unknown:
            self.findings.add("lost", f"{self.target} misses {gone}, known are {self.known}, found {found}")
        if len(added) > self.rollovers_unknown:
            self.findings.add("invented", f"{self.target} has {added} more, known are {self.known}")
        if write_index != [found[-1]]:
            self.findings.add("half", f"{self.target} is written to {write_index} and has {found}")
        if orphans:
            self.findings.add("half", f"{orphans} are not in {self.target}, which has {found}")
        if settle:
            for index in gone:
                self.ledger.forget(index)
            self.known, self.rollovers_unknown, self.deletions_unknown = found, 0, set()
        self.ledger.check(client, self.target, settle, gone)

    def found(self, client):
        """Indices of the target, oldest first; those that are written to; those with its name that are not part of it."""
        raise NotImplementedError


class Rolls(Appends):
    """An alias with a write index."""

    name = "rolls"
    target = "roll"

    def prepare(self, client):
        create(client, "/_index_template/rolls", {"index_patterns": ["roll-*"], "template": {"settings": settings(2)}})
        create(client, "/roll-000001", {"aliases": {"roll": {"is_write_index": True}}})
        self.known = ["roll-000001"]

    def may_exist(self, index):
        return index.startswith("roll-0")

    def found(self, client):
        status, answer = client.call("GET", "/roll-*/_alias")
        if status != 200 or not answer:
            self.findings.add("lost", f"GET /roll-*/_alias {status}: {reason(answer)}")
            return None, [], []
        aliased = {index: entry["aliases"].get("roll") for index, entry in answer.items()}
        found = sorted(index for index, alias in aliased.items() if alias is not None)
        written = [index for index in found if aliased[index].get("is_write_index")]
        if not found:
            self.findings.add("half", f"no index has the alias roll, there are {sorted(answer)}")
            return None, [], []
        return found, written, sorted(set(answer) - set(found))


class Streams(Appends):
    """A data stream."""

    name = "streams"
    target = "stream"

    def prepare(self, client):
        template = {"index_patterns": ["stream*"], "data_stream": {}, "template": {"settings": settings(2)}}
        create(client, "/_index_template/streams", template)
        create(client, "/_data_stream/stream", None)
        self.known = self.found(client)[0]

    def may_exist(self, index):
        return index.startswith(".ds-stream-")

    def found(self, client):
        status, answer = client.call("GET", "/_data_stream/stream")
        if status != 200:
            self.findings.add("lost", f"GET /_data_stream/stream {status}: {reason(answer)}")
            return None, [], []
        found = [index["index_name"] for index in answer["data_streams"][0]["indices"]]
        status, answer = client.call("GET", "/.ds-stream-*/_settings?expand_wildcards=all")
        there = sorted(answer) if status == 200 else []
        if not set(found) <= set(there):
            self.findings.add("half", f"the stream names {found}, there are {there}")
        return found, [found[-1]], sorted(set(there) - set(found))


class Churn(Actor):
    """An index that is deleted and created again under its name."""

    name = "churn"
    MAPPINGS = {"properties": {"t": {"type": "keyword"}}}
    SHARDS = (1, 2, 3)

    def __init__(self, findings):
        super().__init__(findings)
        self.ledger = Ledger(findings)
        self.possible = {"absent"}
        self.uuid = None

    def indices(self):
        return [self.name]

    def step(self, client, rng):
        if self.possible == {"absent"}:
            return self.create_index(client, rng)
        if len(self.possible) == 2:
            return self.learn(client, rng)
        if rng.random() < 0.12:
            return self.delete_index(client)
        return self.change(client, rng)

    def create_index(self, client, rng):
        body = {"settings": settings(rng.choice(self.SHARDS)), "mappings": self.MAPPINGS}
        try:
            status, answer = client.call("PUT", f"/{self.name}", body)
        except Broken:
            self.possible, self.uuid = {"absent", "present"}, None
            raise
        if status == 200:
            self.findings.count("indices created")
            self.possible, self.uuid = {"present"}, None
            self.uuid = self.uuid_now(client)
            self.created()
        elif is_unknown(status):
            self.possible, self.uuid = {"absent", "present"}, None
        elif client.strict or status == 400:
            self.findings.add("wrong", f"PUT {self.name} {status}: {reason(answer)}")
        return status == 200

    def created(self):
        for index in [self.name]:
            self.ledger.forget(index)

    def delete_index(self, client):
        try:
            status, answer = client.call("DELETE", f"/{self.name}")
        except Broken:
            self.possible = {"absent", "present"}
            raise
        if status == 200:
            self.findings.count("indices deleted")
            self.possible, self.uuid = {"absent"}, None
            self.ledger.forget(self.name)
        elif is_unknown(status):
            self.possible = {"absent", "present"}
        else:
            self.findings.add("lost", f"DELETE {self.name} {status}: {reason(answer)}")
        return status == 200

    def uuid_now(self, client):
        status, answer = client.call("GET", f"/{self.name}/_settings")
        return answer[self.name]["settings"]["index"]["uuid"] if status == 200 else None

    def learn(self, client, rng):
        """After a failed creation or deletion: goes on with what the server shows."""
        uuid = self.uuid_now(client)
        if uuid is None:
            return self.create_index(client, rng)
        if self.uuid not in (None, uuid):
            self.findings.add("wrong", f"{self.name} was {self.uuid} and is {uuid}")
        self.uuid = uuid
        token = self.token()
        done = send_one(client, Operation("index", self.name, token, {"t": token}), self.ledger, self.name)
        if done:
            # What acknowledges a write is there, and stays.
            self.possible = {"present"}
        return done

    def change(self, client, rng):
        operations = []
        for _ in range(rng.choice((1, 5, 20))):
            kind = rng.choices(("index", "update", "delete"), (70, 15, 15))[0]
            id = f"{self.name}-{rng.randrange(40)}"
            if not self.ledger.is_settled(id):
                kind = "index"
            operations.append(Operation(kind, self.name, id, {} if kind == "delete" else {"t": self.token()}))
        return send_bulk(client, operations, self.ledger, self.name)

    def check(self, client, settle):
        uuid = self.uuid_now(client)
        if uuid is None:
            if "absent" not in self.possible:
                self.findings.add("lost", f"index {self.name} is gone, {len(self.ledger.docs)} documents with it")
            if settle:
                self.possible, self.uuid = {"absent"}, None
                self.ledger.forget(self.name)
            return
        if "present" not in self.possible:
            self.findings.add("invented", f"index {self.name} was deleted and is there again")
        if self.uuid not in (None, uuid):
            self.findings.add("wrong", f"index {self.name} was {self.uuid} and is {uuid}")
        if settle:
            self.possible, self.uuid = {"present"}, uuid
        self.ledger.check(client, self.name, settle)
