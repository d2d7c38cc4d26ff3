"""The `es` of a runner: its requests are sent, and timed, by Limber's own HTTP client.

With the package `elasticsearch` (8 or newer) installed, `es` is its asynchronous client on a transport that hands requests
to Limber. Without it, `limber_api` gives the same calls for the interfaces in its table.
"""

import asyncio
import contextvars
import functools
import io
import json
import re
import time

import limber_sources

MEDIA_TYPE = re.compile(r"application/(?:vnd\.elasticsearch\+)?(json|x-ndjson)(?:;\s*compatible-with=\d+)?")


class Calls:
    """The requests of one run of a runner, on their way to Limber and back."""

    def __init__(self, link, seq):
        self._link = link
        self._seq = seq
        self._next = 0
        self._waiting = {}

    async def send(self, method, target, headers, body, timeout_s):
        """(status, body bytes) of a request, or a dict that says how it failed."""
        self._next += 1
        call = self._next
        future = self._waiting[call] = asyncio.get_running_loop().create_future()
        header = {"seq": self._seq, "call": call, "method": method, "target": target, "headers": headers, "timeout_s": timeout_s}
        self._link.send(header, body or b"")
        try:
            return await future
        finally:
            del self._waiting[call]

    def mark(self):
        """Limber's clock for the service time starts, or has its latest end, now."""
        self._link.send({"seq": self._seq, "mark": True})

    def answered(self, header, payload):
        future = self._waiting.get(header["call"])
        if future is not None and not future.done():
            failure = header.get("failure")
            future.set_result((failure, b"") if failure else (header["status"], payload))


class Contexts:
    """Rally's request contexts, as far as runners use them: nested times, and answers that stay bytes."""

    _context = contextvars.ContextVar("limber_request_context", default=None)

    def new_request_context(self):
        return Context(self._context)

    @classmethod
    def return_raw_response(cls):
        cls._of_now()["raw_response"] = True

    @classmethod
    def _of_now(cls):
        context = cls._context.get()
        if context is None:
            context = {}
            cls._context.set(context)
        return context

    @classmethod
    def wants_raw(cls):
        return (cls._context.get() or {}).get("raw_response", False)

    @classmethod
    def started(cls):
        cls._of_now().setdefault("request_start", time.perf_counter())

    @classmethod
    def ended(cls):
        cls._of_now()["request_end"] = time.perf_counter()

    def on_request_start(self):
        self.started()
        self._calls.mark()

    def on_request_end(self):
        self.ended()
        self._calls.mark()


class Context:
    def __init__(self, variable):
        self._variable = variable

    def __enter__(self):
        self._outer = self._variable.get()
        self._own = {}
        self._token = self._variable.set(self._own)
        return self

    def __exit__(self, *_):
        self._variable.reset(self._token)
        if self._outer is not None:
            if self.request_start is not None:
                self._outer.setdefault("request_start", self.request_start)
            if self.request_end is not None:
                self._outer["request_end"] = self.request_end
        return False

    @property
    def request_start(self):
        return self._own.get("request_start")

    @property
    def request_end(self):
        return self._own.get("request_end")


def compatible(headers, protocol):
    """Media types as this server takes them."""
    adapted = {}
    for name, value in (headers or {}).items():
        name = name.lower()
        if name in ("accept", "content-type"):
            value = MEDIA_TYPE.sub(lambda found: media_type(found.group(1), protocol), value)
        adapted[name] = value
    return adapted


def media_type(kind, protocol):
    return protocol.get("content_ndjson" if kind == "x-ndjson" else "content_json") or f"application/{kind}"


def guessed_type(body):
    """The media type of an answer, from how it begins."""
    start = body[:64].lstrip()[:1]
    return "application/json" if start in (b"{", b"[") else "text/plain"


async def exchanged(calls, method, target, headers, body, timeout_s):
    Contexts.started()
    try:
        return await calls.send(method, target, headers, body, timeout_s)
    finally:
        Contexts.ended()


def client(calls, protocol):
    """Rally's dict of clients by cluster."""
    import elasticsearch

    Contexts._context.set({})
    if not hasattr(elasticsearch, "AsyncElasticsearch"):
        import limber_api

        return {"default": limber_api.Elasticsearch(calls, protocol)}
    RUN.set((calls, protocol))
    return {"default": adapted_client()}


# Calls and protocol of the run that the current asyncio task belongs to.
RUN = contextvars.ContextVar("limber_run")


@functools.lru_cache(maxsize=None)
def adapted_client():
    """The real client on Limber's transport; one for all runs, as it takes long to make."""
    import elastic_transport
    import elasticsearch
    from elastic_transport import HttpHeaders
    from elastic_transport._node import NodeApiResponse

    class Node(elastic_transport.BaseAsyncNode):
        """Hands requests on. Which run they belong to is known by the context, as nodes are made by the transport."""

        async def perform_request(self, method, target, body=None, headers=None, request_timeout=None):
            calls, protocol = RUN.get()
            timeout_s = request_timeout if isinstance(request_timeout, (int, float)) else None
            started = time.perf_counter()
            status, answer = await exchanged(calls, method, target, compatible(headers, protocol), body, timeout_s)
            if isinstance(status, dict):
                raise transport_error(status)
            meta = elastic_transport.ApiResponseMeta(
                status=status,
                http_version="1.1",
                headers=HttpHeaders({"content-type": guessed_type(answer), "x-elastic-product": "Elasticsearch"}),
                duration=time.perf_counter() - started,
                node=self.config,
            )
            return NodeApiResponse(meta, answer)

        async def close(self):
            pass

    def transport_error(failure):
        if failure["kind"] == "timeout":
            return elastic_transport.ConnectionTimeout("Connection timed out", errors=())
        if failure["kind"] == "connection":
            return elastic_transport.ConnectionError(failure["description"], errors=())
        return elastic_transport.TransportError(failure["description"], errors=())

    class Client(elasticsearch.AsyncElasticsearch, Contexts):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self._verified_elasticsearch = True
            self.is_serverless = False

        @property
        def _calls(self):
            return RUN.get()[0]

        async def perform_request(self, method, path, *, params=None, headers=None, body=None, **kwargs):
            headers = dict(headers or {})
            if body is not None:
                headers.setdefault("content-type", "application/json")
            headers.setdefault("accept", "application/json")
            if Contexts.wants_raw():
                return await self._raw(method, path, params, headers, body)
            return await super().perform_request(method, path, params=params, headers=headers, body=body, **kwargs)

        async def _raw(self, method, path, params, headers, body):
            """The answer as bytes, for runners that look for a few properties only."""
            import limber_api

            calls, protocol = RUN.get()
            timeout_s = self._request_timeout if isinstance(self._request_timeout, (int, float)) else None
            target = limber_api.with_query(path, params)
            content = None
            if body is not None:
                content = limber_sources.lines(body) if isinstance(body, (list, tuple)) else limber_sources.dumped(body)
            started = time.perf_counter()
            status, answer = await exchanged(calls, method, target, compatible(headers, protocol), content, timeout_s)
            if isinstance(status, dict):
                raise transport_error(status)
            meta = elastic_transport.ApiResponseMeta(
                status=status, http_version="1.1", headers=HttpHeaders(), duration=time.perf_counter() - started, node=None
            )
            if not 200 <= status < 299:
                error = elasticsearch.exceptions.HTTP_EXCEPTIONS.get(status, elasticsearch.ApiError)
                raise error(message=answer.decode("utf-8", "replace"), meta=meta, body=answer)
            return elastic_transport.ApiResponse(body=io.BytesIO(answer), meta=meta)

    return Client(hosts=["http://limber:80"], node_class=Node, max_retries=0, retry_on_timeout=False)


def parsed(body):
    """An answer's JSON, or its text."""
    if guessed_type(body) == "application/json":
        try:
            return json.loads(body)
        except ValueError:
            pass
    return body.decode("utf-8", "replace")
