"""Every search task of Rally's tracks geonames, geopoint, http_logs and nyc_taxis that is not ES|QL."""
import json, random

from .documents import rendered
from .requests import Request

TRACKS = ("geonames", "geopoint", "http_logs", "nyc_taxis")
INDEX = {"geonames": "geonames", "geopoint": "osmgeopoints", "http_logs": "logs-*", "nyc_taxis": "nyc_taxis"}
LARGE_TERMS = 4_000


def requests(track, documents):
    """The track's tasks once each; `documents` by index gives the names that the `large_*` tasks look for."""
    found = {}
    for schedule in rendered(track)["challenges"].values():
        for task in schedule:
            for request in of_task(track, task["params"], documents):
                found.setdefault(json.dumps([request.body, request.params, request.path], sort_keys=True), request)
    return list(found.values())


def of_task(track, params, documents):
    kind, index = params.get("operation-type"), params.get("index") or INDEX[track]
    given = [f"{name}={str(value).lower() if isinstance(value, bool) else value}" for name, value in (params.get("request-params") or {}).items()]
    if str(params.get("param-source", "")).endswith("terms-query-source"):
        yield Request(index, {"query": large_terms(params["param-source"], documents[index])})
    elif kind == "raw-request" and "_terms_enum" in params["path"]:
        yield Request(index, params["body"], "_terms_enum")
    elif kind in ("search", "paginated-search", "scroll-search"):
        if "cache" in params:
            given.append(f"request_cache={str(params['cache']).lower()}")
        size = params.get("results-per-page") or params.get("size")
        body = {**(params.get("body") or {}), **({"size": size} if size else {})}
        yield Request(index, body, params="&".join(given), pages="scroll" if params.get("pages") else "", page_count=params.get("pages") or 1)


def large_terms(source, lines):
    names = sorted({json.loads(line)["name"] for line in lines})
    terms = {"terms": {"name.raw": random.Random(7).sample(names, min(LARGE_TERMS, len(names)))}}
    feature = lambda name: [{"term": {"feature_class.raw": name}}]
    return {"pure": terms, "filtered": {"bool": {"must": feature("T"), "filter": [terms]}},
            "prohibited": {"bool": {"must": feature("A"), "must_not": [terms]}}}[source.split("-")[0]]
