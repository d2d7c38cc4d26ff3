"""One hostile request, and what may be answered."""

import json
import threading
import time

OK = (200, 201)
REFUSED = (400, 403, 404, 405, 406, 408, 409, 413, 415, 422, 429)


class Case:
    """A request of the corpus.

    name: unique within its class.
    method, path, body: the request; `body` is text, bytes, JSON as Python values, or a function that returns one of them (for large ones,
        so that they are held only while they are sent). A list of `Lines` items is sent as NDJSON.
    expect: the statuses that may be answered, a number or several. A status of 500 or more is never right.
    setup: requests made before it, as (method, path, body); each must be answered by less than 400.
    cleanup: requests made after it, whatever they answer; indices that `setup` makes are deleted without being named here.
    headers: further headers of the request.
    clients: how many send it at the same time.
    hang_up: seconds after which every client closes its connection without having read an answer; `expect` means nothing then.
    seconds: how long the answer may take.
    contains: text that the answer must contain.
    act: what is done instead of sending one request: a function of the server that returns the statuses of all answers that it got, or
        pairs of status and answer.
    """

    def __init__(self, name, method, path, body=None, expect=OK + REFUSED, setup=(), cleanup=(), headers=None, clients=1, hang_up=None,
                 seconds=30, contains=None, act=None):
        self.name = name
        self.method = method
        self.path = path
        self.body = body
        self.expect = (expect,) if isinstance(expect, int) else tuple(expect)
        self.setup = list(setup)
        self.cleanup = list(cleanup)
        self.headers = dict(headers or {})
        self.clients = clients
        self.hang_up = hang_up
        self.seconds = seconds
        self.contains = contains
        self.act = act


def acts(name, act, expect=OK + REFUSED, **more):
    """A case that is more than one request."""
    return Case(name, None, None, None, expect, act=act, **more)


def abandoned(name, method, path, body=None, clients=4, after=0.5, within=2.0, **more):
    """A request whose clients leave after some seconds; `within` seconds later nothing may work for them any more."""

    def act(server):
        data = encoded(body)[0]
        threads = [threading.Thread(target=server.hang_up, args=(method, path, data, after)) for _ in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        time.sleep(within)
        before = server.cpu_seconds()
        time.sleep(1)
        used = server.cpu_seconds() - before
        # The ordinary client takes some of it.
        yield (200 if used < 0.6 else 500), f"{used:.2f} s of processor in a second after the clients left".encode()

    return acts(name, act, OK, **more)


def encoded(body):
    """The bytes of a body in any of its forms, and their media type."""
    if callable(body):
        body = body()
    if body is None:
        return b"", None
    if isinstance(body, bytes):
        return body, "application/json"
    if isinstance(body, str):
        return body.encode(), "application/json"
    if isinstance(body, Lines):
        return b"".join(line.encode() + b"\n" for line in body.lines()), "application/x-ndjson"
    return json.dumps(body).encode(), "application/json"


class Lines:
    """NDJSON: lines of JSON, given as text or as Python values."""

    def __init__(self, items):
        self.items = items

    def lines(self):
        for item in self.items:
            yield item if isinstance(item, str) else json.dumps(item)


def several(name, requests, expect=OK + REFUSED, **more):
    """Requests one after the other, as (method, path, body), each of which is judged."""

    def act(server):
        for method, path, *body in requests:
            status, answer = server.send(method, path, *body)
            yield status, f"{method} {path[:100]}: ".encode() + answer[:300]

    return acts(name, act, expect, **more)


def rested(name, method, path, body, expect=OK + REFUSED, **more):
    """A request to a server that has forgotten the memory of the last one: for some seconds it refuses what it would have carried out."""

    def act(server):
        time.sleep(4)
        server.forget_peak()
        yield server.send(method, path, body, timeout=90)

    return acts(name, act, expect, **{"seconds": 60, **more})
