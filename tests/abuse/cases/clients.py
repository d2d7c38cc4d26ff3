"""Many clients, and clients that are gone: what waits in a queue for nobody must cost nothing."""

from case import OK, REFUSED, Case, Lines

BAD = (400, 413, 429)
DOCUMENTS = 20_000
SLOW = "int s = 0; for (int i = 0; i < 3000; i++) { s += i } return 1"

SETUP = [
    ("PUT", "/q", {"settings": {"number_of_shards": 2, "number_of_replicas": 0}, "mappings": {"properties": {"k": {"type": "keyword"}, "n": {"type": "long"}, "t": {"type": "text"}}}}),
    ("POST", "/q/_bulk?refresh=true", lambda: Lines([line for n in range(DOCUMENTS) for line in ({"index": {}}, {"k": f"key{n}", "n": n, "t": f"hello world {n}"})])),
]
SEARCH = {"size": 0, "query": {"script_score": {"query": {"match_all": {}}, "script": SLOW}}}


def gone(name, path, body, clients=300, method="POST", after=0.3, **more):
    return Case(name, method, path, body, hang_up=after, clients=clients, **more)


CASES = [
    gone("searches", "/q/_search", SEARCH, clients=1_000),
    gone("searches_for_long", "/q/_search", SEARCH, clients=300, after=25.0),
    gone("searches_at_once", "/q/_search", SEARCH, after=0.01, clients=1_000),
    gone("counts", "/q/_count", {"query": {"script": {"script": SLOW + " > 0"}}}),
    gone("msearches", "/_msearch", Lines([{"index": "q"}, SEARCH] * 100), clients=100),
    gone("aggregations", "/q/_search", {"size": 0, "aggs": {"a": {"terms": {"field": "k", "size": 65_535}, "aggs": {"t": {"top_hits": {"size": 10}}}}}}, clients=100),
    gone("explains", "/q/_search", {"size": 10_000, "explain": True, "query": {"match": {"t": "hello world"}}}, clients=100),
    gone("highlights", "/q/_search", {"size": 10_000, "query": {"match": {"t": "hello"}}, "highlight": {"fields": {"t": {"type": "plain"}}}}, clients=100),
    gone("pages", "/q/_search", {"size": 10_000}, clients=200),
    gone("scrolls", "/q/_search?scroll=1m", {"size": 10_000, "sort": ["_doc"]}, clients=200, cleanup=[("DELETE", "/_search/scroll/_all")]),
    gone("async", "/q/_async_search?wait_for_completion_timeout=10s", SEARCH, clients=100),
    gone("async_kept", "/q/_async_search?wait_for_completion_timeout=0s&keep_alive=5s", SEARCH, clients=100),
    gone("validations", "/q/_validate/query?explain=true", {"query": {"query_string": {"query": "hello~2 " * 300}}}, clients=200),
    gone("rank_evals", "/q/_rank_eval", {"requests": [{"id": f"r{n}", "request": SEARCH, "ratings": []} for n in range(20)], "metric": {"precision": {}}}, clients=50),
    gone("term_vectors", "/q/_termvectors", {"doc": {"t": "hello world " * 100_000}}, clients=50),
    gone("analyzes", "/_analyze", {"text": "hello world " * 4_000, "tokenizer": "keyword", "char_filter": [{"type": "pattern_replace", "pattern": ".*?x|.", "replacement": "y"}]}, clients=200),
    gone("simulations", "/_ingest/pipeline/_simulate", {"pipeline": {"processors": [{"gsub": {"field": "a", "pattern": ".*?x|.", "replacement": "b"}}] * 5}, "docs": [
        {"_source": {"a": "a" * 20_000}}] * 50}, clients=100),
    gone("scripts", "/_scripts/painless/_execute", {"script": {"source": "int s = 0; for (int i = 0; i < 999999; i++) { s += i } return s"}}, clients=300),
    gone("bulks", "/gone/_bulk", Lines([line for n in range(5_000) for line in ({"index": {}}, {"a": n})]), clients=100, cleanup=[("DELETE", "/gone")]),
    gone("updates_by_query", "/q/_update_by_query?conflicts=proceed", {"script": {"source": SLOW.replace("return 1", "")}}, clients=20),
    gone("deletes_by_query", "/q/_delete_by_query?conflicts=proceed", {"query": {"script": {"script": SLOW + " > 1"}}}, clients=20),
    gone("reindexes", "/_reindex", {"source": {"index": "q", "query": {"script": {"script": SLOW + " > 1"}}}, "dest": {"index": "gone2"}}, clients=20, cleanup=[("DELETE", "/gone2")]),
    gone("field_caps", "/q/_field_caps?fields=*", {"index_filter": {"script": {"script": SLOW + " > 1"}}}, clients=100),
    gone("terms_enums", "/q/_terms_enum", {"field": "k", "string": "", "size": 10_000}, clients=200),
    gone("forced_merges", "/q/_forcemerge?max_num_segments=1", None, clients=100),
    gone("refreshes", "/q/_refresh", None, clients=300),
    gone("flushes", "/q/_flush?force=true", None, clients=100),
    gone("clears", "/q/_cache/clear", None, clients=200),
    gone("creations", "/_bulk", Lines([line for n in range(20) for line in ({"index": {"_index": f"gone-{n}"}}, {"a": 1})]), clients=50, cleanup=[("DELETE", f"/gone-{n}") for n in range(20)]),
    Case("at_once", "POST", "/q/_search", {"size": 0, "aggs": {"a": {"terms": {"field": "k"}}}}, clients=600, seconds=60),
    Case("heavy_at_once", "POST", "/q/_search", {"size": 0, "aggs": {"a": {"terms": {"field": "k", "size": 20_000}, "aggs": {"s": {"extended_stats": {"field": "n"}}}}}}, clients=60, seconds=120),
    Case("pages_at_once", "POST", "/q/_search", {"size": 10_000}, clients=100, seconds=60),
    Case("slow_at_once", "POST", "/q/_search", SEARCH, clients=8, seconds=120),
    Case("timeouts", "POST", "/q/_search?timeout=50ms", SEARCH, clients=32, seconds=60),
    Case("async_many", "POST", "/q/_async_search?wait_for_completion_timeout=0s&keep_alive=3s", SEARCH, clients=300, seconds=60),
    Case("tasks", "GET", "/_tasks?detailed=true", None, clients=300, seconds=60),
    Case("hot_threads", "GET", "/_nodes/hot_threads?threads=1000&snapshots=1000&interval=10s", None, clients=4, hang_up=1.0),
    Case("creations_and_deletions", "PUT", "/flickers", {}, clients=100, cleanup=[("DELETE", "/flickers")], seconds=60),
]
