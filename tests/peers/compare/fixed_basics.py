"""The shapes of the plain search: matching, sorting, paging, the oldest aggregations, places, and what is refused of them."""
from .requests import List


def requests():
    out = List()
    ask, query, aggs = out.ask, out.query, out.aggs

    day = "1995-07-02"
    ask("http_logs", {}), ask("accounts", {"size": 3, "from": 5}), ask("accounts", {"size": 0})
    ask("accounts", {"track_total_hits": 10, "size": 0}), ask("http_logs", {"track_total_hits": True, "size": 1})
    ask("http_logs", {"track_total_hits": False, "size": 1}), ask("http_logs", {"size": 0})
    for index, field, value in [("accounts", "state", "TX"), ("accounts", "age", 30), ("accounts", "age", "30"), ("accounts", "age", 30.5),
                                ("accounts", "balance", "abc"), ("http_logs", "clientip", "199.72.81.55"), ("http_logs", "clientip", "199.0.0.0/8"),
                                ("http_logs", "status", 404), ("flights", "Cancelled", True), ("flights", "Cancelled", "true"),
                                ("shakespeare", "text_entry", "love"), ("shakespeare", "speaker", "HAMLET"), ("flights", "timestamp", "2018-01-01"),
                                ("accounts", "nope", 1), ("flights", "AvgTicketPrice", 841.2656), ("http_logs", "clientip", "nonsense")]:
        query(index, {"term": {field: value}})
    query("accounts", {"term": {"state": {"value": "tx", "case_insensitive": True}}})
    query("accounts", {"term": {"state": {"value": "TX", "boost": 2.5}}})
    query("accounts", {"terms": {"state": ["TX", "CA", "ZZ"]}}), query("accounts", {"terms": {"age": [20, 21, "22"], "boost": 3}})
    query("accounts", {"terms": {"state": []}}), query("http_logs", {"terms": {"clientip": ["199.72.81.55", "205.0.0.0/8"]}})
    for bounds in [{"gte": 20, "lt": 25}, {"gt": 39.5}, {"lte": "21"}, {"gte": 30, "lte": 20}, {"gte": None, "lt": 30}, {"from": 20, "to": 22}]:
        query("accounts", {"range": {"age": bounds}})
    for bounds in [{"gte": day, "lt": day + "||+1d"}, {"gte": day + "||/d", "lte": day + "||/d"}, {"gt": day + "||/M", "lt": "now"},
                   {"gte": "02/07/1995", "format": "dd/MM/yyyy"}, {"gte": "1995-07-01T12", "time_zone": "+02:00"},
                   {"gte": 804571201, "lte": 804571300}, {"lte": "804571300"}, {"gte": day, "time_zone": "America/New_York"}, {"gte": "nonsense"},
                   {"gte": "1995-07", "lt": "1995-07-01||+1d-1h"}, {"gte": "1995-07-01||+1x"}]:
        query("http_logs", {"range": {"@timestamp": bounds}}, size=5, sort=[{"@timestamp": "asc"}, "clientip"])
    query("accounts", {"range": {"state": {"gte": "M", "lt": "O"}}}), query("http_logs", {"range": {"clientip": {"gte": "199.0.0.0", "lt": "200.0.0.0"}}})
    text = "text_entry"
    for options in ["love", "love and death", {"query": "love death", "operator": "and"}, {"query": "to be or not", "minimum_should_match": 3},
                    {"query": "to be or not to be", "minimum_should_match": "75%"}, {"query": "to be or not to be", "minimum_should_match": "2<-25% 4<-2"},
                    {"query": "", "zero_terms_query": "all"}, {"query": ""}, {"query": "love", "boost": 0.3}, {"query": "ROMEO's", "analyzer": "whitespace"},
                    {"query": "love", "analyzer": "keyword"}, {"query": "night love", "minimum_should_match": "-1"}]:
        query("shakespeare", {"match": {text: options}})
    query("accounts", {"match": {"age": 30}}), query("accounts", {"match": {"age": "x"}}), query("accounts", {"match": {"age": {"query": "x", "lenient": True}}})
    for options in ["my lord", {"query": "love me", "slop": 2}, {"query": "me love", "slop": 3}, {"query": "the the"}, {"query": "to be", "slop": 100}, "lord",
                    {"query": "my good lord", "slop": 1}]:
        query("shakespeare", {"match_phrase": {text: options}})
    query("accounts", {"prefix": {"employer.raw": "Qu"}}), query("accounts", {"prefix": {"employer": {"value": "qu"}}})
    query("accounts", {"prefix": {"employer.raw": {"value": "qu", "case_insensitive": True}}}), query("accounts", {"prefix": {"state": ""}})
    query("accounts", {"wildcard": {"employer.raw": "*u?a*"}}), query("accounts", {"wildcard": {"employer.raw": {"value": "*U*", "case_insensitive": True}}})
    query("accounts", {"exists": {"field": "state"}}), query("accounts", {"exists": {"field": "nope"}}), query("flights", {"exists": {"field": "OriginLocation"}})
    query("accounts", {"ids": {"values": ["1", "7", "9", "77777"]}}), query("accounts", {"ids": {"values": []}})
    query("accounts", {"match_all": {"boost": 1.7}}), query("accounts", {"match_none": {}})
    must, no, should = {"term": {"gender": "F"}}, {"term": {"state": "TX"}}, [{"term": {"age": 30}}, {"match": {"address": "street"}}, {"match": {"address": "court"}}]
    for clauses in [{"must": must}, {"must": [must], "must_not": [no]}, {"filter": must, "should": should}, {"should": should, "minimum_should_match": 2},
                    {"should": should, "minimum_should_match": "50%"}, {"must_not": no}, {}, {"must": must, "should": should, "boost": 2},
                    {"filter": [must, {"bool": {"should": should}}]}, {"must": [], "should": should}, {"should": should, "minimum_should_match": 9}]:
        query("accounts", {"bool": clauses})
    query("accounts", {"constant_score": {"filter": must, "boost": 1.5}}), query("accounts", {"constant_score": {"filter": {"bool": {"must_not": no}}}})
    for sort in [["age"], [{"age": "desc"}, "account_number"], [{"state": {"order": "desc"}}, {"balance": {"order": "asc"}}], ["_score", "account_number"],
                 [{"nope": {"order": "asc", "unmapped_type": "long"}}, "account_number"], ["nope"], ["address"], [{"_score": "asc"}, {"account_number": "desc"}],
                 {"age": {"mode": "max"}}, [{"age": {"missing": "_first"}}, {"account_number": {"order": "asc"}}], [{"age": {"numeric_type": "double"}}]]:
        query("accounts", {"match": {"address": "street"}}, sort=sort, size=20)
    query("flights", {"match_all": {}}, sort=[{"timestamp": {"order": "desc", "format": "yyyy-MM-dd HH:mm"}}, "FlightNum"], size=15)
    ask("flights", {"sort": [{"AvgTicketPrice": "desc"}], "from": 3, "size": 9}), ask("accounts", {"from": 9_990, "size": 11}), ask("accounts", {"from": -1})
    ask("accounts", {"sort": ["age", "account_number"], "search_after": [30, 400], "size": 7}), ask("accounts", {"sort": ["age"], "search_after": [30, 400]})
    ask("accounts", {"sort": ["age"], "search_after": [30], "from": 2}), ask("accounts", {"search_after": [30]})
    query("shakespeare", {"match": {text: "love"}}, min_score=4), query("shakespeare", {"match": {text: "love"}}, track_scores=True, sort=["line_id"])
    query("accounts", must, post_filter=no, aggs={"a": {"terms": {"field": "state"}}})
    query("accounts", must, _source=["age", "na*"], size=2), query("accounts", must, _source={"excludes": ["a*"]}, size=2), query("accounts", must, _source=False, size=2)
    query("accounts", must, docvalue_fields=["age", "state"], fields=["firstname*"], size=2), query("accounts", must, version=True, seq_no_primary_term=True, size=2)
    query("flights", {"match_all": {}}, docvalue_fields=[{"field": "timestamp", "format": "epoch_millis"}], _source=False, size=2)
    for body in [{"match": {text: "love"}}, {"match_phrase": {text: "my lord"}}, {"bool": {"must": [{"match": {text: "love"}}], "filter": [{"term": {"speaker": "HAMLET"}}]}},
                 {"range": {"line_id": {"gte": 5}}}, {"constant_score": {"filter": {"term": {"speaker": "HAMLET"}}, "boost": 2}}]:
        query("shakespeare", body, explain=True, size=2)
    for body in [None, {"query": must}, {"query": {"range": {"age": {"gte": 30}}}}, {"query": {"nope": {}}}, {"size": 1}]:
        ask("accounts", body, "_count")
    query("shakespeare", {"match": {text: "love"}}, explain=False, terminate_after=100_000)
    ask("accounts", {"aggs": {}}), ask("http_logs", {"query": {"match": {"request": "images gif"}}, "size": 30})

    for options in [{"field": "state"}, {"field": "state", "size": 3}, {"field": "state", "order": {"_key": "desc"}}, {"field": "state", "order": {"_count": "asc"}, "size": 4},
                    {"field": "age", "size": 5}, {"field": "gender", "missing": "N"}, {"field": "state", "include": "[A-C].*"}, {"field": "state", "exclude": ["TX", "CA"]},
                    {"field": "state", "min_doc_count": 25}, {"field": "nope"}, {"field": "address"}, {"field": "state", "show_term_doc_count_error": True, "size": 2},
                    {"field": "age", "order": [{"_count": "desc"}, {"_key": "desc"}]}, {"field": "state", "include": {"partition": 1, "num_partitions": 5}, "size": 99},
                    {"field": "state", "min_doc_count": 0, "size": 60}, {"field": "state", "shard_size": 3, "size": 3}, {"field": "state", "size": 0}]:
        aggs("accounts", {"terms": options}, {"range": {"age": {"gte": 22}}})
    aggs("http_logs", {"terms": {"field": "clientip", "size": 5}}), aggs("flights", {"terms": {"field": "Cancelled"}}), aggs("http_logs", {"terms": {"field": "status"}})
    for order in [{"s.avg": "desc"}, {"s": "asc"}, {"m": "desc"}, {"f>m": "asc"}, {"f": "desc"}, {"zz": "asc"}, [{"m": "desc"}, {"_key": "asc"}], {"p.50": "desc"}, {"p[95]": "asc"}]:
        ask("accounts", {"size": 0, "aggs": {"a": {"terms": {"field": "state", "order": order, "size": 6}, "aggs": {
            "s": {"stats": {"field": "balance"}}, "m": {"max": {"field": "age"}}, "p": {"percentiles": {"field": "balance", "percents": [50, 95]}},
            "f": {"filter": {"term": {"gender": "F"}}, "aggs": {"m": {"sum": {"field": "balance"}}}}}}}})
    for options in [{"field": "balance", "interval": 5000}, {"field": "age", "interval": 7, "offset": 3}, {"field": "age", "interval": 5, "min_doc_count": 200},
                    {"field": "age", "interval": 10, "extended_bounds": {"min": 0, "max": 70}}, {"field": "age", "interval": 0}, {"field": "age", "interval": -1},
                    {"field": "age", "interval": 10, "hard_bounds": {"min": 25, "max": 35}}, {"field": "age", "interval": 2.5, "keyed": True}, {"field": "age"},
                    {"field": "age", "interval": 5, "order": {"_count": "desc"}}, {"field": "state", "interval": 5}, {"field": "age", "interval": 10, "missing": 1}]:
        aggs("accounts", {"histogram": options})
    for options in [{"calendar_interval": "hour"}, {"fixed_interval": "3h"}, {"calendar_interval": "day", "time_zone": "America/New_York"}, {"fixed_interval": "90m", "offset": "15m"},
                    {"calendar_interval": "1d", "time_zone": "+05:30", "format": "yyyy-MM-dd"}, {"calendar_interval": "week", "keyed": True}, {"calendar_interval": "2d"},
                    {"calendar_interval": "month"}, {"calendar_interval": "day", "offset": "+6h"}, {"fixed_interval": "1x"}, {"interval": "day"}, {},
                    {"calendar_interval": "day", "extended_bounds": {"min": "1995-06-29", "max": "1995-07-09"}}, {"calendar_interval": "day", "min_doc_count": 1, "order": {"_key": "desc"}},
                    {"calendar_interval": "hour", "hard_bounds": {"min": "1995-07-01T10", "max": "1995-07-01T20"}}, {"calendar_interval": "minute", "order": {"_count": "desc"}, "min_doc_count": 60}]:
        aggs("http_logs", {"date_histogram": {"field": "@timestamp", **options}})
    aggs("flights", {"date_histogram": {"field": "timestamp", "calendar_interval": "month", "time_zone": "Europe/Berlin"}})
    aggs("flights", {"date_histogram": {"field": "timestamp", "calendar_interval": "day", "time_zone": "Europe/Berlin"}}, {"range": {"timestamp": {"gte": "2018-02-10", "lt": "2018-02-14"}}})
    for options in [{"ranges": [{"to": 25}, {"from": 25, "to": 35}, {"from": 35}]}, {"keyed": True, "ranges": [{"to": 30, "key": "young"}, {"from": 30}]}, {"ranges": []},
                    {"ranges": [{"from": 20, "to": 30}, {"from": 25, "to": 35}]}, {}]:
        aggs("accounts", {"range": {"field": "age", **options}})
    aggs("http_logs", {"date_range": {"field": "@timestamp", "format": "yyyy-MM-dd", "ranges": [{"to": "1995-07-02"}, {"from": "1995-07-02||/d", "to": "1995-07-02||+12h"}]}})
    aggs("accounts", {"filter": {"term": {"state": "TX"}}}), aggs("accounts", {"filters": {"filters": {"f": {"term": {"gender": "F"}}, "m": {"term": {"gender": "M"}}}}})
    aggs("accounts", {"filters": {"other_bucket": True, "filters": [{"term": {"gender": "F"}}, {"range": {"age": {"lt": 22}}}]}}), aggs("accounts", {"missing": {"field": "nope"}})
    for kind in ["avg", "sum", "min", "max", "stats", "extended_stats", "value_count", "cardinality", "percentiles"]:
        for index, field in [("accounts", "balance"), ("flights", "AvgTicketPrice"), ("flights", "timestamp"), ("flights", "Cancelled"), ("accounts", "nope"), ("accounts", "state"),
                             ("accounts", "address")]:
            aggs(index, {kind: {"field": field}})
        aggs("accounts", {kind: {"field": "nope", "missing": 10}}), aggs("flights", {kind: {"field": "AvgTicketPrice", "format": "#,##0.00"}})
        aggs("accounts", {kind: {}})
    aggs("http_logs", {"cardinality": {"field": "clientip"}}), aggs("http_logs", {"cardinality": {"field": "request.raw", "precision_threshold": 100}})
    aggs("accounts", {"extended_stats": {"field": "age", "sigma": 3}}), aggs("accounts", {"extended_stats": {"field": "age", "sigma": -1}})
    aggs("accounts", {"percentiles": {"field": "balance", "percents": [10, 50.5, 100], "keyed": False}}), aggs("accounts", {"percentiles": {"field": "balance", "percents": [101]}})
    aggs("accounts", {"percentiles": {"field": "balance", "hdr": {"number_of_significant_value_digits": 3}}}), aggs("accounts", {"percentile_ranks": {"field": "age", "values": [20, 25.5, 41]}})
    aggs("accounts", {"percentile_ranks": {"field": "balance", "values": [20000], "hdr": {}}}), aggs("accounts", {"percentile_ranks": {"field": "age"}})
    aggs("http_logs", {"percentiles": {"field": "size"}})
    ask("http_logs", {"size": 0, "aggs": {"h": {"date_histogram": {"field": "@timestamp", "fixed_interval": "6h"}, "aggs": {
        "s": {"terms": {"field": "status"}, "aggs": {"b": {"stats": {"field": "size"}}, "c": {"cardinality": {"field": "clientip"}}}}}}}})
    ask("flights", {"size": 0, "aggs": {"c": {"terms": {"field": "Carrier", "order": {"p": "desc"}}, "meta": {"x": 1}, "aggs": {
        "p": {"avg": {"field": "AvgTicketPrice"}}, "w": {"terms": {"field": "DestWeather", "size": 2}}, "d": {"date_histogram": {"field": "timestamp", "calendar_interval": "week"}}}}}})
    box, here = {"top_left": [-10, 60], "bottom_right": {"lat": 35, "lon": "30"}}, {"lat": 48.85, "lon": 2.35}
    for shape in [{"geo_bounding_box": {"DestLocation": box}}, {"geo_bounding_box": {"DestLocation": {"wkt": "BBOX (140, -100, 60, -60)"}}},
                  {"geo_distance": {"distance": "900mi", "OriginLocation": here}}, {"geo_distance": {"distance": "12000km", "OriginLocation": [179.9, -40]}},
                  {"geo_polygon": {"DestLocation": {"points": [[-10, 35], [30, 36], [25, 60], [0, 62]]}}},
                  {"geo_shape": {"DestLocation": {"shape": {"type": "circle", "coordinates": [2.35, 48.85], "radius": "800km"}, "relation": "disjoint"}}},
                  {"geo_shape": {"DestLocation": {"shape": "POLYGON ((170 -50, -170 -50, -170 60, 170 60, 170 -50))", "relation": "within"}}},
                  {"distance_feature": {"field": "OriginLocation", "origin": [2.35, 48.85], "pivot": "500km", "boost": 2}},
                  {"distance_feature": {"field": "timestamp", "origin": "2018-01-10", "pivot": "3d"}}]:
        query("flights", shape), query("flights", {"bool": {"must": [{"term": {"Carrier": "JetBeats"}}], "filter": [shape]}})
        aggs("flights", {"geotile_grid": {"field": "DestLocation", "precision": 5}}, shape)
    for sort in [{"OriginLocation": here, "unit": "km"}, {"DestLocation": ["48,2", "u09"], "order": "desc", "mode": "avg"}, {"DestLocation": here, "distance_type": "plane", "unit": "mi"}]:
        query("flights", {"match_all": {}}, sort=[{"_geo_distance": sort}], size=30)
    for kind, options in [("geohash_grid", {"precision": 3, "size": 20}), ("geohash_grid", {"precision": 4, "bounds": box}), ("geotile_grid", {"precision": 6}),
                          ("geo_bounds", {"wrap_longitude": False}), ("geo_bounds", {}), ("geo_centroid", {}), ("value_count", {}), ("missing", {}),
                          ("geo_distance", {"origin": here, "unit": "km", "ranges": [{"to": 500}, {"from": 500, "to": 3000}, {"from": 3000, "key": "far"}]})]:
        aggs("flights", {kind: {"field": "DestLocation", **options}}), aggs("flights", {"terms": {"field": "Carrier"}, "aggs": {"g": {kind: {"field": "OriginLocation", **options}}}})
    ask("nope", {}), ask("nope*", {"size": 0, "aggs": {"a": {"terms": {"field": "x"}}}}), ask("accounts,flights", {"size": 0, "aggs": {"a": {"value_count": {"field": "state"}}}})
    ask("http_logs", {"size": 0, "aggs": {"a": {"top_nope": {"field": "x"}}}}), ask("accounts", {"nope": 1}), ask("accounts", {"query": {"nope": {}}}), ask("accounts", {"query": {}})
    ask("accounts", {"query": {"match": {"a": {"query": "x"}, "b": "y"}}}), ask("accounts", {"query": {"term": {"state": ["TX", "CA"]}}}), ask("accounts", {"sort": "nope,age"})
    ask("accounts", {"size": 10_001}), ask("accounts", {"size": -1}), ask("accounts", {"query": [], "size": 1}), ask("accounts", {"_source": 5}), ask("accounts", {"sort": [5]})
    ask("accounts", {"query": {"range": {"age": {"gte": 1, "foo": 2}}}}), ask("accounts", {"query": {"bool": {"mustt": []}}}), ask("accounts", {"query": {"exists": {}}})
    ask("accounts", {"query": {"ids": {"values": [[1]]}}}), ask("accounts", {"query": {"terms": {"state": "TX"}}}), ask("accounts", {"query": {"match_phrase": {"address": {"query": "x", "slop": -1}}}})
    ask("accounts", {"query": {"prefix": {"age": "3"}}}), ask("accounts", {"query": {"constant_score": {}}}), ask("accounts", {"query": {"match": {"address": {"query": "x", "operator": "xor"}}}})
    ask("accounts", {"query": {"match": {"address": {"query": "a", "minimum_should_match": "x%"}}}}), ask("accounts", {"query": {"range": {"age": {"gte": "x"}}}})
    return out.requests
