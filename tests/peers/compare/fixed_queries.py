"""Every type of query with its options."""
from .requests import List

PARIS = {"lat": 48.85, "lon": 2.35}
BOX = {"top_left": [-10, 60], "bottom_right": {"lat": 35, "lon": "30"}}


def requests():
    out = List()
    terms(out), full_text(out), query_strings(out), compound(out), function_scores(out), places(out), nested(out), scripts(out), kinds(out)
    return out.requests


def terms(out):
    query = out.query
    for pattern in ["Qu*", "*ix", "?u*", "Q??*", "*", "q*", "", "Quil\\*", {"value": "qu*", "case_insensitive": True}, {"wildcard": "*a*b*", "boost": 2},
                    {"value": "Qu*", "rewrite": "scoring_boolean"}, {"value": "Qu*", "rewrite": "constant_score_boolean"}, {"value": "Q*", "rewrite": "top_terms_3"}]:
        query("accounts", {"wildcard": {"employer.raw": pattern}})
    for pattern in ["[A-C].*", "Q.+", ".*(ix|ux)", "Q[a-z]{3,5}", "~(A.*)", "Qu.*&.*t", "<1-9>.*", "@", "", "[", "a{1001}", {"value": "q.*", "case_insensitive": True},
                    {"value": "A.*", "flags": "NONE"}, {"value": "A.*", "flags": "INTERSECTION|COMPLEMENT", "max_determinized_states": 10000}, {"value": "A.*", "boost": 3},
                    {"value": "(A|B).*", "rewrite": "scoring_boolean"}]:
        query("accounts", {"regexp": {"employer.raw": pattern}})
    query("accounts", {"regexp": {"employer": "qu.*"}}), query("accounts", {"regexp": {"age": "3.*"}}), query("accounts", {"wildcard": {"age": "3*"}})
    for value in ["hamlte", "lova", {"value": "lova", "fuzziness": 1}, {"value": "lova", "fuzziness": 2, "prefix_length": 2}, {"value": "lova", "max_expansions": 2},
                  {"value": "lova", "transpositions": False}, {"value": "lova", "fuzziness": "AUTO:3,6", "boost": 2}, {"value": "lova", "fuzziness": 3},
                  {"value": "lova", "rewrite": "constant_score"}, {"value": "lova", "rewrite": "top_terms_boost_2"}, {"value": "l"}, {"value": "lovee", "fuzziness": 0}]:
        query("shakespeare", {"fuzzy": {"text_entry": value}})
    query("accounts", {"fuzzy": {"state": "TXX"}}), query("accounts", {"fuzzy": {"age": 30}})
    for value in ["Aqu", {"value": "Aq", "rewrite": "scoring_boolean"}, {"value": "A", "rewrite": "top_terms_2"}, {"value": "A", "rewrite": "nope"}]:
        query("accounts", {"prefix": {"employer.raw": value}})
    query("accounts", {"terms": {"age": {"index": "accounts", "id": "1", "path": "age"}}}), query("accounts", {"terms": {"state": {"index": "accounts", "id": "none", "path": "state"}}})
    query("accounts", {"terms": {"state": {"index": "nope", "id": "1", "path": "state"}}}), query("accounts", {"terms": {"state": ["TX"], "city": ["x"]}})
    query("accounts", {"terms": {"balance": [39225, 5686.0, "32838"]}}), query("accounts", {"terms": {"_id": ["1", "2"]}}), query("accounts", {"term": {"_id": "5"}})
    query("accounts", {"term": {"_index": "accounts"}}), query("accounts,flights", {"prefix": {"_index": "acc"}}), query("accounts,flights", {"terms": {"_index": ["flights"]}}, size=3)
    for bounds in [{"gte": "K", "lte": "M"}, {"gt": "KY"}, {"lt": "AL"}, {"gte": "N", "boost": 2}]:
        query("accounts", {"range": {"state": bounds}})
    for bounds in [{"gte": "qui", "lt": "qux"}]:
        query("accounts", {"range": {"employer": bounds}})
    for bounds in [{"gte": "2018-01-05", "lte": "2018-01-05"}, {"gte": "2018-01-05", "lte": "2018-01-05", "time_zone": "-08:00"}, {"gt": "2018-01-05", "lt": "2018-01-06||+1d/d"},
                   {"gte": 1515110400000, "lt": 1515196800000}, {"gte": "1515110400000"}, {"gte": "2018-01", "lt": "2018-02"}, {"gte": "2018-W02", "format": "YYYY-'W'ww"},
                   {"gte": "2018-01-05T10:00:00+02:00"}, {"gte": "now-100y/y", "lte": "now"}, {"gte": "2018", "relation": "within"}]:
        query("flights", {"range": {"timestamp": bounds}}, sort=["timestamp", "FlightNum"], size=5)
    for bounds in [{"gte": 841.2656}, {"gt": 100, "lte": 100.5}, {"gte": "500", "lt": "500.5"}, {"gte": -1e300}, {"lte": 1e300}, {"gt": 3.5e38}]:
        query("flights", {"range": {"AvgTicketPrice": bounds}}, sort=[{"AvgTicketPrice": "asc"}, "FlightNum"], size=5)
    for bounds in [{"gte": "199.0.0.0/8"}, {"gte": "::ffff:199.0.0.0", "lte": "199.72.255.255"}, {"gt": "255.255.255.255"}]:
        query("http_logs", {"range": {"clientip": bounds}})


def full_text(out):
    query, text = out.query, "text_entry"
    for options in [{"query": "my lrd", "fuzziness": "AUTO"}, {"query": "lvoe daeth", "fuzziness": 2, "operator": "and"}, {"query": "lrd", "fuzziness": 1, "prefix_length": 1, "max_expansions": 3},
                    {"query": "lrd", "fuzziness": 1, "fuzzy_transpositions": False}, {"query": "the and of", "analyzer": "stop"}, {"query": "the and of", "analyzer": "stop", "zero_terms_query": "all"},
                    {"query": "love", "auto_generate_synonyms_phrase_query": False}, {"query": "love", "fuzzy_rewrite": "constant_score"}, {"query": "love", "analyzer": "nope"},
                    {"query": "love", "fuzziness": "AUTO:2"}, {"query": ["love"]}, {"query": None}, {"queri": "x"}, {"query": "love hate", "minimum_should_match": "3<90%"},
                    {"query": "LOVE", "operator": "AND"}, {"query": "love", "_name": "a"}]:
        query("shakespeare", {"match": {text: options}})
    for options in ["my lor", "my good l", {"query": "good my l", "slop": 3}, {"query": "my l", "max_expansions": 2}, {"query": "love", "boost": 2}, {"query": "the l", "analyzer": "stop"},
                    {"query": "", "zero_terms_query": "all"}, {"query": "my l", "max_expansions": 0}]:
        query("shakespeare", {"match_phrase_prefix": {text: options}})
    for options in ["my good l", "lov", {"query": "my good l", "operator": "and"}, {"query": "my good l", "minimum_should_match": 2}, {"query": "my godo l", "fuzziness": "AUTO"},
                    {"query": "my l", "max_expansions": 3}, {"query": "my l", "boost": 4}, {"query": "the", "analyzer": "stop"}]:
        query("shakespeare", {"match_bool_prefix": {text: options}})
    for options in [{"query": "my lord"}, {"query": "lord my", "slop": 2, "boost": 2}, {"query": "the lord", "analyzer": "stop"}, {"query": "the", "analyzer": "stop", "zero_terms_query": "all"}]:
        query("shakespeare", {"match_phrase": {text: options}})
    words = lambda value, **options: {"match": {"query": value, **options}}
    for rule in [words("my lord"), words("lord my", max_gaps=3), words("my good lord", ordered=True, max_gaps=0), words("the king", analyzer="stop"), words("love love"), words(""), words("my", max_gaps=-2),
                 words("king", filter={"after": words("the", max_gaps=0)}), words("king", filter={"not_contained_by": words("the king", ordered=True, max_gaps=0)}), words("love", filter={"script": {"source": "interval.start > 4"}}),
                 {"all_of": {"ordered": True, "max_gaps": 2, "intervals": [{"any_of": {"intervals": [words("my good", ordered=True, max_gaps=0), words("my")]}}, {"prefix": {"prefix": "lor"}}]}},
                 {"any_of": {"intervals": [{"wildcard": {"pattern": "k?ng"}}, {"fuzzy": {"term": "qeuen"}}, {"regexp": {"pattern": "lov.*"}}, {"range": {"gte": "hat", "lt": "hate"}}], "filter": {"overlapping": words("my the")}}},
                 {"all_of": {"intervals": []}}, {"any_of": {}}, {"nope": {}}, {"match": {"query": "x", "nope": 1}}, {"range": {"gte": "x"}}]:
        query("shakespeare", {"intervals": {text: rule}})
    term = lambda value, **options: {"span_term": {text: {"value": value, **options} if options else value}}
    near = lambda *clauses, **options: {"span_near": {"clauses": list(clauses), **options}}
    for spans in [term("love"), term("love", boost=3), near(term("my"), term("lord"), slop=1), near(term("lord"), term("my"), slop=4, in_order=False), near(term("my"), {"span_gap": {text: 1}}, term("lord")),
                  {"span_or": {"clauses": [term("love"), near(term("my"), term("heart"))]}}, {"span_not": {"include": term("lord"), "exclude": term("my"), "pre": 1}}, {"span_first": {"match": term("love"), "end": 2}},
                  {"span_containing": {"big": near(term("the"), term("king"), slop=5), "little": term("of")}}, {"span_within": {"big": near(term("the"), term("king"), slop=5), "little": term("of")}},
                  near({"span_multi": {"match": {"prefix": {text: "lor"}}}}, {"span_multi": {"match": {"fuzzy": {text: "knig"}}}}, slop=8, in_order=False), near(term("x"), term("y", boost=2)), near(), {"span_or": {"clauses": [{"match": {text: "x"}}]}}]:
        query("shakespeare", spans)
    for kind in ["best_fields", "most_fields", "phrase", "phrase_prefix", "bool_prefix", "cross_fields"]:
        for options in [{}, {"fields": ["firstname^2", "lastname", "address"]}, {"operator": "and"}, {"tie_breaker": 0.3}, {"fields": ["*name", "employer.raw"]}, {"fields": ["nope"]},
                        {"minimum_should_match": 2}]:
            query("accounts", {"multi_match": {"query": "Hull street", "type": kind, "fields": ["address", "lastname"], **options}})
    for options in [{"fields": ["age", "address"], "lenient": True}, {"fields": ["age", "address"]}, {}, {"fields": ["address"], "fuzziness": "AUTO"}, {"fields": "address"}, {"fields": []},
                    {"fields": ["address"], "analyzer": "whitespace"}, {"fields": ["address"], "type": "nope"}, {"fields": ["address"], "slop": 2, "type": "phrase"}]:
        query("accounts", {"multi_match": {"query": "hul street", **options}})


def query_strings(out):
    query = out.query
    for text in ["love", "love AND death", "love OR death", "love NOT death", "+love -death", "\"my lord\"", "\"lord my\"~3", "lov*", "l?ve", "lvoe~", "lvoe~1", "/lo[vr]e?/", "speaker:HAMLET",
                 "speaker:(HAMLET OR ROMEO)", "love^3 death", "(love death)^2 hate", "line_id:[100 TO 200]", "line_id:{100 TO 200}", "line_id:[100 TO *]", "line_id:>=4000", "line_id:<50",
                 "_exists_:speaker", "nope:x", "*:*", "*", "text_\\*:love", "\"my lord\" AND NOT speaker:HAMLET", "love && death || hate", "!love", "play_name:\"Henry IV\"", "[", "\"", "(", "a AND", "",
                 "line_id:abc", "speaker:H*T", "text_entry:(+good +my)", "love death hate", "to be or not to be", "type:line AND love", "speaker:ha*"]:
        query("shakespeare", {"query_string": {"query": text, "default_field": "text_entry"}})
    for options in [{"default_operator": "AND"}, {"minimum_should_match": 2}, {"fields": ["text_entry^2", "speaker"]}, {"fields": ["*"], "lenient": True}, {"analyze_wildcard": True},
                    {"phrase_slop": 3}, {"boost": 2}, {"fields": ["text_entry", "play_name"], "type": "most_fields"}, {"fields": ["text_entry"], "tie_breaker": 0.2},
                    {"allow_leading_wildcard": False}, {"fuzziness": 1}, {"analyzer": "whitespace"}, {"quote_field_suffix": ".raw"}, {"enable_position_increments": False}, {"nope": 1}]:
        query("shakespeare", {"query_string": {"query": "good \"my lord\" love", **options}})
    query("shakespeare", {"query_string": {"query": "*ove", "default_field": "text_entry", "allow_leading_wildcard": False}})
    query("shakespeare", {"query_string": {"query": "love"}}), query("accounts", {"query_string": {"query": "hull"}}), query("accounts", {"query_string": {"query": "age:30 AND gender:F"}})
    query("flights", {"query_string": {"query": "timestamp:[2018-01-05 TO 2018-01-06]", "time_zone": "-05:00"}}), query("flights", {"query_string": {"query": "Cancelled:true AND FlightDelay:true"}})
    query("http_logs", {"query_string": {"query": "clientip:\"199.72.81.55\""}}), query("http_logs", {"query_string": {"query": "clientip:[199.0.0.0 TO 199.99.0.0]"}})
    for params in ["q=love&df=text_entry", "q=speaker:HAMLET", "q=love+death&df=text_entry&default_operator=AND", "q=lov*&df=text_entry&analyze_wildcard=true", "q=%5B&df=text_entry",
                   "q=line_id:x&lenient=true", "q=love&sort=line_id:desc&size=3", "q=love&sort=line_id&_source=speaker", "q=love&_source_excludes=text*&from=2", "q=love&track_total_hits=3",
                   "q=love&terminate_after=1000000", "q=love&stored_fields=_none_", "q=love&docvalue_fields=speaker,line_id&_source=false", "q=love&version=true&seq_no_primary_term=true",
                   "q=love&rest_total_hits_as_int=true", "q=love&explain=true&size=1", "q=love&sort=nope"]:
        out.ask("shakespeare", None, params=params)


def compound(out):
    query, text = out.query, "text_entry"
    love, death = {"match": {text: "love"}}, {"match": {text: "death"}}
    for options in [{"queries": [love, death]}, {"queries": [love, death], "tie_breaker": 0.4}, {"queries": [love, death], "boost": 2}, {"queries": []}, {"queries": love}, {},
                    {"queries": [{"term": {"speaker": "HAMLET"}}, love], "tie_breaker": 1}]:
        query("shakespeare", {"dis_max": options})
    for options in [{"positive": love, "negative": death, "negative_boost": 0.3}, {"positive": love, "negative": {"term": {"speaker": "HAMLET"}}, "negative_boost": 0, "boost": 2},
                    {"positive": love, "negative": death}, {"positive": love, "negative": death, "negative_boost": -1}]:
        query("shakespeare", {"boosting": options})
    for options in [{"should": [love, death], "_name": "x"}, {"must": [{"match": {text: {"query": "love", "_name": "l"}}}], "should": [{"term": {"speaker": {"value": "HAMLET", "_name": "h"}}}]},
                    {"must": [love], "must_not": [love]}, {"filter": [], "must": []}, {"should": [love, {"match_none": {}}]}, {"must": [love, {"bool": {"must_not": [death]}}]},
                    {"should": [love, death], "minimum_should_match": "100%"}, {"should": [love, death], "minimum_should_match": -5}, {"should": [love], "filter": [death], "minimum_should_match": 1},
                    {"must_not": [love], "should": [death]}, {"should": [{"bool": {"should": [love, death], "boost": 0}}]}, {"must": [love], "boost": -1}, {"must": {"match_all": {}}, "filter": love}]:
        query("shakespeare", {"bool": options})
    query("shakespeare", {"constant_score": {"filter": love, "boost": 0}}), query("shakespeare", {"constant_score": {"filter": {"match_none": {}}}})
    query("flights", {"distance_feature": {"field": "timestamp", "origin": "2018-02-01||/M", "pivot": "12h"}}), query("flights", {"distance_feature": {"field": "AvgTicketPrice", "origin": 3, "pivot": 1}})
    query("flights", {"distance_feature": {"field": "OriginLocation", "origin": "48.85,2.35", "pivot": "300mi"}}), query("flights", {"distance_feature": {"field": "timestamp", "origin": "now", "pivot": "x"}})
    query("flights", {"bool": {"must": [{"term": {"Carrier": "JetBeats"}}], "should": [{"distance_feature": {"field": "timestamp", "origin": "2018-01-20", "pivot": "2d", "boost": 3}}]}})


def function_scores(out):
    base = {"match": {"text_entry": "love"}}
    functions = [{"filter": {"term": {"speaker": "HAMLET"}}, "weight": 5}, {"field_value_factor": {"field": "line_id", "factor": 0.01, "modifier": "log1p"}, "weight": 2},
                 {"filter": {"range": {"line_id": {"gte": 2000}}}, "script_score": {"script": "_score * 2"}}]
    for mode in ["multiply", "sum", "avg", "first", "max", "min"]:
        out.query("shakespeare", {"function_score": {"query": base, "functions": functions, "score_mode": mode}})
        for boost in ["multiply", "replace", "sum", "avg", "max", "min"]:
            out.query("shakespeare", {"function_score": {"query": base, "functions": functions, "score_mode": mode, "boost_mode": boost, "boost": 1.5}}, size=5)
    for options in [{"weight": 3}, {"functions": []}, {}, {"functions": functions, "max_boost": 2}, {"functions": functions, "min_score": 8}, {"functions": [{"weight": -1}]},
                    {"random_score": {"seed": 42, "field": "line_id"}}, {"random_score": {"seed": "x", "field": "line_id"}, "boost_mode": "replace"}, {"field_value_factor": {"field": "nope"}},
                    {"field_value_factor": {"field": "nope", "missing": 3}}, {"field_value_factor": {"field": "speaker"}}, {"script_score": {"script": "-1"}},
                    {"script_score": {"script": {"source": "params.a * doc['line_id'].value + _score", "params": {"a": 0.5}}}, "boost_mode": "replace"}, {"score_mode": "nope", "weight": 1},
                    {"functions": [{"weight": 1, "nope": {}}]}, {"functions": functions, "weight": 2}]:
        out.query("shakespeare", {"function_score": {"query": base, **options}})
    for modifier in ["none", "log", "log1p", "log2p", "ln", "ln1p", "ln2p", "square", "sqrt", "reciprocal", "nope"]:
        out.query("accounts", {"function_score": {"query": {"term": {"gender": "F"}}, "field_value_factor": {"field": "age", "modifier": modifier, "factor": 1.3}}}, size=15)
    for kind in ["gauss", "exp", "linear"]:
        for field, options in [("AvgTicketPrice", {"origin": 500, "scale": 100}), ("AvgTicketPrice", {"origin": 500, "scale": 100, "offset": 50, "decay": 0.3}),
                               ("timestamp", {"origin": "2018-01-20", "scale": "5d", "offset": "12h"}), ("timestamp", {"scale": "5d"} | {"origin": "2018-01-20||+1d"}),
                               ("OriginLocation", {"origin": "48.85,2.35", "scale": "500km", "offset": "10km", "decay": 0.2}), ("OriginLocation", {"origin": PARIS, "scale": "1000mi"}),
                               ("AvgTicketPrice", {"origin": 5}), ("Carrier", {"origin": 5, "scale": 1}), ("nope", {"origin": 5, "scale": 1}), ("AvgTicketPrice", {"origin": 5, "scale": 1, "decay": 2})]:
            out.query("flights", {"function_score": {"query": {"term": {"Carrier": "JetBeats"}}, kind: {field: options}}}, size=12)
    for mode in ["min", "max", "avg", "sum"]:
        out.query("kinds", {"function_score": {"gauss": {"doubles": {"origin": 0, "scale": 50}, "multi_value_mode": mode}}}, sort=["_score", "id"], size=30)
        out.query("kinds", {"function_score": {"exp": {"place": {"origin": [2, 48], "scale": "2000km"}, "multi_value_mode": mode}}}, sort=["_score", "id"], size=30)
    out.query("kinds", {"function_score": {"field_value_factor": {"field": "weight", "missing": 1, "modifier": "sqrt"}}}, sort=["_score", "id"], size=30)
    out.query("kinds", {"function_score": {"query": {"exists": {"field": "longs"}}, "field_value_factor": {"field": "longs", "modifier": "none", "factor": 1e-12}}}, size=3)


def places(out):
    for field, index in [("DestLocation", "flights"), ("location", "earthquakes"), ("place", "kinds")]:
        for shape in [{"geo_bounding_box": {field: BOX}}, {"geo_bounding_box": {field: {"top": 50, "left": -125, "bottom": 30, "right": -110}}},
                      {"geo_bounding_box": {field: {"top_left": "u0", "bottom_right": "s5"}}}, {"geo_bounding_box": {field: {"top_right": "60,30", "bottom_left": "35,-10"}}},
                      {"geo_bounding_box": {field: {"top_left": "POINT (170 60)", "bottom_right": "POINT (-170 -60)"}}}, {"geo_bounding_box": {field: {"top_left": [0, 10], "bottom_right": [5, 20]}}},
                      {"geo_bounding_box": {field: BOX, "validation_method": "COERCE", "boost": 2}}, {"geo_bounding_box": {field: {"top_left": [-200, 60], "bottom_right": [0, 0]}}},
                      {"geo_bounding_box": {field: {"top_left": [-200, 60], "bottom_right": [0, 0]}, "validation_method": "IGNORE_MALFORMED"}},
                      {"geo_bounding_box": {"nope": BOX}}, {"geo_bounding_box": {"nope": BOX, "ignore_unmapped": True}},
                      {"geo_distance": {"distance": "200km", field: "u09"}}, {"geo_distance": {"distance": 100000, field: PARIS}}, {"geo_distance": {"distance": "12nmi", field: "POINT (-118 34)"}},
                      {"geo_distance": {"distance": 500, "unit": "mi", field: [-118, 34], "distance_type": "plane"}}, {"geo_distance": {"distance": "0km", field: [2.35, 48.85]}},
                      {"geo_distance": {"distance": "x", field: PARIS}}, {"geo_distance": {field: PARIS}}, {"geo_distance": {"distance": "20000km", field: [0, 90]}},
                      {"geo_polygon": {field: {"points": ["60,-10", "60,30", "35,30"]}}}, {"geo_polygon": {field: {"points": [[-125, 30], [-110, 30]]}}},
                      {"geo_shape": {field: {"shape": {"type": "envelope", "coordinates": [[-125, 50], [-110, 30]]}}}},
                      {"geo_shape": {field: {"shape": {"type": "multipolygon", "coordinates": [[[[0, 40], [10, 40], [10, 50], [0, 40]]], [[[-125, 30], [-110, 30], [-110, 40], [-125, 30]]]]}}}},
                      {"geo_shape": {field: {"shape": {"type": "point", "coordinates": [2.35, 48.85]}}}}, {"geo_shape": {field: {"shape": "LINESTRING (0 40, 10 50)"}}},
                      {"geo_shape": {field: {"shape": "POLYGON ((0 40, 20 40, 20 60, 0 60, 0 40), (5 45, 15 45, 15 55, 5 55, 5 45))"}}},
                      {"geo_shape": {field: {"shape": "GEOMETRYCOLLECTION (POINT (2 48), POLYGON ((0 40, 20 40, 20 60, 0 40)))", "relation": "intersects"}}},
                      {"geo_shape": {field: {"shape": "POLYGON ((0 40, 20 40, 20 60, 0 40))", "relation": "contains"}}}, {"geo_shape": {field: {"shape": "POLYGON ((0 40, 1"}}}]:
            out.query(index, shape, size=20, track_total_hits=True)


def nested(out):
    comments = lambda query, **rest: {"nested": {"path": "comments", "query": query, **rest}}
    author = {"term": {"comments.author": "amber"}}
    for mode in ["avg", "max", "min", "sum", "none", "nope"]:
        out.query("kinds", comments({"function_score": {"query": {"match_all": {}}, "field_value_factor": {"field": "comments.stars"}}}, score_mode=mode), sort=["_score", "id"], size=20)
    for query in [author, {"bool": {"must": [author, {"range": {"comments.stars": {"gte": 4}}}]}}, {"match": {"comments.text": "birch cedar"}}, {"exists": {"field": "comments.stars"}},
                  {"nested": {"path": "comments.replies", "query": {"range": {"comments.replies.likes": {"gte": 25}}}}}, {"match_all": {}}, {"term": {"group": "amber"}}]:
        out.query("kinds", comments(query), sort=["_score", "id"], size=20)
        out.query("kinds", {"bool": {"must_not": [comments(query)]}}, sort=["id"], size=5)
        out.query("kinds", comments(query, inner_hits={"size": 2, "sort": [{"comments.stars": "desc"}, "comments.author"], "_source": ["comments.author", "comments.stars"]}), sort=["id"], size=6)
    out.query("kinds", {"term": {"comments.author": "amber"}}), out.query("kinds", {"nested": {"path": "nope", "query": author}}), out.query("kinds", {"nested": {"path": "nope", "query": author, "ignore_unmapped": True}})
    out.query("kinds", comments(author, inner_hits={"name": "x", "docvalue_fields": ["comments.stars"], "_source": False, "version": True}), sort=["id"], size=4)
    out.query("kinds", comments({"nested": {"path": "comments.replies", "query": {"term": {"comments.replies.author": "dune"}}, "inner_hits": {}}}, inner_hits={"from": 0}), sort=["id"], size=4)
    out.query("kinds", {"nested": {"path": "comments.replies", "query": {"term": {"comments.replies.author": "dune"}}}}, sort=["id"], size=4)
    out.query("orders", {"nested": {"path": "products", "query": {"bool": {"must": [{"match": {"products.product_name": "blue jeans"}}, {"range": {"products.price": {"gte": 20}}}]}}}}, size=15)
    out.query("orders", {"bool": {"must": [{"match": {"category": "shoes"}}], "filter": [{"nested": {"path": "products", "query": {"term": {"products.quantity": 1}}}}]}}, size=15)
    out.query("orders", {"nested": {"path": "products", "query": {"match": {"products.product_name": "boots"}}, "score_mode": "sum", "inner_hits": {"size": 1, "explain": False}}}, size=5)


def scripts(out):
    for source, params in [("doc['age'].value > 30", {}), ("doc['balance'].value % params.n == 0", {"n": 7}), ("doc['state'].value.startsWith('A')", {}), ("doc['age'].size() > 0 && doc['gender'].value == 'F'", {}),
                           ("doc['nope'].size() == 0", {}), ("doc['address'].size() > 0", {}), ("1", {}), ("doc['age'].value >", {}), ("int s = 0; for (int i = 0; i < doc['age'].value; i++) { s += i } return s % 2 == 0", {}),
                           ("Math.sqrt(doc['balance'].value) > 150.5", {}), ("['TX', 'CA'].contains(doc['state'].value)", {}), ("def x = doc['firstname.raw'].value; return x.length() == x.toLowerCase().indexOf('a')", {}),
                           ("x > 1", {}), ("throw new IllegalArgumentException('no')", {}), ("field('age').get(0) > 35", {}), ("$('age', 0) > 35", {})]:
        out.query("accounts", {"script": {"script": {"source": source, "params": params}}}, sort=["account_number"], size=10)
    for source in ["_score + doc['line_id'].value / 1000.0", "Math.log(2 + doc['line_id'].value)", "saturation(doc['line_id'].value, 100)", "sigmoid(doc['line_id'].value, 100, 2)",
                   "randomScore(7, 'line_id')", "decayNumericLinear(1000, 500, 10, 0.5, doc['line_id'].value)", "decayNumericExp(1000, 500, 10, 0.5, doc['line_id'].value)",
                   "decayNumericGauss(1000, 500, 10, 0.5, doc['line_id'].value)", "-_score", "'x'", "doc['nope'].value", "doc['speaker'].value.length() + 1", "_score * params.w", "1.0f / 0",
                   "if (doc['line_id'].value > 1000) { return 5 } else { return _score }"]:
        out.query("shakespeare", {"script_score": {"query": {"match": {"text_entry": "love"}}, "script": {"source": source, "params": {"w": 2}}}})
        out.query("shakespeare", {"script_score": {"query": {"match": {"text_entry": "death"}}, "script": {"source": source, "params": {"w": 2}}, "min_score": 5, "boost": 2}}, size=3)
    for source in ["decayDateGauss('2018-01-20', '5d', '0', 0.5, doc['timestamp'].value)", "decayGeoLinear('48.85,2.35', '800km', '0km', 0.4, doc['OriginLocation'].value)",
                   "decayGeoExp('48.85,2.35', '800km', '10km', 0.4, doc['OriginLocation'].value)", "decayDateExp('2018-01-20', '5d', '1h', 0.5, doc['timestamp'].value)",
                   "doc['OriginLocation'].arcDistance(48.85, 2.35) / 1000", "doc['OriginLocation'].planeDistance(48.85, 2.35)", "doc['OriginLocation'].value.lat + 90",
                   "doc['timestamp'].value.getHour()", "doc['timestamp'].value.toInstant().toEpochMilli() / 1e9", "doc['timestamp'].value.dayOfWeekEnum.value", "doc['Cancelled'].value ? 2 : 1",
                   "doc['timestamp'].value.getDayOfYear() + doc['FlightDelayMin'].value"]:
        out.query("flights", {"script_score": {"query": {"term": {"Carrier": "JetBeats"}}, "script": {"source": source}}}, size=8)


def kinds(out):
    for field, values in {"longs": [7, "7", 7.0, 7.5, -3, 2**62, "x", 1e30], "doubles": [0, 1.5, "2", -3.25], "half": [10, 9.5, 10.01], "byte": [0, 127, 128, -129, "5"], "short": [32767, 40000, -32768],
                          "flag": [True, "true", "false", "", "yes", 1], "when": ["2024-01-05", "2024-01", 1704412800000, "nope", "2024-01-05||/M"], "address": ["10.0.0.1", "10.0.0.0/24", "2001:db8::/32", "::1", "x"],
                          "tags": ["amber", "AMBER", "", 5], "maybe": ["NULL", "set"], "text": ["amber", "Amber"], "weight": [3, "3", 3.5], "place": ["48,2"]}.items():
        for value in values:
            out.query("kinds", {"term": {field: value}}, sort=["id"], size=3)
        out.query("kinds", {"terms": {field: values[:2]}}, sort=["id"], size=3), out.query("kinds", {"exists": {"field": field}}, sort=["id"], size=3)
        out.query("kinds", {"range": {field: {"gte": values[0]}}}, sort=["id"], size=3), out.query("kinds", {"range": {field: {"gt": values[0], "lt": values[-1]}}}, sort=["id"], size=3)
        out.query("kinds", {"match": {field: values[0]}}, sort=["id"], size=3), out.query("kinds", {"prefix": {field: "1"}}, sort=["id"], size=3)
    for field in ["comments", "comm*", "comments.author", "_source", "_id", "_routing", "*"]:
        out.query("kinds", {"exists": {"field": field}}, sort=["id"], size=3)
