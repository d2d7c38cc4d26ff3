"""The ends of what can be written: of time, of numbers, of the globe, of names; and what is made of them when they are shown."""

from case import OK, REFUSED, Case, Lines, several

ONE = {"number_of_shards": 1, "number_of_replicas": 0}
LONG_MAX, LONG_MIN = 9_223_372_036_854_775_807, -9_223_372_036_854_775_808
DIGITS = "9" * 100_000
TYPES = ("long", "integer", "byte", "unsigned_long", "double", "half_float", "scaled_float", "date", "date_nanos", "ip", "boolean", "keyword", "version", "geo_point", "integer_range",
         "date_range", "token_count", "rank_feature", "flattened", "wildcard", "binary", "completion")
NUMBERS = {"digits": DIGITS, "digits_negative": "-" + DIGITS, "exponent": "1e999999999", "exponent_small": "1e-999999999", "exponent_long": "1e" + DIGITS, "fraction": "0." + DIGITS,
           "both": f"{DIGITS}.{DIGITS}e-{'9' * 9}", "least": str(LONG_MIN), "beyond": "18446744073709551616", "minus_zero": "-0.0"}
OF_TYPE = {"scaled_float": {"scaling_factor": 1e300}, "token_count": {"analyzer": "standard"}}

SETUP = [
    ("PUT", "/ends", {"settings": ONE, "mappings": {"properties": {
        **{kind: {"type": kind, **OF_TYPE.get(kind, {})} for kind in TYPES}, "s": {"type": "geo_shape"}, "t": {"type": "text"}}}}),
    *[("PUT", f"/ends/_doc/{n}?refresh=true", body) for n, body in enumerate((
        {"long": LONG_MAX, "date": LONG_MAX, "double": 1.7976931348623157e308, "geo_point": [180, 90]}, {"long": LONG_MIN, "date": LONG_MIN + 1, "double": -1.7976931348623157e308, "geo_point": [-180, -90]},
        {"long": 0, "date": 0, "double": 5e-324, "date_nanos": "2262-04-11T23:47:16.854775807Z", "geo_point": [0, 0], "unsigned_long": 18_446_744_073_709_551_615, "scaled_float": 0,
         "ip": "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "keyword": "x", "t": "some words"}))],
]


def search(name, body, query="", **more):
    return Case(name, "POST", f"/ends/_search{query}", body, **{"seconds": 20, **more})


def aggs(name, **tree):
    return search(name, {"size": 0, "aggs": {"a": tree}})


DOCUMENTS = [
    Case(f"write_{name}", "POST", "/ends/_bulk", lambda value=value: "".join(f'{{"index":{{}}}}\n{{"{kind}":{form}}}\n' for kind in TYPES for form in (value, f'"{value}"', f"[{value}]", f'{{"gte":{value}}}')),
         headers={"Content-Type": "application/x-ndjson"}, seconds=30)
    for name, value in NUMBERS.items()
] + [
    Case(f"query_{name}", "POST", "/ends/_msearch", lambda value=value: "".join(
        f'{{}}\n{{"query":{{"{query}":{{"{kind}":{form}}}}}}}\n' for kind in TYPES for query, form in (
            ("term", f'"{value}"'), ("term", value), ("range", f'{{"gte":{value},"lte":"{value}"}}'), ("terms", f"[{value}]"), ("fuzzy", f'"{value[:5_000]}"'))),
         headers={"Content-Type": "application/x-ndjson"}, seconds=30)
    for name, value in NUMBERS.items()
] + [
    Case(f"shown_{name}", "POST", "/ends/_search", lambda value=value: f'{{"docvalue_fields":["*"],"sort":[{{"long":{{"order":"asc","missing":{value}}}}}],"search_after":[{value}],"min_score":{value},"from":0}}')
    for name, value in NUMBERS.items()
]

TIME = [
    Case("math_long", "POST", "/ends/_search", lambda: {"query": {"range": {"date": {"gte": "now" + "+1d" * 200_000}}}}),
    Case("math_rounds", "POST", "/ends/_search", lambda: {"query": {"range": {"date": {"gte": "now" + "/M+1y/y" * 50_000, "time_zone": "Europe/Berlin"}}}}),
    *[search(f"math_{n}", {"query": {"range": {"date": {"gte": text, "time_zone": zone}}}}) for n, (text, zone) in enumerate((
        ("now+9223372036854775807y/y", "Europe/Berlin"), ("now-9223372036854775808y", "UTC"), ("292278994-08-17T07:12:55.807Z||/y", "UTC"), ("9223372036854775807||+1ms/M", "America/New_York"),
        ("-9223372036854775808||/w", "Asia/Kolkata"), ("-999999999-01-01||-1y/M", "UTC"), ("+999999999-12-31||+1d/d", "+18:00"), ("2020-01-01||" + "+2147483647M" * 1_000, "-18:00"),
        ("1e18", "UTC"), ("0000-00-00", "UTC"), ("2020-02-30", "UTC"), ("2020-W99-9", "UTC"), ("now/", "UTC"), ("||", "UTC"), ("now||now||now", "UTC"), ("0||/", "Antarctica/Troll")))],
    *[search(f"zone_{n}", {"size": 0, "aggs": {"a": {"date_histogram": {"field": "date", "calendar_interval": "1q", "time_zone": zone}}}}) for n, zone in enumerate((
        "+99:99", "-18:00:01", "UTC" + "+1" * 1_000, "Europe/" + "B" * 100_000, "../../etc/localtime", "/etc/passwd", "GMT0", "EST5EDT", "Pacific/Apia", "America/Argentina/ComodRivadavia", "\u0000"))],
    *[aggs(f"histogram_{n}", date_histogram={"field": "date", **options}) for n, options in enumerate((
        {"fixed_interval": "1ms", "min_doc_count": 0}, {"fixed_interval": "9223372036854775807ms"}, {"fixed_interval": "106751991167d", "offset": "-106751991167d"}, {"fixed_interval": "0ms"},
        {"calendar_interval": "1M", "min_doc_count": 0}, {"calendar_interval": "second", "min_doc_count": 1, "offset": "+9223372036854775807ms"}, {"calendar_interval": "week", "hard_bounds": {
            "min": LONG_MIN, "max": LONG_MAX}, "min_doc_count": 0}, {"calendar_interval": "year", "extended_bounds": {"min": "-292275054", "max": "292278993"}, "min_doc_count": 0, "format": "yyyy"},
        {"calendar_interval": "day", "time_zone": "Pacific/Apia", "extended_bounds": {"min": "2011-12-29", "max": "2011-12-31"}}, {"calendar_interval": "1M", "missing": LONG_MAX, "time_zone": "Europe/Berlin"}))],
    aggs("date_range", date_range={"field": "date", "format": "yyyy" * 3_000, "ranges": [{"from": "now-99999999999y/y", "to": "now+99999999999y/y"}]}),
    aggs("auto_range", auto_date_histogram={"field": "date", "buckets": 1, "minimum_interval": "second", "time_zone": "Antarctica/Troll"}),
    aggs("date_nanos", date_histogram={"field": "date_nanos", "fixed_interval": "1ns"}),
    aggs("composite_dates", composite={"sources": [{"d": {"date_histogram": {"field": "date", "calendar_interval": "month", "time_zone": "Europe/Berlin", "format": "GGGG uuuuuu-MMMM"}}}], "after": {"d": "-"}}),
    search("formats_of_time", lambda: {"query": {"range": {"date": {"gte": "2020", "format": "||".join(["yyyy"] * 20_000)}}}}),
    search("formats_optional", lambda: {"query": {"range": {"date": {"gte": "2020", "format": "[" * 5_000 + "yyyy" + "]" * 5_000}}}}),
    search("formats_padded", {"docvalue_fields": [{"field": "date", "format": "p" * 10_000 + "y" * 10_000}]}),
    search("formats_fractions", {"docvalue_fields": [{"field": "date", "format": "S" * 100_000}]}),
    search("formats_quotes", {"docvalue_fields": [{"field": "date", "format": "'" * 100_001}]}),
    search("formats_numbers", {"docvalue_fields": [{"field": "double", "format": "#" * 100_000 + "." + "0" * 100_000}], "aggs": {"m": {"max": {"field": "double", "format": "0" * 400 + "." + "0" * 400}}}}),
    search("distance_feature", {"query": {"distance_feature": {"field": "date", "origin": "now-99999y", "pivot": "0.0000001nanos"}}}),
    search("decay", {"query": {"function_score": {"gauss": {"date": {"origin": LONG_MIN, "scale": "9223372036854775807ms", "offset": "106751991167d", "decay": 5e-324}}}}}),
    search("decay_of_numbers", {"query": {"function_score": {"exp": {"double": {"origin": 1e308, "scale": 5e-324, "offset": 1e308, "decay": 0.999999999}}}}}),
    Case("index_math", "GET", "/%3Cx-%7Bnow%2Fd%7Byyyy.MM.dd'" + "%7B" * 300 + "'%7D%7D%3E/_search", None),
    Case("index_math_many", "GET", "/" + ",".join(["%3Cx-%7Bnow%2B1d%7ByyyyMMdd%7D%7D%3E"] * 60) + "/_search", None),
    Case("index_math_far", "PUT", "/%3Cx-%7Bnow%2B9223372036854775807y%7Byyyy%7D%7D%3E", None, cleanup=[("DELETE", "/x-*?expand_wildcards=all")]),
    Case("index_math_long", "PUT", "/%3C%7Bnow%7B" + "y" * 3_000 + "%7D%7D%3E", None),
    Case("date_index_name", "POST", "/_ingest/pipeline/_simulate", {"pipeline": {"processors": [{"date_index_name": {"field": "d", "index_name_prefix": "x-", "date_rounding": "s", "index_name_format": "y" * 5_000,
        "date_formats": ["UNIX_MS", "TAI64N", "ISO8601"], "timezone": "+18:00"}}]}, "docs": [{"_source": {"d": d}} for d in (LONG_MAX, LONG_MIN, "9" * 1_000, "@" + "f" * 24, "-999999999-01-01T00:00:00Z")]}),
    Case("dates_ingested", "POST", "/_ingest/pipeline/_simulate", {"pipeline": {"processors": [{"date": {"field": "d", "formats": ["UNIX", "UNIX_MS", "TAI64N", "ISO8601", "yyyy"], "timezone": "{{z}}",
        "output_format": "yyyy" * 1_000}}]}, "docs": [{"_source": {"d": d, "z": z}} for d in (1e308, -1e308, "1e400", LONG_MAX, "@" + "f" * 24) for z in ("+18:00", "Europe/Berlin", "x")]}),
]

PARAMETERS = [
    Case(f"parameter_{n}", "GET", path, None, OK + REFUSED) for n, path in enumerate((
        f"/ends/_search?size={'9' * 3_000}", f"/ends/_search?from=-{'9' * 300}", "/ends/_search?size=1e3", "/ends/_search?track_total_hits=-1", f"/ends/_search?track_total_hits={LONG_MAX}",
        "/ends/_search?terminate_after=-2147483648", "/ends/_search?timeout=0.00000000001nanos", "/ends/_search?batched_reduce_size=0", "/ends/_search?max_concurrent_shard_requests=-1",
        "/ends/_search?pre_filter_shard_size=99999999999", f"/ends/_search?q={'(' * 1_500}", f"/ends/_search?q={'a*' * 1_500}", "/ends/_search?q=" + "%C2%A0" * 500, "/ends/_search?q=/(a%2B)%2B/~2",
        f"/ends/_search?sort={'long,' * 700}", f"/ends/_search?docvalue_fields={'*,' * 1_500}", f"/ends/_search?_source_includes={'*a' * 1_500}", f"/ends/_search?stored_fields={'*,' * 1_000}",
        "/ends/_search?suggest_field=t&suggest_text=wrods&suggest_size=2147483647", f"/ends/_search?preference={'%F0%9F%92%A9' * 250}", "/ends/_search?routing=" + "%00" * 900,
        f"/ends/_doc/{'%F0%9F%92%A9' * 250}", "/ends/_doc/%2e%2e%2f%2e%2e", "/ends/_doc/0?version=-1&version_type=external", f"/ends/_doc/0?version={LONG_MAX}", "/ends/_doc/0?preference=_local&realtime=maybe",
        f"/{'*-' * 700}/_search", f"/{'*,-*,' * 500}/_search", "/" + ",".join(["<>"] * 500) + "/_search", "/-*/_search?expand_wildcards=all,none,open,closed,hidden", "/%2a%2a%2a%2a/_count",
        "/_resolve/index/" + "*a" * 700, "/_cluster/state/" + "metadata," * 300, "/_cluster/health?level=" + "x" * 3_000, "/_cluster/health?wait_for_active_shards=-9999999999&timeout=1ms",
        "/_cluster/health?wait_for_nodes=%3E%3D%3E%3D1&timeout=1ms", "/_nodes/_all/stats/indices/" + "docs," * 500, "/_nodes/stats?types=" + "*," * 1_000, "/_stats?fields=" + "*a" * 1_000,
        "/_segments?verbose=" + "true" * 500, "/_cat/indices?h=" + ",".join(["*"] * 800), "/_cat/indices?h=" + "index," * 700 + "&s=" + "index:desc," * 20, "/_cat/indices?bytes=zb", "/_cat/indices?time=eons",
        "/_cat/shards?h=*&v&help", "/_cat/nodes?format=yaml&pretty&h=*", "/_cat/segments?format=cbor&h=*", "/_cat/thread_pool/" + "*," * 1_000, "/_cat/aliases/" + "a," * 1_500, "/_cat/fielddata/*?h=" + "f," * 1_500,
        "/_cat/tasks?detailed&actions=" + "*," * 1_000, "/_cat/health?ts=perhaps", "/_cat/count/" + "*" * 3_000, "/_cat/templates/" + "*a" * 1_000, "/_cat/recovery?active_only=&s=" + "index," * 500,
        "/_cat/allocation?s=" + "%2C" * 1_000, "/_cat/" + "x" * 3_000, "/_cat/indices?h=" + "%C3%A4," * 300, "/_cat/repositories?v=" + "t" * 3_000, "/_cat/snapshots/*?ignore_unavailable",
        "/_search?filter_path=" + "**." * 900 + "x", "/_cluster/state?filter_path=" + ",".join(["**.**.**.**.*a*"] * 200), "/_nodes?filter_path=" + "-**," * 700, "/_nodes?filter_path=" + "*" * 3_500,
        "/_cluster/state?filter_path=" + ",".join(f"**.a{n}*.**.b*" for n in range(200)), "/_cluster/state?filter_path=" + ".".join(["**", "*"] * 500), "/_all/_mapping?filter_path=" + ",".join(["-**.type"] * 300),
        "/nowhere/_search?error_trace=true&" + "&".join(["error_trace"] * 300), f"/{'x' * 3_500}?error_trace=true", "/ends/_mapping/field/" + "*," * 1_500, "/ends/_settings/" + "*a" * 1_500,
        "/ends/_field_caps?fields=" + "*," * 1_500, "/ends/_termvectors/2?fields=" + "*," * 1_000, "/ends/_explain/2?q=" + "t:x%20" * 500, "/ends/_validate/query?explain&q=" + "(" * 1_000,
        "/_tasks?nodes=" + "x," * 1_500 + "&timeout=-1", "/_tasks?parent_task_id=" + "a:" + "9" * 3_000, "/_nodes/hot_threads?type=" + "cpu," * 300, "/_ingest/pipeline/" + "*," * 1_500, "/_ilm/policy/" + "*a" * 1_000,
        "/_data_stream/" + "*," * 1_000 + "?expand_wildcards=all", "/_component_template/" + "*a*" * 1_000, "/_snapshot/" + "*," * 1_500, "/_alias/" + "*,-*," * 700, "/_analyze?text=" + "a%20" * 1_000 + "&analyzer=x",
        "/_search/template?source=" + "%7B%7B" * 500, "/_render/template?source=%7B%7B%23a%7D%7D", "/_search/scroll?scroll_id=" + "A" * 3_000, "/_async_search/" + "A" * 3_000, "/ends/_mvt/geo_point/29/536870911/0",
        "/ends/_mvt/geo_point/0/0/0?grid_precision=8&extent=2147483647&size=10000", "/ends/_mvt/geo_point/-1/-1/-1", "/ends/_mvt/" + "x" * 3_000 + "/1/1/1"))
]

GLOBE = [
    search(f"grid_{kind}_{n}", {"size": 0, "aggs": {"a": {kind: {"field": "geo_point", "precision": precision, "bounds": bounds}}}})
    for kind, precision in (("geotile_grid", 29), ("geohash_grid", 12), ("geohex_grid", 15)) for n, bounds in enumerate((
        {"top_left": [-180, 90], "bottom_right": [180, -90]}, {"top_left": [180, 90], "bottom_right": [-180, 90]}, {"top_left": [0, -90], "bottom_right": [0, 90]},
        {"wkt": "BBOX (1e308, -1e308, 1e308, -1e308)"}, {"top_left": "z" * 10_000, "bottom_right": "0"}))
] + [
    search(f"place_{n}", {"query": query}) for n, query in enumerate((
        {"geo_distance": {"distance": "1e308km", "geo_point": [0, 90]}}, {"geo_distance": {"distance": "5e-324mm", "geo_point": [180, -90]}}, {"geo_distance": {"distance": "9" * 10_000 + "m", "geo_point": "90,180"}},
        {"geo_distance": {"distance": "-1m", "geo_point": [0, 0]}}, {"geo_bounding_box": {"geo_point": {"top_left": [180, 90], "bottom_right": [-180, -90]}}},
        {"geo_bounding_box": {"geo_point": {"wkt": "BBOX (" + "9" * 10_000 + ", 0, 1, 0)"}}}, {"geo_bounding_box": {"geo_point": {"top": "Infinity", "left": "NaN", "bottom": 0, "right": 0}}},
        {"geo_shape": {"s": {"shape": {"type": "circle", "coordinates": [0, 90], "radius": "1e308km"}}}}, {"geo_shape": {"s": {"shape": {"type": "envelope", "coordinates": [[180, 90], [-180, -90]]}}}},
        {"geo_shape": {"s": {"shape": {"type": "polygon", "coordinates": [[[-180, -90], [180, -90], [180, 90], [-180, 90], [-180, -90]]]}, "relation": "disjoint"}}},
        {"geo_shape": {"s": {"shape": "POLYGON ((-180 90, 180 90, 0 90, -180 90))"}}}, {"geo_shape": {"s": {"shape": "LINESTRING (0 90, 180 90, -180 -90, 0 -90)"}}},
        {"geo_shape": {"s": {"shape": "GEOMETRYCOLLECTION (" * 5_000}}}, {"geo_shape": {"s": {"shape": "MULTIPOINT (" + "EMPTY," * 50_000 + "EMPTY)"}}},
        {"geo_grid": {"geo_point": {"geotile": "29/536870912/0"}}}, {"geo_grid": {"geo_point": {"geohex": "f" * 16}}}, {"geo_grid": {"geo_point": {"geohash": "z" * 5_000}}},
        {"geo_polygon": {"geo_point": {"points": [[0, 90], [180, 90], [-180, 90]]}}}))
] + [
    Case("places_written", "POST", "/ends/_bulk", lambda: Lines([line for shape in (
        "POLYGON ((-180 90, 180 90, 180 -90, -180 -90, -180 90))", "POLYGON ((0 90, 90 90, 180 90, -90 90, 0 90))", "LINESTRING (-180 0, 180 0)", "LINESTRING (180 90, -180 -90, 180 -90)", "POINT (1e308 1e308)",
        "ENVELOPE (180, -180, 90, -90)", "CIRCLE (0 90 1e308)", "BBOX (0, 0, 90, -90)", {"type": "Point", "coordinates": [180.0000001, 90.0000001]}, {"type": "circle", "coordinates": [0, 0], "radius": "0m"},
        {"type": "polygon", "coordinates": [[[0, 0]] * 50_000]}, {"type": "multilinestring", "coordinates": [[[n % 180, 90], [-(n % 180), -90]] for n in range(5_000)]}) for line in ({"index": {}}, {"s": shape})]), seconds=60),
    search("sort_distances", lambda: {"sort": [{"_geo_distance": {"geo_point": [[n % 180, n % 90] for n in range(50_000)], "mode": "avg", "distance_type": "arc", "unit": "nmi"}}]}),
    search("line_of_poles", {"size": 0, "aggs": {"a": {"geo_line": {"point": {"field": "geo_point"}, "sort": {"field": "date"}}}, "b": {"geo_bounds": {"field": "geo_point", "wrap_longitude": True}},
                                                 "c": {"geo_centroid": {"field": "geo_point"}}, "d": {"cartesian_bounds": {"field": "geo_point"}}}}),
    aggs("distance_ranges", geo_distance={"field": "geo_point", "origin": "90,180", "unit": "mm", "ranges": [{"from": -1e308, "to": 1e308}, {"from": 1e308}]}),
]

OTHERS = [
    search("boosts", {"query": {"bool": {"boost": 3.4e38, "should": [{"match_all": {"boost": 3.4e38}}, {"constant_score": {"boost": 3.4e38, "filter": {"match_all": {}}}}]}}, "min_score": -1e308, "explain": True}),
    search("boost_chain", lambda: {"query": boosted(60)}),
    search("factors", {"query": {"function_score": {"field_value_factor": {"field": "double", "factor": 3.4e38, "modifier": "square", "missing": 1e308}, "max_boost": 3.4e38, "boost_mode": "multiply"}}}),
    search("ranges_of_ranges", {"query": {"bool": {"should": [{"range": {"integer_range": {"gt": 2_147_483_647}}}, {"range": {"integer_range": {"lt": -2_147_483_648}}},
                                                              {"range": {"unsigned_long": {"gt": 18_446_744_073_709_551_615}}}, {"range": {"byte": {"gte": 127.5, "lt": -128.5}}},
                                                              {"range": {"half_float": {"gt": 65_504.1}}}, {"range": {"ip": {"gt": "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}}}, {"range": {"ip": {"lt": "::"}}}]}}}),
    *[aggs(f"interval_{n}", histogram={"field": field, **options}) for n, (field, options) in enumerate((
        ("double", {"interval": 5e-324}), ("double", {"interval": 1e308, "offset": 1e308}), ("double", {"interval": 1, "min_doc_count": 0}), ("long", {"interval": 1e-10, "min_doc_count": 1}),
        ("long", {"interval": 1, "hard_bounds": {"min": -1e308, "max": 1e308}, "min_doc_count": 0}), ("unsigned_long", {"interval": 0.1}), ("double", {"interval": 1e300, "extended_bounds": {"min": -1e308, "max": 1e308}, "min_doc_count": 0}),
        ("double", {"interval": "NaN"}), ("scaled_float", {"interval": 1e-300, "missing": 1e300})))],
    aggs("statistics", extended_stats={"field": "double", "sigma": 1e308, "missing": 1e308}),
    aggs("percent_ends", percentiles={"field": "double", "percents": [0, 5e-324, 100], "hdr": {"number_of_significant_value_digits": 5}}),
    aggs("rank_ends", percentile_ranks={"field": "long", "values": [1e308, -1e308, LONG_MAX], "tdigest": {"compression": 0}}),
    aggs("weights", weighted_avg={"value": {"field": "double"}, "weight": {"field": "double", "missing": 1e308}}),
    aggs("widths", variable_width_histogram={"field": "double", "buckets": 2}),
    aggs("prefixes", ip_prefix={"field": "ip", "prefix_length": 128, "is_ipv6": True, "append_prefix_length": True}),
    aggs("masks", ip_range={"field": "ip", "ranges": [{"mask": "::/0"}, {"mask": "ffff::/128"}, {"mask": "0.0.0.0/33"}, {"from": "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}]}),
    Case("painless_least", "POST", "/_scripts/painless/_execute", {"script": {"source": "long a = -9223372036854775808L; int b = -2147483648; return Math.abs(a) + Math.abs(b) + a / -1 + b / -1 + a % -1"}}, 200),
    Case("painless_numbers", "POST", "/_scripts/painless/_execute", {"script": {"source": "new BigDecimal('1e999999999').toBigInteger().bitLength()"}}),
    Case("painless_plain", "POST", "/_scripts/painless/_execute", {"script": {"source": "new BigDecimal('1e999999999').toPlainString().length()"}}),
    Case("painless_sum", "POST", "/_scripts/painless/_execute", {"script": {"source": "new BigDecimal('1e999999999').add(new BigDecimal('1')).precision()"}}),
    Case("painless_power", "POST", "/_scripts/painless/_execute", {"script": {"source": "BigInteger.TWO.pow(2147483647).bitLength()"}}),
    Case("painless_shift", "POST", "/_scripts/painless/_execute", {"script": {"source": "BigInteger.ONE.shiftLeft(2147483647).add(BigInteger.ONE).toString().length()"}}),
    Case("painless_literal", "POST", "/_scripts/painless/_execute", lambda: {"script": {"source": "double d = " + DIGITS + "." + DIGITS + "; return d"}}),
    Case("painless_parse", "POST", "/_scripts/painless/_execute", lambda: {"script": {"source": "Double.parseDouble(params.d) + new BigDecimal(params.d).doubleValue()", "params": {"d": DIGITS}}}),
    Case("painless_dates", "POST", "/_scripts/painless/_execute", {"script": {"source": "ZonedDateTime.ofInstant(Instant.ofEpochMilli(9223372036854775807L), ZoneId.of('Europe/Berlin')).plusYears(999999999L).toString()"}}),
    Case("painless_durations", "POST", "/_scripts/painless/_execute", {"script": {"source": "Duration.ofSeconds(9223372036854775807L).plusDays(9223372036854775807L).toString()"}}),
    Case("painless_instants", "POST", "/_scripts/painless/_execute", {"script": {"source": "Instant.MAX.plusNanos(1L).toEpochMilli() + LocalDate.MAX.lengthOfYear()"}}),
    Case("convert_numbers", "POST", "/_ingest/pipeline/_simulate", lambda: {"pipeline": {"processors": [{"convert": {"field": "a", "type": kind, "target_field": kind, "ignore_failure": True}}
        for kind in ("integer", "long", "float", "double", "boolean", "ip", "auto", "string")] + [{"bytes": {"field": "a", "ignore_failure": True}}]},
        "docs": [{"_source": {"a": a}} for a in (DIGITS, "1e" + DIGITS, "0x" + "f" * 100_000, "-" + DIGITS + "tb", "0." + DIGITS + "pb")]}),
    several("settings_of_numbers", [("PUT", "/ends/_settings", {f"index.{name}": value}) for name in ("max_result_window", "refresh_interval", "mapping.total_fields.limit", "translog.flush_threshold_size", "max_ngram_diff")
                                    for value in (DIGITS, "1e999999999", "-" + DIGITS, "9223372036854775808b", "0." + DIGITS + "s")]),
]


def boosted(depth):
    query = {"match_all": {"boost": 1e30}}
    for _ in range(depth):
        query = {"bool": {"boost": 1e30, "must": [query]}}
    return query


CASES = DOCUMENTS + TIME + PARAMETERS + GLOBE + OTHERS
