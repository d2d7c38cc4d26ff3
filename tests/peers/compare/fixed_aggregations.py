"""Every type of aggregation with its options, alone and below others."""
from .fixed_queries import BOX, PARIS
from .requests import List


def requests():
    out = List()
    terms(out), histograms(out), ranges(out), composite(out), sampling(out), significant(out), geo(out), nested(out), metrics(out), scripts(out), pipelines(out), kinds(out)
    return out.requests


def terms(out):
    aggs = out.aggs
    for options in [{"field": "Carrier"}, {"field": "DestCountry", "size": 3, "shard_size": 5, "show_term_doc_count_error": True}, {"field": "DestCountry", "include": ["US", "IT", "XX"]},
                    {"field": "DestCountry", "include": "[A-I].*", "exclude": ".*T", "size": 50}, {"field": "DestCountry", "collect_mode": "breadth_first"}, {"field": "dayOfWeek"},
                    {"field": "dayOfWeek", "exclude": [1, 2]}, {"field": "dayOfWeek", "include": [1, 2], "order": {"_key": "asc"}}, {"field": "AvgTicketPrice", "size": 3, "order": {"_key": "asc"}},
                    {"field": "FlightDelay", "missing": True}, {"field": "DestCountry", "missing": "zz", "size": 40}, {"field": "timestamp", "size": 2, "order": {"_key": "desc"}},
                    {"field": "DestCountry", "execution_hint": "map"}, {"field": "DestCountry", "execution_hint": "nope"}, {"field": "dayOfWeek", "format": "0.0"},
                    {"field": "dayOfWeek", "value_type": "long"}, {"field": "DestCountry", "shard_min_doc_count": 3, "min_doc_count": 5}, {"field": "OriginLocation"}, {"field": "DestCountry", "nope": 1},
                    {"field": "Carrier", "order": {"nope": "asc"}}, {"field": "Carrier", "order": {"_count": "up"}}, {"field": "Carrier", "size": -1}, {"field": "Carrier", "missing": 5}]:
        aggs("flights", {"terms": options})
        aggs("flights", {"terms": options, "aggs": {"p": {"avg": {"field": "AvgTicketPrice"}}}}, {"range": {"timestamp": {"lt": "2018-01-20"}}})
    for options in [{"terms": [{"field": "Carrier"}, {"field": "DestWeather"}]}, {"terms": [{"field": "Carrier"}, {"field": "dayOfWeek"}], "size": 5, "order": {"_key": "desc"}},
                    {"terms": [{"field": "FlightDelay"}, {"field": "Carrier", "missing": "x"}], "min_doc_count": 100}, {"terms": [{"field": "Carrier"}]}, {"terms": [{"field": "Carrier"}, {"field": "nope"}]},
                    {"terms": [{"field": "Carrier"}, {"field": "dayOfWeek"}], "order": {"p": "desc"}, "size": 4}, {"terms": [{"field": "timestamp", "format": "yyyy"}, {"field": "Carrier"}]}]:
        aggs("flights", {"multi_terms": options, "aggs": {"p": {"max": {"field": "AvgTicketPrice"}}}})
    for options in [{"field": "OriginCityName"}, {"field": "OriginCityName", "max_doc_count": 30}, {"field": "AvgTicketPrice"}, {"field": "OriginCityName", "max_doc_count": 40, "include": "[A-M].*"},
                    {"field": "OriginCityName", "max_doc_count": 200}, {"field": "nope"}, {"field": "OriginCityName", "precision": 0.1}, {"field": "FlightDelay"}, {"field": "OriginCountry", "exclude": ["US"], "max_doc_count": 50}]:
        aggs("flights", {"rare_terms": options}, {"range": {"AvgTicketPrice": {"lt": 150}}})
        aggs("flights", {"rare_terms": options, "aggs": {"p": {"min": {"field": "AvgTicketPrice"}}}})
    for options in [{"field": "Carrier"}, {"field": "nope"}, {"field": "timestamp"}, {"field": "Carrier", "missing": "x"}]:
        aggs("flights", {"missing": options}), aggs("flights", {"value_count": options})
    aggs("flights", {"global": {}, "aggs": {"c": {"terms": {"field": "Carrier"}}}}, {"term": {"Carrier": "JetBeats"}})
    aggs("flights", {"terms": {"field": "Carrier"}, "aggs": {"g": {"global": {}}}}), aggs("accounts,flights", {"terms": {"field": "_index"}}), aggs("kinds", {"terms": {"field": "_id", "size": 3}})
    for options in [{"filters": {"a": {"term": {"Carrier": "JetBeats"}}, "b": {"range": {"AvgTicketPrice": {"gte": 500}}}, "c": {"term": {"FlightDelay": True}}}},
                    {"filters": {"a": {"term": {"Carrier": "JetBeats"}}, "b": {"match_all": {}}}, "separator": "+"}, {"filters": {}}]:
        aggs("flights", {"adjacency_matrix": options}), aggs("flights", {"adjacency_matrix": options, "aggs": {"p": {"avg": {"field": "AvgTicketPrice"}}}}, {"term": {"DestCountry": "US"}})
    for options in [{"filters": [{"term": {"Carrier": "JetBeats"}}, {"term": {"FlightDelay": True}}], "other_bucket_key": "rest"}, {"filters": {"a": {"match_none": {}}}, "other_bucket": True}, {"filters": []},
                    {"filters": {"a": {"term": {"FlightDelay": True}}}, "keyed": False}]:
        aggs("flights", {"filters": options, "aggs": {"p": {"stats": {"field": "AvgTicketPrice"}}}})


def histograms(out):
    aggs = out.aggs
    for options in [{"interval": 100}, {"interval": 0.5, "min_doc_count": 1, "offset": 0.25}, {"interval": 250, "keyed": True}, {"interval": 100, "order": {"_key": "desc"}}, {"interval": 100, "format": "$#,##0.00"},
                    {"interval": 200, "extended_bounds": {"min": -400, "max": 2000}}, {"interval": 200, "hard_bounds": {"min": 300, "max": 700}}, {"interval": 100, "missing": -5},
                    {"interval": 100, "extended_bounds": {"min": 5, "max": 1}}, {"interval": 1e-9}, {"interval": "x"}]:
        aggs("flights", {"histogram": {"field": "AvgTicketPrice", **options}}, {"range": {"AvgTicketPrice": {"lt": 1000}}})
        aggs("flights", {"histogram": {"field": "AvgTicketPrice", **options}, "aggs": {"c": {"terms": {"field": "Carrier", "size": 2}}}}, {"range": {"AvgTicketPrice": {"lt": 130}}})
    for unit in ["minute", "hour", "day", "week", "month", "quarter", "year", "1h", "1M", "1q", "1y", "second"]:
        for zone in [None, "America/New_York", "Asia/Kathmandu"]:
            aggs("flights", {"date_histogram": {"field": "timestamp", "calendar_interval": unit, **({"time_zone": zone} if zone else {}), "min_doc_count": 1}}, {"range": {"timestamp": {"gte": "2018-01-08", "lt": "2018-01-09"}}})
    for unit in ["30s", "45m", "5h", "3d", "100d", "1ms"]:
        aggs("flights", {"date_histogram": {"field": "timestamp", "fixed_interval": unit, "min_doc_count": 1, "time_zone": "-03:30"}}, {"range": {"timestamp": {"gte": "2018-01-08", "lt": "2018-01-08T03"}}})
    for options in [{"calendar_interval": "month", "offset": "-2d"}, {"calendar_interval": "day", "offset": "+90m", "time_zone": "Europe/Berlin"}, {"calendar_interval": "week", "format": "YYYY-'w'ww"},
                    {"calendar_interval": "month", "missing": "2020-01-01"}, {"fixed_interval": "7d", "keyed": True, "format": "epoch_second"}, {"calendar_interval": "day", "min_doc_count": 400},
                    {"calendar_interval": "week", "extended_bounds": {"min": "2017-12-01", "max": "2018-03-01||/M"}}, {"calendar_interval": "week", "hard_bounds": {"min": "2018-01-10", "max": "2018-01-25"}},
                    {"calendar_interval": "day", "order": {"p": "desc"}}, {"fixed_interval": "1M"}, {"calendar_interval": "day", "fixed_interval": "1d"}, {"fixed_interval": "0d"},
                    {"calendar_interval": "day", "time_zone": "Nowhere/At_All"}, {"calendar_interval": "day", "format": "nope["}]:
        aggs("flights", {"date_histogram": {"field": "timestamp", **options}, "aggs": {"p": {"avg": {"field": "AvgTicketPrice"}}}})
    for options in [{"buckets": 5}, {"buckets": 10, "minimum_interval": "day"}, {"buckets": 20, "time_zone": "America/New_York"}, {"buckets": 3, "format": "yyyy-MM"}, {"buckets": 60}, {}, {"buckets": 0},
                    {"buckets": 10, "missing": "2018-06-01"}, {"minimum_interval": "nope"}]:
        for bounds in [{"gte": "2018-01-01"}, {"gte": "2018-01-08", "lt": "2018-01-08T05"}, {"gte": "2018-01-08", "lt": "2018-01-12"}]:
            aggs("flights", {"auto_date_histogram": {"field": "timestamp", **options}, "aggs": {"p": {"sum": {"field": "dayOfWeek"}}}}, {"range": {"timestamp": bounds}})
    for options in [{"buckets": 3}, {}, {"buckets": 4, "shard_size": 100, "initial_buffer": 1000}, {"buckets": 0}, {"buckets": 5, "shard_size": 2}]:
        aggs("accounts", {"variable_width_histogram": {"field": "age", **options}}), aggs("accounts", {"variable_width_histogram": {"field": "balance", **options}}, {"term": {"state": "TX"}})


def ranges(out):
    aggs = out.aggs
    for options in [{"ranges": [{"to": 100.5}, {"from": 100.5, "to": 500}, {"from": 500, "key": "dear"}]}, {"ranges": [{"from": "100", "to": "200"}], "keyed": True}, {"ranges": [{}]}, {"ranges": [{"from": None, "to": 300}]},
                    {"ranges": [{"from": 300, "to": 100}]}, {"ranges": [{"to": 5}], "missing": 1}, {"ranges": [{"from": 1.1, "to": 2.2}], "format": "0.000"}, {"ranges": [{"from": "x"}]}]:
        aggs("flights", {"range": {"field": "AvgTicketPrice", **options}, "aggs": {"d": {"max": {"field": "DistanceMiles"}}}})
    for options in [{"ranges": [{"to": "2018-01-05"}, {"from": "2018-01-05", "to": "2018-01-20||/M"}, {"from": "2018-01-20"}]}, {"ranges": [{"from": "2018-01", "to": "2018-02"}], "format": "yyyy-MM"},
                    {"ranges": [{"from": "2018-01-05", "to": "2018-01-06"}], "time_zone": "America/New_York"}, {"ranges": [{"from": 1515110400000}]}, {"ranges": [{"to": "2018-01-05"}], "keyed": True, "missing": "1970-01-01"},
                    {"ranges": [{"from": "now-200M/M", "to": "now+1M", "key": "k"}], "format": "yyyy"}, {"ranges": [{"from": "nope"}]}]:
        aggs("flights", {"date_range": {"field": "timestamp", **options}})
    for options in [{"ranges": [{"to": "199.0.0.0"}, {"from": "199.0.0.0", "to": "200.0.0.0"}, {"from": "200.0.0.0"}]}, {"ranges": [{"mask": "199.72.0.0/16"}, {"mask": "205.0.0.0/8"}], "keyed": True},
                    {"ranges": [{"from": "10.0.0.0"}]}, {"ranges": [{"mask": "nope"}]}, {"ranges": [{"mask": "199.0.0.0/8", "key": "a"}]}, {"ranges": []}]:
        aggs("http_logs", {"ip_range": {"field": "clientip", **options}})
    aggs("kinds", {"ip_range": {"field": "address", "ranges": [{"mask": "2001:db8::/32"}, {"from": "10.0.1.0", "to": "10.0.2.0"}]}})


def composite(out):
    source = {"c": {"terms": {"field": "Carrier"}}, "o": {"terms": {"field": "DestCountry", "order": "desc"}}, "d": {"date_histogram": {"field": "timestamp", "calendar_interval": "week"}},
              "h": {"histogram": {"field": "AvgTicketPrice", "interval": 250}}, "m": {"terms": {"field": "FlightDelayType", "missing_bucket": True}}, "b": {"terms": {"field": "Cancelled"}},
              "t": {"date_histogram": {"field": "timestamp", "fixed_interval": "5d", "format": "yyyy-MM-dd", "time_zone": "Asia/Tokyo"}}, "g": {"geotile_grid": {"field": "DestLocation", "precision": 3}}}
    for names in ["c", "o", "d", "h", "m", "b", "t", "g", "cb", "oc", "dh", "cdm", "hb", "tg", "co"]:
        sources = [{name: source[name]} for name in names]
        out.aggs("flights", {"composite": {"sources": sources, "size": 7}})
        out.aggs("flights", {"composite": {"sources": sources, "size": 40}, "aggs": {"p": {"avg": {"field": "AvgTicketPrice"}}}}, {"term": {"OriginCountry": "US"}})
    for sources, after in [([{"c": source["c"]}], {"c": "JetBeats"}), ([{"o": source["o"]}, {"c": source["c"]}], {"o": "US", "c": "K"}), ([{"d": source["d"]}], {"d": 1515110400000}), ([{"t": source["t"]}], {"t": "2018-01-10"}),
                           ([{"h": source["h"]}], {"h": 500.0}), ([{"c": source["c"]}], {"x": 1}), ([{"b": source["b"]}], {"b": False}), ([{"c": source["c"]}], {"c": None}), ([{"h": source["h"]}], {"h": "x"})]:
        out.aggs("flights", {"composite": {"sources": sources, "after": after, "size": 5}})
    for options in [{"sources": []}, {}, {"sources": [{"a": {"nope": {}}}]}, {"sources": [{"a": source["c"]}, {"a": source["o"]}]}, {"sources": [{"c": source["c"]}], "size": 0}, {"sources": [{"c": {"terms": {"field": "nope"}}}]},
                    {"sources": [{"c": {"terms": {"field": "nope", "missing_bucket": True}}}]}, {"sources": [{"c": {"terms": {"field": "FlightDelayType", "missing_bucket": True, "missing_order": "last"}}}]}]:
        out.aggs("flights", {"composite": options})
    for field in ["tags", "longs", "doubles", "flag", "when", "address"]:
        out.aggs("kinds", {"composite": {"sources": [{"a": {"terms": {"field": field}}}], "size": 12}})
        out.aggs("kinds", {"composite": {"sources": [{"a": {"terms": {"field": field, "missing_bucket": True, "order": "desc"}}}, {"g": {"terms": {"field": "group"}}}], "size": 30}})


def sampling(out):
    below = {"t": {"terms": {"field": "Carrier"}}}
    for options in [{"shard_size": 100000}, {}, {"shard_size": 50}, {"shard_size": 0}]:
        out.aggs("flights", {"sampler": options, "aggs": {"m": {"value_count": {"field": "Carrier"}}}}, {"match_all": {}})
    for options in [{"field": "Carrier", "max_docs_per_value": 3}, {"field": "dayOfWeek", "shard_size": 20}, {"field": "Carrier", "execution_hint": "map"}, {"field": "nope"}, {"script": "doc['dayOfWeek'].value"}]:
        out.aggs("flights", {"diversified_sampler": options, "aggs": {"m": {"value_count": {"field": "Carrier"}}}})
    out.aggs("flights", {"random_sampler": {"probability": 1}, "aggs": below}), out.aggs("flights", {"random_sampler": {"probability": 2}, "aggs": below}), out.aggs("flights", {"random_sampler": {"probability": 0.1}})
    for hits in [{"size": 2, "sort": ["FlightNum"]}, {"size": 1, "sort": [{"AvgTicketPrice": "desc"}], "_source": ["Carrier", "AvgTicketPrice"]}, {"from": 1, "size": 1, "sort": ["FlightNum"], "docvalue_fields": ["dayOfWeek"], "_source": False},
                 {"size": 1, "sort": ["FlightNum"], "version": True, "seq_no_primary_term": True, "fields": ["timestamp"]}, {"size": 0}, {"size": 101}, {"sort": ["nope"]}, {"size": 1, "track_scores": True, "sort": ["FlightNum"]}]:
        out.aggs("flights", {"terms": {"field": "Carrier"}, "aggs": {"h": {"top_hits": hits}}})
    out.aggs("shakespeare", {"top_hits": {"size": 3}}, {"match": {"text_entry": "love"}}), out.aggs("shakespeare", {"terms": {"field": "speaker", "order": {"s": "desc"}, "size": 3}, "aggs": {
        "h": {"top_hits": {"size": 2, "_source": ["line_id"]}}, "s": {"max": {"script": "_score"}}}}, {"match": {"text_entry": "love"}})


def significant(out):
    love = {"match": {"text_entry": "love"}}
    for options in [{"field": "speaker"}, {"field": "speaker", "size": 3, "min_doc_count": 1}, {"field": "speaker", "jlh": {}}, {"field": "speaker", "mutual_information": {"include_negatives": True}}, {"field": "speaker", "chi_square": {}},
                    {"field": "speaker", "gnd": {}}, {"field": "speaker", "percentage": {}}, {"field": "speaker", "background_filter": {"term": {"play_name": "Henry IV"}}}, {"field": "speaker", "include": "[A-K].*"},
                    {"field": "speaker", "exclude": ["HAMLET"]}, {"field": "line_id"}, {"field": "speaker", "chi_square": {"background_is_superset": False}}, {"field": "text_entry"}, {"field": "nope"}, {}, {"field": "speaker", "nope": {}},
                    {"field": "play_name", "min_doc_count": 1}, {"field": "speaker", "execution_hint": "map", "shard_size": 20}]:
        out.aggs("shakespeare", {"significant_terms": options}, love)
    out.aggs("shakespeare", {"terms": {"field": "play_name"}, "aggs": {"s": {"significant_terms": {"field": "speaker", "size": 2}}}})
    for options in [{"field": "text_entry"}, {"field": "text_entry", "size": 4, "min_doc_count": 2}, {"field": "text_entry", "source_fields": ["text_entry"]}, {"field": "text_entry", "chi_square": {}}, {"field": "text_entry", "exclude": ["love"]},
                    {"field": "text_entry", "background_filter": {"term": {"speaker": "HAMLET"}}}, {"field": "speaker"}, {"field": "nope"}]:
        out.aggs("shakespeare", {"significant_text": options}, love), out.aggs("shakespeare", {"sampler": {"shard_size": 20000}, "aggs": {"s": {"significant_text": options}}}, love)


def geo(out):
    for kind, options in [("geohash_grid", {"precision": 1}), ("geohash_grid", {"precision": "100km", "size": 9}), ("geohash_grid", {"precision": 12, "size": 3}), ("geohash_grid", {"precision": 13}), ("geohash_grid", {"shard_size": 20, "size": 5}),
                          ("geohash_grid", {"precision": 3, "bounds": BOX}), ("geotile_grid", {"precision": 0}), ("geotile_grid", {"precision": 29, "size": 3}), ("geotile_grid", {"precision": 30}), ("geotile_grid", {"precision": 8, "bounds": BOX}),
                          ("geohex_grid", {"precision": 2}), ("geohex_grid", {"precision": 5, "bounds": BOX}), ("geo_bounds", {}), ("geo_bounds", {"wrap_longitude": False}), ("geo_centroid", {}), ("geo_line", {"point": {"field": "x"}, "sort": {"field": "y"}}),
                          ("geo_distance", {"origin": PARIS, "ranges": [{"to": 500000}, {"from": 500000}]}), ("geo_distance", {"origin": "48,2", "unit": "mi", "distance_type": "plane", "keyed": True, "ranges": [{"to": 900}, {"from": 900, "to": 5000}]}),
                          ("geo_distance", {"origin": PARIS, "ranges": []}), ("geo_distance", {"ranges": [{"to": 1}]}), ("cardinality", {}), ("terms", {}), ("avg", {})]:
        for index, field in [("earthquakes", "location"), ("kinds", "place"), ("flights", "OriginLocation")]:
            out.aggs(index, {kind: {"field": field, **options}})
        out.aggs("earthquakes", {kind: {"field": "location", **options}}, {"range": {"magnitude": {"gte": 5}}})
    out.aggs("earthquakes", {"geotile_grid": {"field": "location", "precision": 4, "size": 5}, "aggs": {"m": {"max": {"field": "magnitude"}}, "c": {"geo_centroid": {"field": "location"}}, "b": {"geo_bounds": {"field": "location"}}}})


def nested(out):
    for below in [{"a": {"terms": {"field": "comments.author"}}}, {"a": {"avg": {"field": "comments.stars"}}}, {"a": {"terms": {"field": "comments.author", "order": {"r": "desc"}}, "aggs": {"r": {"reverse_nested": {}}}}},
                  {"a": {"terms": {"field": "comments.stars"}, "aggs": {"r": {"reverse_nested": {}, "aggs": {"g": {"terms": {"field": "group"}}}}}}}, {"a": {"date_histogram": {"field": "comments.at", "calendar_interval": "month"}}},
                  {"a": {"nested": {"path": "comments.replies"}, "aggs": {"l": {"stats": {"field": "comments.replies.likes"}}}}}, {"a": {"filter": {"term": {"comments.author": "amber"}}, "aggs": {"s": {"sum": {"field": "comments.stars"}}}}},
                  {"a": {"top_hits": {"size": 2, "sort": [{"comments.at": "desc"}, "comments.author"]}}}, {"a": {"nested": {"path": "comments.replies"}, "aggs": {"r": {"reverse_nested": {"path": "comments"}, "aggs": {"s": {"avg": {"field": "comments.stars"}}}}}}},
                  {"a": {"cardinality": {"field": "comments.author"}}}, {"a": {"significant_terms": {"field": "comments.author"}}}, {"a": {"composite": {"sources": [{"a": {"terms": {"field": "comments.author"}}}, {"s": {"terms": {"field": "comments.stars"}}}]}}}]:
        out.aggs("kinds", {"nested": {"path": "comments"}, "aggs": below}), out.aggs("kinds", {"terms": {"field": "group"}, "aggs": {"n": {"nested": {"path": "comments"}, "aggs": below}}}, {"range": {"id": {"lt": 500}}})
    out.aggs("kinds", {"nested": {"path": "nope"}}), out.aggs("kinds", {"reverse_nested": {}}), out.aggs("kinds", {"nested": {}}), out.aggs("kinds", {"terms": {"field": "comments.author"}})
    out.aggs("orders", {"nested": {"path": "products"}, "aggs": {"c": {"terms": {"field": "products.sku"}}, "p": {"stats": {"field": "products.price"}}, "q": {"weighted_avg": {"value": {"field": "products.price"}, "weight": {"field": "products.quantity"}}}}})


def metrics(out):
    for kind, options in [("avg", {}), ("sum", {}), ("min", {}), ("max", {}), ("stats", {}), ("extended_stats", {"sigma": 1}), ("value_count", {}), ("cardinality", {}), ("cardinality", {"precision_threshold": 40000}), ("percentiles", {}),
                          ("percentiles", {"tdigest": {"compression": 200}}), ("percentiles", {"hdr": {}}), ("percentile_ranks", {"values": [0, 10]}), ("median_absolute_deviation", {}), ("boxplot", {}), ("string_stats", {}),
                          ("string_stats", {"show_distribution": True}), ("top_metrics", {"metrics": {"field": "id"}, "sort": {"id": "desc"}})]:
        for field in ["longs", "doubles", "half", "byte", "short", "flag", "when", "tags", "address", "text", "text.raw"]:
            rest = {"field": field} if kind != "top_metrics" else {"metrics": {"field": field}, "sort": {"id": "desc"}}
            out.aggs("kinds", {kind: {**options, **rest}}), out.aggs("kinds", {"terms": {"field": "group", "size": 3}, "aggs": {"m": {kind: {**options, **rest}}}}, {"range": {"id": {"lt": 900}}})
        out.aggs("kinds", {kind: {"field": "nope", **options}}), out.aggs("kinds", {kind: {"field": "doubles", "missing": 5, **options}}), out.aggs("kinds", {kind: {"field": "doubles", "nope": 5, **options}})
    for options in [{"value": {"field": "doubles"}, "weight": {"field": "weight"}}, {"value": {"field": "half", "missing": 2}, "weight": {"field": "weight", "missing": 3}}, {"value": {"field": "half"}, "weight": {"field": "longs"}},
                    {"value": {"field": "half"}}, {"value": {"field": "half"}, "weight": {"field": "weight"}, "format": "0.00"}]:
        out.aggs("kinds", {"weighted_avg": options})
    for options in [{"metrics": {"field": "age"}, "sort": {"balance": "asc"}}, {"metrics": [{"field": "age"}, {"field": "state"}], "sort": {"balance": "desc"}, "size": 3}, {"metrics": {"field": "nope"}, "sort": "age"}, {"metrics": {"field": "age"}}, {"metrics": {"field": "age"}, "sort": "_score"},
                    {"metrics": {"field": "age"}, "sort": {"balance": "asc"}, "size": 20}]:
        out.aggs("accounts", {"top_metrics": options}), out.aggs("accounts", {"terms": {"field": "state", "size": 4}, "aggs": {"t": {"top_metrics": options}}})
    for fields in [["age", "balance"], ["age"], ["age", "nope"], []]:
        out.aggs("accounts", {"matrix_stats": {"fields": fields}}), out.aggs("kinds", {"matrix_stats": {"fields": ["doubles", "weight"], "mode": "max"}})
    for options in [{"a": {"field": "AvgTicketPrice", "filter": {"term": {"Cancelled": True}}}, "b": {"field": "AvgTicketPrice", "filter": {"term": {"Cancelled": False}}}}, {"a": {"field": "AvgTicketPrice"}, "b": {"field": "DistanceMiles"}, "type": "paired"}]:
        out.aggs("flights", {"t_test": options})


def scripts(out):
    for kind in ["avg", "sum", "stats", "max", "value_count", "cardinality", "percentiles"]:
        out.aggs("accounts", {kind: {"script": "doc['balance'].value / doc['age'].value"}}), out.aggs("accounts", {kind: {"field": "balance", "script": {"source": "_value * params.f", "params": {"f": 1.5}}}})
        out.aggs("accounts", {kind: {"script": "doc['nope'].value"}}), out.aggs("accounts", {kind: {"script": {"source": "doc['balance'].value", "lang": "expression"}}})
    for options in [{"script": "doc['state'].value + '/' + doc['gender'].value"}, {"script": "doc['age'].value > 30"}, {"script": "doc['age'].value % 5"}, {"field": "state", "script": "_value.toLowerCase()"}, {"script": "[1, 2]"}, {"script": "nope("},
                    {"script": "doc['balance'].value / 10000.0", "size": 3}, {"script": "doc['city'].value.substring(0, 1)", "order": {"_key": "asc"}}]:
        out.aggs("accounts", {"terms": options})
    out.aggs("accounts", {"histogram": {"script": "doc['age'].value * 2", "interval": 5}}), out.aggs("accounts", {"range": {"script": "doc['age'].value", "ranges": [{"to": 30}]}})
    out.aggs("accounts", {"scripted_metric": {"init_script": "state.t = []", "map_script": "state.t.add(doc['balance'].value)", "combine_script": "double s = 0; for (t in state.t) { s += t } return s", "reduce_script": "double s = 0; for (a in states) { s += a } return s"}})
    out.aggs("flights", {"date_histogram": {"script": "doc['timestamp'].value", "calendar_interval": "month"}}), out.aggs("flights", {"rate": {"unit": "day"}})


def pipelines(out):
    month = {"date_histogram": {"field": "timestamp", "calendar_interval": "week"}}
    inside = {"p": {"avg": {"field": "AvgTicketPrice"}}, "d": {"max": {"field": "DistanceMiles"}}, "f": {"filter": {"term": {"Cancelled": True}}}, "s": {"stats": {"field": "AvgTicketPrice"}}}
    for kind, options in [("derivative", {}), ("derivative", {"unit": "1d"}), ("derivative", {"format": "0.00"}), ("derivative", {"gap_policy": "insert_zeros"}), ("cumulative_sum", {}), ("serial_diff", {"lag": 2}), ("serial_diff", {"lag": 0}),
                          ("moving_fn", {"window": 3, "script": "MovingFunctions.unweightedAvg(values)"}), ("moving_fn", {"window": 3, "shift": 1, "script": "MovingFunctions.stdDev(values, MovingFunctions.unweightedAvg(values))"}),
                          ("moving_fn", {"window": 2, "script": "MovingFunctions.ewma(values, 0.3)"}), ("moving_fn", {"window": 4, "script": "MovingFunctions.holt(values, 0.3, 0.1)"}), ("moving_fn", {"window": 0, "script": "MovingFunctions.max(values)"}),
                          ("moving_fn", {"window": 5, "script": "MovingFunctions.linearWeightedAvg(values)"}), ("normalize", {"method": "percent_of_sum"}), ("normalize", {"method": "z-score"}), ("normalize", {"method": "rescale_0_1", "format": "0.0"}),
                          ("normalize", {"method": "softmax"}), ("normalize", {"method": "nope"}), ("cumulative_cardinality", {}), ("inference", {})]:
        for path in ["p", "_count", "f>_count", "s.max", "nope"]:
            out.aggs("flights", {**month, "aggs": {**inside, "x": {kind: {"buckets_path": path, **options}}}})
    out.aggs("flights", {**month, "aggs": {"u": {"cardinality": {"field": "DestCountry"}}, "x": {"cumulative_cardinality": {"buckets_path": "u"}}}})
    out.aggs("flights", {**month, "aggs": {"u": {"percentiles": {"field": "AvgTicketPrice", "percents": [50]}}, "x": {"moving_percentiles": {"buckets_path": "u", "window": 2}}}}, {"term": {"Carrier": "JetBeats"}})
    for kind in ["avg_bucket", "sum_bucket", "min_bucket", "max_bucket", "stats_bucket", "extended_stats_bucket", "percentiles_bucket"]:
        for path, options in [("h>p", {}), ("h>_count", {}), ("h>s.max", {"format": "0.0"}), ("h>f>_count", {"gap_policy": "insert_zeros"}), ("h>nope", {}), ("nope>p", {}), ("h", {})]:
            out.ask("flights", {"size": 0, "aggs": {"h": {**month, "aggs": inside}, "x": {kind: {"buckets_path": path, **options}}}})
    for script, paths in [("params.p / params.d", {"p": "p", "d": "d"}), ("params.c > 300 ? 1 : 0", {"c": "_count"}), ("params.x", {"x": "f._count"}), ("nope", {}), ("params.p", {"p": "zz"}), ("params.p + params.k", {"p": "s.min"})]:
        out.aggs("flights", {**month, "aggs": {**inside, "x": {"bucket_script": {"buckets_path": paths, "script": script}}}})
    for script in ["params.c > 2000", "params.p > 630.5 && params.c > 0", "null", "params.zz > 1"]:
        out.aggs("flights", {**month, "aggs": {**inside, "x": {"bucket_selector": {"buckets_path": {"c": "_count", "p": "p"}, "script": script}}}})
    for options in [{"sort": [{"p": "desc"}], "size": 2}, {"from": 1, "size": 3}, {"sort": ["_count"]}, {"sort": [{"s.max": "asc"}, {"_key": "desc"}]}, {}, {"sort": [{"nope": "asc"}]}, {"size": 0}, {"sort": [{"p": "desc"}], "gap_policy": "insert_zeros"}]:
        out.aggs("flights", {**month, "aggs": {**inside, "x": {"bucket_sort": options}}}), out.aggs("flights", {"terms": {"field": "Carrier"}, "aggs": {**inside, "x": {"bucket_sort": options}}})


def kinds(out):
    for field in ["longs", "doubles", "half", "byte", "short", "flag", "when", "tags", "address", "maybe", "text", "place", "weight"]:
        for kind, options in [("terms", {"size": 6}), ("terms", {"order": {"_key": "desc"}, "size": 5}), ("terms", {"min_doc_count": 0, "size": 4, "order": {"_key": "asc"}}), ("histogram", {"interval": 50}), ("date_histogram", {"calendar_interval": "month"}),
                              ("range", {"ranges": [{"to": 5}, {"from": 5}]}), ("rare_terms", {"max_doc_count": 2}), ("significant_terms", {}), ("missing", {}), ("date_range", {"ranges": [{"to": "2024-02-01"}]})]:
            if kind == "histogram" and field == "longs":
                continue
            query = {"range": {"id": {"lt": 400}}}
            out.aggs("kinds", {kind: {"field": field, **options}}, query), out.aggs("kinds", {"terms": {"field": "tags", "size": 3}, "aggs": {"x": {kind: {"field": field, **options}}}}, query)
