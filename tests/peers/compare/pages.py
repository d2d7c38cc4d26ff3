"""Sends a request, or reads the pages of one as a client would."""
import json

from .servers import call


def answer(base, request):
    """Status and body; of several pages the first answer with the hits of all."""
    if not request.pages:
        return call(base, "POST", request.url(), request.body)
    return {"scroll": scroll, "search_after": search_after, "pit": point_in_time}[request.pages](base, request)


def scroll(base, request):
    status, first = call(base, "POST", request.url() + ("&" if request.params else "?") + "scroll=1m", request.body)
    if status != 200:
        return status, first
    hits, last = list(first["hits"]["hits"]), first
    for _ in range(request.page_count - 1):
        if not last["hits"]["hits"]:
            break
        status, last = call(base, "POST", "/_search/scroll", {"scroll": "1m", "scroll_id": last["_scroll_id"]})
        if status != 200:
            return status, last
        hits += last["hits"]["hits"]
    call(base, "DELETE", "/_search/scroll", {"scroll_id": last["_scroll_id"]})
    return 200, with_hits(first, hits)


def search_after(base, request, url=None, rest=None):
    body, hits, first = {**request.body, **(rest or {})}, [], None
    for _ in range(request.page_count):
        status, page = call(base, "POST", url or request.url(), body)
        if status != 200:
            return status, page
        first = first or page
        hits += page["hits"]["hits"]
        if not page["hits"]["hits"]:
            break
        body["search_after"] = page["hits"]["hits"][-1]["sort"]
    for hit in hits:
        hit["sort"] = hit["sort"][:len(request.body["sort"])]
    return 200, with_hits(first, hits)


def point_in_time(base, request):
    for path in (f"/{request.index}/_pit?keep_alive=1m", f"/{request.index}/_search/point_in_time?keep_alive=1m"):
        status, opened = call(base, "POST", path)
        if status == 200:
            break
    if status != 200:
        return 400, {"error": {"type": "no_point_in_time", "reason": "no handler found for uri " + json.dumps(opened)[:100]}}
    own = opened.get("id") or opened.get("pit_id")
    found = search_after(base, request, "/_search", {"pit": {"id": own, "keep_alive": "1m"}})
    call(base, "DELETE", "/_pit", {"id": own})
    return found


def with_hits(first, hits):
    return {**first, "hits": {**first["hits"], "hits": hits}}
