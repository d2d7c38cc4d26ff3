"""Names, paths and ids that a client makes up: files that must not be reached, contexts that are not its own, numbers that are not there."""

import base64
import os
import urllib.parse

from case import OK, REFUSED, Case, several

NOT_FOUND_OR_BAD = (400, 404, 405)
ODD = {
    "dots": "..", "dot": ".", "up": "../../etc/passwd", "up_encoded": "..%2f..%2f..%2fetc%2fpasswd", "up_twice_encoded": "..%252f..%252fetc%252fpasswd",
    "up_backslash": "..%5c..%5cwindows", "up_unicode": "%e2%80%a5%2f", "overlong": "%c0%ae%c0%ae%c0%af", "absolute": "%2fetc%2fpasswd", "nul": "a%00b", "newline": "a%0d%0aX:%20y",
    "upper": "UPPER", "space": "a%20b", "star": "a*b", "quote": "a%22b", "less": "a%3cb", "pipe": "a%7cb", "comma": "a,b,,,,", "hash": "a%23b", "colon": "a:b:c", "underscore": "_a",
    "minus": "-a", "plus": "%2ba", "long": "x" * 256, "longer": "x" * 3_500, "emoji": "%f0%9f%98%80" * 64, "broken_utf8": "%ff%fe%80", "combining": "a" + "%cc%81" * 120,
    "date_math": "%3clogs-%7bnow%2fd%7d%3e", "date_math_deep": "%3c" + "%7b" * 500 + "now" + "%7d" * 500 + "%3e", "date_math_far": "%3clogs-%7bnow%2b999999999y%7d%3e",
    "date_math_format": "%3clogs-%7bnow%7byyyy" + "y" * 800 + "%7d%7d%3e", "rtl": "%e2%80%ae", "percent": "%25", "tilde": "~root", "proc": "%2fproc%2fself%2fenviron", "device": "con",
}

CASES = []
for name, text in ODD.items():
    # What these names would match must stay.
    gone = [] if name in ("star", "comma", "percent") else [("DELETE", f"/{text}")]
    pattern = urllib.parse.unquote(text, errors="replace")
    CASES.append(several(f"names_{name}", [
        ("PUT", f"/{text}", {}), *gone, ("PUT", f"/{text}/_doc/1", {"a": 1}), *gone, ("GET", f"/ordinary/_doc/{text}"), ("PUT", f"/named/_doc/{text}", {"a": 1}), ("GET", f"/{text}/_search"),
        ("PUT", f"/_index_template/{text}", {"index_patterns": [pattern + "-never-*"], "priority": 7}), ("DELETE", f"/_index_template/{text}"),
        ("PUT", f"/_component_template/{text}", {"template": {}}), ("DELETE", f"/_component_template/{text}"),
        ("PUT", f"/_template/{text}", {"index_patterns": [pattern + "-never-*"]}), ("DELETE", f"/_template/{text}"),
        ("PUT", f"/_ingest/pipeline/{text}", {"processors": []}), ("DELETE", f"/_ingest/pipeline/{text}"),
        ("PUT", f"/ordinary/_alias/{text}"), ("DELETE", f"/ordinary/_alias/{text}"), ("PUT", f"/_data_stream/{text}"), ("DELETE", f"/_data_stream/{text}"),
        ("PUT", f"/_scripts/{text}", {"script": {"lang": "painless", "source": "1"}}), ("DELETE", f"/_scripts/{text}"),
        ("PUT", f"/_ilm/policy/{text}", {"policy": {"phases": {}}}), ("DELETE", f"/_ilm/policy/{text}"),
        ("PUT", f"/_snapshot/{text}", {"type": "fs", "settings": {"location": "here"}}), ("DELETE", f"/_snapshot/{text}"),
        ("PUT", f"/_snapshot/nowhere/{text}", {}), ("GET", f"/_cat/indices/{text}"), ("GET", f"/_nodes/{text}"), ("GET", f"/_mapping/field/{text}"), ("POST", f"/ordinary/_search_shards?routing={text}"),
        ("PUT", f"/ordinary/_split/{text}", {}), ("POST", f"/ordinary/_rollover/{text}", {}), ("PUT", f"/ordinary/_block/{text}"), ("GET", f"/ordinary/_source/{text}"),
    ], OK + REFUSED, seconds=60))
for name, location in {
    "up": "../../../../etc", "absolute": "/etc", "url": "file:///etc", "nul": "a\0b", "long": "x" * 100_000, "proc": "/proc/self/root/etc", "home": "~/x", "empty": "", "number": 5, "list": ["/etc"],
}.items():
    CASES.append(Case(f"location_{name}", "PUT", f"/_snapshot/located_{name}", {"type": "fs", "settings": {"location": location}}, REFUSED))
for kind in ("url", "source", "hdfs", "azure", "gcs", "s3", "../fs", "x" * 10_000, 5):
    CASES.append(Case(f"repository_type_{str(kind)[:6].replace('/', '_')}", "PUT", "/_snapshot/kinds", {"type": kind, "settings": {
        "url": "file:///etc", "bucket": "b", "endpoint": "http://127.0.0.1:9", "path": "/etc", "uri": "hdfs://x"}}, REFUSED, seconds=60))

FORGED = {
    "empty": "", "noise": base64.urlsafe_b64encode(os.urandom(200)).decode(), "zeros": base64.urlsafe_b64encode(bytes(200)).decode(), "ones": base64.urlsafe_b64encode(b"\xff" * 200).decode(),
    "sizes": base64.urlsafe_b64encode(b"\x7f\xff\xff\xff" * 50).decode(), "long": base64.urlsafe_b64encode(b"\xff" * 3_000_000).decode(), "not_base64": "!!!" * 100,
    "elastic": "FGluY2x1ZGVfY29udGV4dF91dWlkDXF1ZXJ5QW5kRmV0Y2gBFnNwcmluZ3RpbWUyMDI2AAAAAAAAAAEWc29tZW5vZGU=", "nul": "\0\0\0\0", "number": "1", "negative": "-1", "quotes": "\"'`",
}
for name, forged in FORGED.items():
    requests = [
        ("POST", "/_search/scroll", {"scroll_id": forged, "scroll": "1m"}), ("DELETE", "/_search/scroll", {"scroll_id": [forged] * (100 if len(forged) < 10_000 else 1)}),
        ("POST", "/_search", {"pit": {"id": forged, "keep_alive": "1m"}}), ("DELETE", "/_pit", {"id": forged}),
    ]
    if 0 < len(forged) < 4_000:
        quoted = urllib.parse.quote(forged, safe="")
        requests += [
            ("GET", f"/_async_search/{quoted}"), ("DELETE", f"/_async_search/{quoted}"), ("GET", f"/_async_search/status/{quoted}"), ("POST", f"/_tasks/{quoted}/_cancel"),
            ("POST", f"/_reindex/{quoted}/_rethrottle?requests_per_second=1"), ("POST", f"/_dangling/{quoted}?accept_data_loss=true"), ("GET", f"/_search/scroll/{quoted}"),
        ]
    # Clearing what is not there is answered by 404 or by none cleared; nothing else may be answered by success.
    CASES.append(several(f"forged_{name}", requests))
CASES += [
    Case("task_far", "GET", "/_tasks/node:99999999999999999999", None, REFUSED),
    Case("task_negative", "GET", "/_tasks/node:-1", None, REFUSED),
    Case("tasks_wait", "GET", "/_tasks?wait_for_completion=true&timeout=99999d", None, hang_up=0.5, clients=30),
    Case("scroll_ids_many", "DELETE", "/_search/scroll", lambda: {"scroll_id": [base64.b64encode(os.urandom(60)).decode() for _ in range(100_000)]}),
    Case("scroll_keep_alive", "POST", "/ordinary/_search?scroll=99999d", {}, REFUSED),
    Case("pit_keep_alive", "POST", "/ordinary/_pit?keep_alive=99999d", None, REFUSED),
    Case("async_keep_alive", "POST", "/ordinary/_async_search?keep_alive=99999999d", {}, OK + REFUSED),
    Case("keep_alive_odd", "POST", "/ordinary/_search?scroll=99999999999999999999999d", {}, REFUSED),
    Case("keep_alive_negative", "POST", "/ordinary/_search?scroll=-5m", {}, REFUSED),
    Case("health_waits", "GET", "/_cluster/health?wait_for_nodes=5&timeout=99999d", None, hang_up=0.5, clients=50),
    Case("health_waits_index", "GET", "/_cluster/health/nowhere?wait_for_status=green&timeout=30s", None, hang_up=0.5, clients=50),
    Case("wait_for_refresh", "PUT", "/ordinary/_doc/1?refresh=wait_for", {"t": "hello", "n": 1}, hang_up=0.3, clients=60),
    Case("timeouts_odd", "POST", "/ordinary/_search", {"timeout": "-99999999999999999d"}, OK + REFUSED),
    Case("preference", "GET", "/ordinary/_search?preference=_shards:" + "9" * 100, None),
    Case("routing_long", "GET", "/ordinary/_search?routing=" + "r," * 1_500, None),
    Case("nodes", "GET", "/_nodes/" + "a," * 1_500 + "/stats", None, OK + REFUSED),
]
