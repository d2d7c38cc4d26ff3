"""Answers that name each field of each index, and parts of requests that are named again and again."""

from case import OK, REFUSED, Case

ANY = OK + REFUSED
LONG = "n" * 230


def index(number):
    """900 fields; half of the indices share their names."""
    return lambda: {"settings": {"number_of_shards": 1, "number_of_replicas": 0}, "mappings": {"properties": {
        f"f{number if number % 2 else 0}_{n}": {"type": "keyword" if number % 3 else "long"} for n in range(900)}}}


def prints(count, **options):
    """Fingerprints of one field of 100 kB, which is named `count` times."""
    return lambda: {"pipeline": {"processors": [{"fingerprint": {"fields": ["m"] * count, "ignore_missing": True, **options}}]},
                    "docs": [{"_source": {"m": "x" * 100_000}}]}


def simulated(count):
    """Documents for an index that does not exist; their mapping is made of templates."""
    return lambda: {"docs": [{"_index": "made-of-templates", "_id": str(n), "_source": {"a": n}} for n in range(count)]}


TEMPLATES = [
    *[("PUT", f"/_component_template/wide-{n}", {"template": {"mappings": {"properties": {f"c{n}_{m}": {"type": "keyword"} for m in range(45)}}}})
      for n in range(20)],
    ("PUT", "/_index_template/wide", {"index_patterns": ["made-of-*"], "composed_of": [f"wide-{n}" for n in range(20)]}),
]
SETUP = [("PUT", f"/i{number:02d}{LONG}", index(number)) for number in range(32)]
UNMAPPED = "/_field_caps?fields=*&include_unmapped=true"
CASES = [
    Case("unmapped", "GET", UNMAPPED, None, ANY),
    Case("unmapped_clients", "GET", UNMAPPED, None, ANY, clients=16, seconds=60),
    Case("patterns", "POST", "/_field_caps", lambda: {"fields": [f"*f*_*{n}x" for n in range(30_000)]}, ANY, seconds=60),
    Case("patterns_gone", "POST", "/_field_caps", lambda: {"fields": [f"*f*_*{n}x" for n in range(30_000)]}, hang_up=1.0, clients=5),
    Case("names", "POST", "/_field_caps", lambda: {"fields": [f"f0_{n}" for n in range(200_000)]}, ANY),
    Case("mapping_defaults", "GET", "/_all/_mapping/field/*?include_defaults=true", None, ANY, clients=8, seconds=60),
    Case("mapping_patterns", "GET", "/_all/_mapping/field/" + ",".join(f"*f*{n}*_*x" for n in range(250)), None, ANY, clients=8, seconds=60),
    Case("fingerprint_4000", "POST", "/_ingest/pipeline/_simulate", prints(4_000), ANY),
    Case("fingerprint_20000", "POST", "/_ingest/pipeline/_simulate", prints(20_000), ANY),
    Case("fingerprint_murmur", "POST", "/_ingest/pipeline/_simulate", prints(20_000, method="MurmurHash3"), ANY),
    Case("fingerprint_clients", "POST", "/_ingest/pipeline/_simulate", prints(1_000, method="MurmurHash3"), ANY, clients=6),
    Case("char_filters", "POST", "/_analyze", lambda: {"tokenizer": "keyword", "char_filter": [{"type": "html_strip"}] * 300, "text": "x " * 50_000, "explain": True}, ANY, seconds=60),
    Case("char_filters_gone", "POST", "/_analyze", lambda: {
        "tokenizer": "keyword", "char_filter": [{"type": "html_strip"}] * 2_000, "text": "x " * 500_000, "explain": True}, hang_up=1.0),
    Case("synonym_filters_gone", "POST", "/_analyze", lambda: {
        "tokenizer": "whitespace", "filter": [{"type": "synonym", "synonyms": [f"a{n} => b{n}" for n in range(200)]}] * 400,
        "text": "x y z", "explain": True}, hang_up=1.0),
    Case("simulate_templates", "POST", "/_ingest/_simulate", simulated(2_000), ANY, setup=TEMPLATES, clients=4, seconds=60,
         cleanup=[("DELETE", "/_index_template/wide"), ("DELETE", "/_component_template/wide-*")]),
]
