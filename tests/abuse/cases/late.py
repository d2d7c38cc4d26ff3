"""What a seventh attacker found by reading on 1 December 2026: features that came late, with what multiplies in them."""

from case import OK, REFUSED, Case, Lines, abandoned

ANY = OK + REFUSED
ONE = {"number_of_shards": 1, "number_of_replicas": 0}
DOCS = 20_000
SETUP = [
    ("PUT", "/late", {"settings": {**ONE, "index.max_result_window": 100_000}, "mappings": {"properties": {
        "k": {"type": "keyword"}, "n": {"type": "integer"}, "e": {"type": "integer"}}}}),
    ("POST", "/late/_bulk?refresh=true", lambda: Lines([line for n in range(DOCS) for line in (
        {"index": {}}, {"k": f"key{n}", "n": n})])),
]


def search(name, body, **more):
    return Case(name, "POST", "/late/_search", body, **{"expect": ANY, "seconds": 60, **more})


def every(count):
    """Filters each of which matches all documents."""
    return {f"f{n}": {"range": {"n": {"gte": -n}}} for n in range(count)}


def pairs(subs):
    return {"size": 0, "aggs": {"a": {"adjacency_matrix": {"filters": every(1_000)}, "aggs": {f"m{n}": {"max": {"field": "n"}} for n in range(subs)}}}}


def pairs_below(subs):
    return {"size": 0, "aggs": {"h": {"histogram": {"field": "n", "interval": 5_000}, "aggs": pairs(subs)["aggs"]}}}


def letters(first, count):
    """Different characters, without surrogates."""
    return "".join(chr(n) for n in range(first, first + count) if not 0xD800 <= n < 0xE000)


# Terms of 10,000 different characters each, and all of them in each bucket.
LETTERS = [("PUT", "/letters", {"settings": ONE, "mappings": {"properties": {"k": {"type": "keyword"}}}}),
           ("POST", "/letters/_bulk?refresh=true", lambda: Lines([line for n in range(200) for line in (
               {"index": {}}, {"k": letters(0x100 + 7_000 * (n % 100), 7_000) + str(n)})]))]


def all_letters(count):
    return {"size": 0, "aggs": {"f": {"filters": {"filters": {f"f{n}": {"bool": {"must_not": {"term": {"k": f"x{n}"}}}} for n in range(count)}},
                                      "aggs": {"s": {"string_stats": {"field": "k", "show_distribution": True}}}}}}


WEIGHTS = [("PUT", "/weights", {"settings": ONE, "mappings": {"properties": {"h": {"type": "histogram"}, "k": {"type": "keyword"}}}}),
           ("PUT", "/weights/_doc/1", {"h": {"values": [1], "counts": [9_007_199_254_740_992]}, "k": "a"}),
           ("POST", "/weights/_bulk?refresh=true", lambda: Lines([line for n in range(2_000) for line in (
               {"index": {}}, {"h": {"values": [1, 2], "counts": [1_000, 50_000]}, "k": f"k{n}"})]))]
WIDTHS = [("PUT", "/widths", {"settings": {"number_of_shards": 20, "number_of_replicas": 0}, "mappings": {"properties": {"n": {"type": "double"}}}}),
          ("POST", "/widths/_bulk?refresh=true", lambda: Lines([line for n in range(150_000) for line in ({"index": {}}, {"n": n * 1.001})]))]

TOKENS = {"size": 0, "query": {"script": {"script": {"source": "new StringTokenizer(params.t, params.s).countTokens() > params.n",
                                                     "params": {"t": "a\u00e9" * 2_000_000, "s": "".join(chr(0x0129 + 64 * n) for n in range(512)), "n": 0}}}}}

CASES = [
    # Half a million pairs of filters for each window of documents.
    abandoned("pairs_left", "POST", "/late/_search", lambda: pairs(100)),
    abandoned("pairs_below_left", "POST", "/late/_search", lambda: pairs_below(100)),
    abandoned("pairs_alone_left", "POST", "/late/_search", lambda: pairs_below(0)),
    # Buckets without a document that has all fields.
    search("matrix_of_nothing", lambda: {"size": 0, "aggs": {"t": {"terms": {"field": "k", "size": DOCS}, "aggs": {"m": {"matrix_stats": {
        "fields": [f"x{n}" for n in range(99)] + ["e"]}}}}}}, clients=2),
    search("matrix_of_nothing_numbers", lambda: {"size": 0, "aggs": {"t": {"histogram": {"field": "n", "interval": 1}, "aggs": {"m": {"matrix_stats": {
        "fields": [f"x{n}" for n in range(99)] + ["e"]}}}}}}),
    # Characters by terms by buckets.
    Case("letters", "POST", "/letters/_search", lambda: all_letters(1_000), ANY, setup=LETTERS, seconds=120),
    Case("letters_one", "POST", "/letters/_search", lambda: all_letters(1), ANY, setup=LETTERS, clients=2, seconds=60),
    abandoned("letters_left", "POST", "/letters/_search", lambda: all_letters(300), setup=LETTERS),
    # A value that counts as often as a double can count, kept as often as the compression allows.
    *[Case(f"weights_{name}", "POST", "/weights/_search", {"size": 0, "aggs": {"p": body}}, ANY, setup=WEIGHTS) for name, body in (
        ("percentiles", {"percentiles": {"field": "h", "tdigest": {"compression": 1e18}}}),
        ("ranks", {"percentile_ranks": {"field": "h", "values": [1], "tdigest": {"compression": 1e308}}}),
        ("boxplot", {"boxplot": {"field": "h", "compression": 1e12}}),
        ("precise", {"percentiles": {"field": "h", "tdigest": {"compression": 1e9, "execution_hint": "high_accuracy"}}}),
        ("hdr", {"percentiles": {"field": "h", "hdr": {"number_of_significant_value_digits": 5}}}))],
    # As many values for each document as it has buckets.
    Case("weights_by_filter", "POST", "/weights/_search", lambda: {"size": 0, "aggs": {"f": {"filters": {"filters": {f"f{n}": {"match_all": {}} for n in range(1_000)}}, "aggs": {
        "t": {"terms": {"field": "k", "size": 10_000}, "aggs": {"p": {"percentiles": {"field": "h", "tdigest": {"compression": 5_000}}}}}}}}}, ANY, setup=WEIGHTS, seconds=60),
    # The clusters of many shards.
    abandoned("widths_left", "POST", "/widths/_search", {"size": 0, "aggs": {"v": {"variable_width_histogram": {
        "field": "n", "buckets": 1, "shard_size": 5_000, "initial_buffer": 10_000}}}}, setup=WIDTHS, after=3),
    Case("widths", "POST", "/widths/_search", {"size": 0, "aggs": {"v": {"variable_width_histogram": {
        "field": "n", "buckets": 1, "shard_size": 5_000, "initial_buffer": 10_000}}}}, ANY, setup=WIDTHS, seconds=60),
    # Separators by characters.
    abandoned("joiner_left", "POST", "/late/_search", lambda: {"size": 0, "query": {"script": {"script": {
        "source": "def j = new StringJoiner(''); j.add(params.t); int n = 0; for (int i = 0; i < 900000; i++) { n += j.length() } return n > 0",
        "params": {"t": "a" * 4_000_000}}}}}, clients=2),
    abandoned("tokens_left", "POST", "/late/_search", lambda: TOKENS, clients=2),
]
