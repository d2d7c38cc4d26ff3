"""Analysis that multiplies: grams, shingles, synonyms, parts of words, in `_analyze`, in documents, in queries, in highlights."""

from case import OK, REFUSED, Case, Lines, abandoned

BAD = (400, 413, 429)
LONG = "abcdefghij" * 20_000
WORDS = "word number one " * 30_000


def analyze(name, body, expect=OK + BAD, **more):
    return Case(f"analyze_{name}", "POST", "/_analyze", body, expect, **{"seconds": 30, **more})


def filters(name, declared, text=WORDS, tokenizer="standard", **more):
    return analyze(name, lambda: {"tokenizer": tokenizer, "filter": declared() if callable(declared) else declared, "text": text}, **more)


def index_with(name, analysis, properties=None):
    settings = {"number_of_shards": 1, "number_of_replicas": 0, "index.max_ngram_diff": 2_000, "index.max_shingle_diff": 2_000, "analysis": analysis}
    return ("PUT", f"/{name}", {"settings": settings, "mappings": {"properties": properties or {"t": {"type": "text", "analyzer": "a"}}}})


def chain(*declared, tokenizer="standard"):
    """An analyzer `a` of these filters."""
    named = {f"f{n}": one for n, one in enumerate(declared)}
    return {"filter": named, "analyzer": {"a": {"tokenizer": tokenizer, "filter": ["lowercase", *named]}}}


NGRAMS = {"type": "ngram", "min_gram": 1, "max_gram": 1_000}
EDGES = {"type": "edge_ngram", "min_gram": 1, "max_gram": 1_000_000}
SHINGLES = {"type": "shingle", "min_shingle_size": 2, "max_shingle_size": 1_000}
SYNONYMS = {"type": "synonym", "synonyms": ["word => " + ", ".join(f"w{n}" for n in range(1_000))]}
GRAPH = {"type": "synonym_graph", "synonyms": ["word => " + ", ".join(f"a{n} b{n} c{n}" for n in range(1_000))]}
MULTIPLEXER = {"type": "multiplexer", "filters": ["lowercase", "uppercase", "porter_stem", "reverse"] * 25}
CAPTURES = {"type": "pattern_capture", "patterns": ["(.)", "(..)", "(...)", "(.+)"] * 25}
PARTS = {"type": "word_delimiter_graph", "catenate_all": True, "preserve_original": True, "catenate_words": True, "catenate_numbers": True}
DECOMPOUNDER = {"type": "dictionary_decompounder", "word_list": [chr(97 + n) * m for n in range(26) for m in range(1, 15)], "min_subword_size": 1, "min_word_size": 1}

DOCUMENTS = {
    "ngrams": (chain(NGRAMS, tokenizer="keyword"), {"t": "a" * 30_000}),
    "edges": (chain(EDGES, tokenizer="keyword"), {"t": "a" * 30_000}),
    "shingles": (chain(SHINGLES), {"t": "ab cd " * 20_000}),
    "shingles_of_shingles": (chain(*[{"type": "shingle", "max_shingle_size": 10} for _ in range(8)]), {"t": "ab cd " * 20_000}),
    "synonyms": (chain(SYNONYMS), {"t": "word " * 50_000}),
    "graph": (chain(GRAPH), {"t": "word " * 20_000}),
    "multiplexers": (chain(*[MULTIPLEXER] * 6), {"t": "word " * 20_000}),
    "captures": (chain(*[CAPTURES] * 3), {"t": "abcdefghijklmnop " * 5_000}),
    "parts": (chain(PARTS, tokenizer="keyword"), {"t": "Ab1-" * 50_000}),
    "decompounded": (chain(DECOMPOUNDER, tokenizer="keyword"), {"t": "aaaaaaaaaaaaaabbbbbbbbbbbbbb" * 1_000}),
    "repeats": (chain(*[{"type": "keyword_repeat"}] * 40), {"t": "word " * 5_000}),
    "bigrams": (chain({"type": "cjk_bigram", "output_unigrams": True}), {"t": "\u65e5\u672c\u8a9e" * 100_000}),
    "common": (chain({"type": "common_grams", "common_words": ["word"]}), {"t": "word " * 300_000}),
    "fingerprint": (chain({"type": "fingerprint", "max_output_size": 2_147_483_647}), {"t": " ".join(f"w{n}" for n in range(200_000))}),
}

CASES = [
    filters("ngrams", [{"type": "ngram", "min_gram": 1, "max_gram": 2}] * 20, LONG),
    filters("ngrams_wide", [NGRAMS], LONG, "keyword"),
    filters("edges", [EDGES], LONG, "keyword"),
    filters("shingles", [SHINGLES]),
    filters("shingles_of_shingles", [{"type": "shingle", "max_shingle_size": 5}] * 20),
    filters("shingles_separator", [{"type": "shingle", "token_separator": "x" * 1_000_000}]),
    filters("shingles_filler", ["lowercase", {"type": "stop", "stopwords": ["number"]}, {"type": "shingle", "filler_token": "x" * 1_000_000}]),
    filters("synonyms", [SYNONYMS]),
    filters("synonyms_twice", [SYNONYMS, {"type": "synonym", "synonyms": [f"w{n} => " + ", ".join(f"v{m}" for m in range(500)) for n in range(300)]}]),
    filters("graph", [GRAPH]),
    filters("synonyms_many", lambda: [{"type": "synonym", "synonyms": [f"a{n}, b{n}, c{n}" for n in range(200_000)]}], "a"),
    filters("synonyms_wide", lambda: [{"type": "synonym", "synonyms": [", ".join(f"a{n}" for n in range(3_000))]}], "a1 " * 1_000),
    filters("synonyms_long", lambda: [{"type": "synonym", "synonyms": ["a " * 200_000 + "=> b"]}], "a " * 10_000),
    filters("synonyms_prefixes", lambda: [{"type": "synonym_graph", "synonyms": ["a " * n + "b => c" for n in range(1, 900)]}], "a " * 9_000),
    filters("synonyms_wordnet", lambda: [{"type": "synonym", "format": "wordnet", "synonyms": [f"s(100000001,{n},'a{n}',v,1,0)." for n in range(3_000)]}], "a1"),
    filters("synonyms_path", [{"type": "synonym", "synonyms_path": "../../../../etc/passwd"}], "a", expect=BAD),
    filters("stopwords_path", [{"type": "stop", "stopwords_path": "/etc/passwd"}], "a", expect=BAD),
    filters("keywords_path", [{"type": "keyword_marker", "keywords_path": "/proc/self/environ"}], "a", expect=BAD),
    filters("hunspell", [{"type": "hunspell", "locale": "../../etc"}], "a", expect=BAD),
    filters("multiplexers", [MULTIPLEXER] * 10, "word " * 10_000),
    filters("multiplexer_wide", [{"type": "multiplexer", "filters": ["lowercase"] * 50_000}], "word " * 1_000),
    filters("captures", [CAPTURES] * 5, "abcdefghijklmnopqrstuvwxyz " * 1_000),
    filters("capture_catastrophe", [{"type": "pattern_capture", "patterns": ["((a+)+)+$"]}], "a" * 200_000, "keyword"),
    filters("parts", [PARTS] * 10, "Ab1-" * 50_000, "keyword"),
    filters("parts_table", [{**PARTS, "type_table": ["\\u0041 => ALPHA"] * 100_000}], "a"),
    filters("parts_protected", lambda: [{**PARTS, "protected_words": [f"w{n}" for n in range(300_000)]}], "a"),
    filters("decompounded", [DECOMPOUNDER], "a" * 100_000, "keyword"),
    filters("decompounded_words", lambda: [{"type": "dictionary_decompounder", "word_list": [f"word{n}" for n in range(300_000)]}], "word1word2" * 1_000, "keyword"),
    filters("repeats", ["keyword_repeat"] * 60, "word " * 1_000),
    filters("limits", [{"type": "limit", "max_token_count": 2_147_483_647}], WORDS),
    filters("truncated", [{"type": "truncate", "length": 2_147_483_647}], WORDS),
    filters("negative", [{"type": "ngram", "min_gram": -5, "max_gram": -1}], "a", expect=BAD),
    filters("zero", [{"type": "ngram", "min_gram": 0, "max_gram": 0}], "a"),
    filters("huge_gram", [{"type": "ngram", "min_gram": 2_147_483_646, "max_gram": 2_147_483_647}], LONG, "keyword"),
    filters("overrides", lambda: [{"type": "stemmer_override", "rules": [f"a{n} => b" for n in range(300_000)]}], "a1"),
    filters("elisions", lambda: [{"type": "elision", "articles": [f"l{n}" for n in range(300_000)]}], "l1'a"),
    filters("conditional", [{"type": "condition", "filter": ["lowercase"], "script": {"source": "while (true) {}"}}], "a b c"),
    filters("predicate", [{"type": "predicate_token_filter", "script": {"source": "while (true) {}"}}], "a b c"),
    filters("stemmed", ["porter_stem", "snowball", "kstem"] * 30, "running" * 20_000, "keyword"),
    filters("languages", [{"type": "stemmer", "language": language} for language in (
        "arabic", "bulgarian", "czech", "dutch", "finnish", "german", "greek", "hindi", "hungarian", "russian", "turkish", "light_french")], "abcdefghij" * 50_000, "keyword"),
    filters("delimited", [{"type": "delimited_payload", "delimiter": "|", "encoding": "float"}], "a|99999999999999999999999999999e999 b|NaN c|" + "9" * 500_000, "whitespace"),
    filters("replaced", [{"type": "pattern_replace", "pattern": "(.)", "replacement": "$1$1$1$1$1$1$1$1$1$1"}] * 9, "abcd", "keyword"),
    filters("replaced_backtracks", [{"type": "pattern_replace", "pattern": "(?=(a+)+b)a", "replacement": "b"}], "a" * 100_000, "keyword"),
    filters("deep_graph", [PARTS, GRAPH, {"type": "flatten_graph"}, {"type": "shingle", "max_shingle_size": 20}], "Ab1-word " * 2_000),
    analyze("tokenizer_ngram", {"tokenizer": {"type": "ngram", "min_gram": 1, "max_gram": 2}, "text": LONG}),
    analyze("tokenizer_edges", {"tokenizer": {"type": "edge_ngram", "min_gram": 1, "max_gram": 2_000_000_000}, "text": LONG}),
    analyze("tokenizer_paths", {"tokenizer": "path_hierarchy", "text": "/a" * 100_000}),
    analyze("tokenizer_paths_reverse", {"tokenizer": {"type": "path_hierarchy", "reverse": True, "buffer_size": 2_147_483_647, "replacement": "x"}, "text": "/a" * 100_000}),
    analyze("tokenizer_pattern", {"tokenizer": {"type": "pattern", "pattern": "((a+)+)+$|b", "group": 1}, "text": "a" * 200_000}),
    analyze("tokenizer_simple_pattern", {"tokenizer": {"type": "simple_pattern", "pattern": "((a{1,100}){1,100}){1,100}"}, "text": LONG}),
    analyze("tokenizer_chars", lambda: {"tokenizer": {"type": "char_group", "tokenize_on_chars": [chr(n) for n in range(33, 50_000)]}, "text": LONG}),
    analyze("tokenizer_words", {"tokenizer": {"type": "standard", "max_token_length": 1}, "text": LONG}),
    analyze("tokenizer_class_zero", {"tokenizer": {"type": "classic", "max_token_length": 0}, "text": "abc"}),
    analyze("char_mapping", {"tokenizer": "keyword", "char_filter": [{"type": "mapping", "mappings": ["a => " + "b" * 500, "b => " + "a" * 500]}] * 6, "text": "a"}),
    analyze("attributes", {"tokenizer": "standard", "explain": True, "attributes": ["a" * 1_000] * 10_000, "text": "a b c " * 100}),
    analyze("normalizer", {"normalizer": "lowercase", "text": LONG}),
    analyze("explain_stages", {"tokenizer": "standard", "explain": True, "filter": [{"type": "ngram", "min_gram": 1, "max_gram": 2}, *["lowercase"] * 100], "text": "abcdefgh " * 500}),
    analyze("gone", lambda: {"tokenizer": "standard", "filter": [SHINGLES], "text": WORDS}, hang_up=0.3, clients=8),
    analyze("clients", lambda: {"tokenizer": "standard", "filter": [{"type": "shingle", "max_shingle_size": 5}] * 4, "text": WORDS}, clients=8, seconds=60),
]

# Filters that drop every token that the others make.
NONE = {"type": "length", "min": 100_000}
THOUSAND = {"type": "edge_ngram", "min_gram": 1, "max_gram": 1_000}
DROPPED = {
    "length": {"tokenizer": "keyword", "filter": [THOUSAND] * 4 + [NONE], "text": "a" * 1_000},
    "stop": {"tokenizer": "keyword", "filter": [THOUSAND] * 4 + ["unique", {"type": "stop", "stopwords": ["a" * n for n in range(1, 1_001)]}], "text": "a" * 1_000},
    "keep": {"tokenizer": "keyword", "filter": [THOUSAND] * 4 + [{"type": "keep", "keep_words": ["b"]}], "text": "a" * 1_000},
    "keep_types": {"tokenizer": "keyword", "filter": [THOUSAND] * 4 + [{"type": "keep_types", "types": ["<NUM>"]}], "text": "a" * 1_000},
    "fingerprint": {"tokenizer": "keyword", "filter": [THOUSAND] * 4 + ["fingerprint"], "text": "a" * 1_000},
    "repeats": {"tokenizer": "keyword", "filter": ["keyword_repeat"] * 40 + [NONE], "text": "a"},
    "captures": {"tokenizer": "keyword", "filter": [{"type": "pattern_capture", "patterns": ["(.)"] * 500}] * 4 + [NONE], "text": "abcdefgh" * 10},
    "multiplexers": {"tokenizer": "keyword", "filter": [{"type": "multiplexer", "filters": ["lowercase", "reverse", "uppercase"] * 10}] * 8 + [NONE], "text": "abc" * 100},
    "grams": {"tokenizer": {"type": "edge_ngram", "min_gram": 1, "max_gram": 1_000, "token_chars": ["letter"]}, "filter": [THOUSAND] * 3 + [NONE], "text": "a" * 1_000},
    "paths": {"tokenizer": {"type": "path_hierarchy", "reverse": True}, "filter": [{"type": "length", "min": 100_000_000}], "text": "/a" * 500_000},
    "hashes": {"tokenizer": "keyword", "filter": [{"type": "min_hash", "bucket_count": 2_147_483_647}, NONE], "text": "a"},
    "hash_functions": {"tokenizer": "keyword", "filter": [{"type": "min_hash", "hash_count": 2_147_483_647}, NONE], "text": " "},
    "long_token": {"tokenizer": "keyword", "filter": ["reverse"] * 1_000, "text": "a" * 1_000_000},
    "long_token_icu": {"tokenizer": "keyword", "filter": ["icu_folding", "icu_normalizer", "uppercase", "lowercase"] * 250, "text": "aB" * 1_000_000},
    "long_token_normalizer": {"filter": ["icu_folding", "icu_normalizer", "uppercase", "lowercase"] * 250, "text": "aB" * 1_000_000},
}
CASES += [abandoned(f"dropped_{name}", "POST", "/_analyze", body) for name, body in DROPPED.items()]
CASES += [
    filters("filters_many", ["unique"] * 100_000, "a", expect=400),
    filters("filters_many_inside", [{"type": "multiplexer", "filters": [",".join(["unique"] * 100_000)]}], "a", expect=400),
    analyze("custom_characters", lambda: {"tokenizer": {"type": "ngram", "token_chars": ["custom"] * 1_000, "custom_token_chars": "b" * 1_000_000}, "text": "a" * 1_000_000}, 200, seconds=10),
    analyze("keep_types_many", lambda: {"tokenizer": "standard", "filter": [{"type": "keep_types", "types": [f"t{n}" for n in range(100_000)]}], "text": WORDS}, 200, seconds=20),
    analyze("folding_set", lambda: {"tokenizer": "keyword", "filter": [{"type": "icu_folding", "unicode_set_filter": "[" + "".join(chr(n) for n in range(0x4E00, 0x9F00, 2)) + "]"}],
                                    "text": "\u9f01A" * 300_000}, OK + BAD, seconds=20),
    analyze("escaped_tags", lambda: {"tokenizer": "keyword", "char_filter": [{"type": "html_strip", "escaped_tags": [f"t{n}" for n in range(100_000)]}], "text": "<x>" * 100_000}, seconds=20),
    abandoned("dropped_match", "POST", "/m-dropped/_search", {"query": {"match": {"t": "a" * 1_000}}}, setup=[index_with("m-dropped", chain(*[THOUSAND] * 4, NONE, tokenizer="keyword"))]),
    abandoned("dropped_document", "PUT", "/m-dropped/_doc/1", {"t": "a" * 1_000}, setup=[index_with("m-dropped", chain(*[THOUSAND] * 4, NONE, tokenizer="keyword"))]),
]

for name, (analysis, document) in DOCUMENTS.items():
    made = index_with(f"m-{name}", analysis)
    CASES += [
        Case(f"write_{name}", "PUT", f"/m-{name}/_doc/1", document, OK + BAD, [made], clients=2, seconds=60),
        Case(f"match_{name}", "POST", f"/m-{name}/_search", {"query": {"match": {"t": document["t"]}}}, OK + BAD, [made], seconds=60),
        Case(f"phrase_{name}", "POST", f"/m-{name}/_search", {"query": {"match_phrase": {"t": document["t"][:5_000]}}}, OK + BAD,
             [made, ("PUT", f"/m-{name}/_doc/1?refresh=true", {"t": document["t"][:200]})], seconds=60),
        Case(f"highlight_{name}", "POST", f"/m-{name}/_search", {"query": {"match": {"t": document["t"][:100]}}, "highlight": {"fields": {"t": {"type": "plain"}, "*": {}}}}, OK + BAD,
             [made, ("PUT", f"/m-{name}/_doc/1?refresh=true", {"t": document["t"][:300]})], seconds=60),
    ]

TYPED = {
    "search_as_you_type": {"type": "search_as_you_type", "max_shingle_size": 4}, "prefixes": {"type": "text", "index_prefixes": {"min_chars": 1, "max_chars": 19}},
    "phrases": {"type": "text", "index_phrases": True}, "vectors": {"type": "text", "term_vector": "with_positions_offsets_payloads"},
    "wildcard": {"type": "wildcard"}, "counted": {"type": "token_count", "analyzer": "a"}, "data": {"type": "text", "fielddata": True, "analyzer": "a"},
}
for name, field in TYPED.items():
    CASES.append(Case(f"typed_{name}", "PUT", f"/typed-{name}/_doc/1?refresh=true", {"t": "ab cd " * 500_000}, OK + BAD,
                      [index_with(f"typed-{name}", chain(SHINGLES), {"t": field})] if name != "search_as_you_type" else [], clients=2, seconds=60,
                      cleanup=[("DELETE", f"/typed-{name}")]))
CASES += [
    Case("fielddata", "POST", "/data/_search", {"size": 0, "aggs": {"a": {"terms": {"field": "t", "size": 100_000}}}}, OK + BAD,
         [index_with("data", chain(NGRAMS, tokenizer="keyword"), {"t": {"type": "text", "fielddata": True, "analyzer": "a"}}),
          ("POST", "/data/_bulk?refresh=true", Lines([line for n in range(30) for line in ({"index": {}}, {"t": f"{n}" + "abcdefghijklmnopqrstuvwxyz" * 8})]))], seconds=60),
    Case("index_sizes", "PUT", "/sizes", {"settings": {"index.max_ngram_diff": 2_147_483_647, "index.max_shingle_diff": -1}}, OK + BAD, cleanup=[("DELETE", "/sizes")]),
    Case("analyzers_deep", "PUT", "/deep", lambda: {"settings": {"analysis": {"filter": {f"m{n}": {"type": "multiplexer", "filters": [f"m{n + 1}", f"m{n + 1}"]} for n in range(40)} | {
        "m40": {"type": "lowercase"}}, "analyzer": {"a": {"tokenizer": "standard", "filter": ["m0"]}}}}}, OK + BAD, cleanup=[("DELETE", "/deep")]),
    Case("analyzers_cycle", "PUT", "/cycle", {"settings": {"analysis": {"filter": {"m": {"type": "multiplexer", "filters": ["m"]}},
        "analyzer": {"a": {"tokenizer": "standard", "filter": ["m"]}}}}}, BAD + OK, cleanup=[("DELETE", "/cycle")]),
    Case("analyzers_chain", "PUT", "/chained", lambda: {"settings": {"analysis": {"analyzer": {"a": {"tokenizer": "standard", "filter": ["lowercase"] * 100_000}}}}}, OK + BAD, cleanup=[("DELETE", "/chained")]),
    Case("synonyms_kept", "PUT", "/kept", lambda: {"settings": {"analysis": chain({"type": "synonym", "synonyms": [f"a{n}, b{n}, c{n}" for n in range(100_000)]})}}, OK + BAD,
         cleanup=[("DELETE", "/kept")], seconds=60),
    Case("synonyms_kept_often", "PUT", "/kept2", lambda: {"settings": {"analysis": chain(*[{"type": "synonym", "synonyms": [f"a{n}, b{n}, c{n}" for n in range(5_000)]}] * 20)}}, OK + BAD,
         cleanup=[("DELETE", "/kept2")], seconds=60),
    Case("search_analyzer", "POST", "/ordinary/_search", {"query": {"match": {"t": {"query": "a " * 20_000, "analyzer": "english", "fuzziness": "AUTO"}}}}, OK + BAD),
    Case("query_string_grams", "POST", "/m-query/_search", {"query": {"query_string": {"default_field": "t", "query": "abcdefghijklmnopqrstuvwxyz" * 20, "auto_generate_synonyms_phrase_query": True}}}, OK + BAD,
         [index_with("m-query", chain(NGRAMS, tokenizer="keyword"))]),
    Case("graph_phrases", "POST", "/m-graph2/_search", {"query": {"match_phrase": {"t": "word " * 30}}}, OK + BAD, [index_with("m-graph2", chain(GRAPH))], seconds=30),
    Case("graph_matches", "POST", "/m-graph3/_search", {"query": {"match": {"t": {"query": "word " * 30, "operator": "and"}}}}, OK + BAD, [index_with("m-graph3", chain(GRAPH))], seconds=30),
    Case("graph_intervals", "POST", "/m-graph4/_search", {"query": {"intervals": {"t": {"match": {"query": "word " * 30, "ordered": True}}}}}, OK + BAD, [index_with("m-graph4", chain(GRAPH))], seconds=30),
]
