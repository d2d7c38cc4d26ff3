"""What asks where words stand in passages, and what is shown of them: likeness, intervals, spans, highlights, term vectors; beside it groups, second looks,
dates of nanoseconds and dates in names of indices."""
from .requests import List

TEXT = "text"


def requests():
    out = List()
    likeness(out), intervals(out), spans(out), highlights(out), term_vectors(out), word_sets(out), groups(out), second_looks(out), nanoseconds(out), names_of_dates(out), score_alone(out)
    return out.requests


def likeness(out):
    line, other, absent = {"_index": "scenes", "_id": "3"}, {"_id": "200"}, {"_index": "scenes", "_id": "nope"}
    often = {"min_term_freq": 1, "min_doc_freq": 1}
    for options in [{"like": "my lord the king is dead"}, {"like": "my lord the king is dead", **often}, {"like": ["my lord", "sweet queen"], **often}, {"like": line}, {"like": [line, other], **often}, {"like": line, "include": True, **often},
                    {"like": line, "min_term_freq": 2, "min_doc_freq": 1}, {"like": line, "max_query_terms": 3, **often}, {"like": line, "max_query_terms": 1, "minimum_should_match": 1, **often}, {"like": line, "minimum_should_match": "80%", **often}, {"like": line, "minimum_should_match": "-2", **often},
                    {"like": line, "stop_words": ["the", "and", "of", "to"], **often}, {"like": line, "min_word_length": 5, **often}, {"like": line, "max_word_length": 4, **often}, {"like": line, "max_doc_freq": 20, **often}, {"like": line, "boost_terms": 2.5, "boost": 3, **often},
                    {"like": line, "unlike": "the king", **often}, {"like": [line, "death"], "unlike": [other, "love"], **often}, {"like": "Lords KINGS", "analyzer": "english", "fields": ["text.english"], **often}, {"like": {"_index": "scenes", "doc": {"text": "the winter of our discontent"}}, **often},
                    {"like": {"_index": "scenes", "doc": {"text": "the winter of our discontent", "title": "king"}, "fields": ["title"]}, **often}, {"like": {**line, "per_field_analyzer": {"text": "keyword"}}, **often}, {"like": absent, **often}, {"like": [absent, "king"], **often},
                    {"like": {"_index": "accounts", "_id": "3"}, "fields": ["address"], **often}, {"like": {"_index": "nope", "_id": "3"}, **often}, {"like": {"_id": "3", "routing": "x"}, **often}, {"like": {"_id": "3", "fields": ["title"]}, **often}, {"like": "king", "fields": ["nope"], **often},
                    {"like": "king", "fields": ["needed"], **often}, {"like": "king", "fields": ["needed"], "fail_on_unsupported_field": False, **often}, {"like": "king", "fields": [], **often}, {"like": "HENRY IV", "fields": ["play"], **often}, {"like": []}, {}, {"like": 5}, {"like": {"nope": 1}},
                    {"like": "king", "max_query_terms": 0}, {"like": "king", "max_query_terms": -1}, {"like": "king", "nope": 1}, {"like": "king", "stop_words": "the", **often}, {"like": "king", "minimum_should_match": "x%"}, {"like": "king", "analyzer": "nope"}, {"like": ["king", 5]}, {"like": "", **often}, {"like": None}]:
        query = {"more_like_this": {"fields": ["text"], **options} if options else {}}
        out.query("scenes", query, size=8)
    out.query("scenes", {"more_like_this": {"like": line, **often}}, size=8), out.query("scenes", {"more_like_this": {"like": line, "fields": ["title", "text"], "max_query_terms": 4, **often}}, size=5, explain=True)
    out.query("accounts,scenes", {"more_like_this": {"like": {"_index": "scenes", "_id": "9"}, "fields": ["text", "address"], **often}}, size=5), out.query("scenes", {"bool": {"filter": {"more_like_this": {"fields": ["text"], "like": line, **often}}, "must": {"match": {"title": "king"}}}}, size=5)
    out.query("scenes", {"more_like_this": {"fields": ["text"], "like": line, **often}}, size=3, highlight={"fields": {"text": {}}})


def intervals(out):
    words = lambda query, **options: {"match": {"query": query, **options}}
    love, king = words("love"), words("king")
    for kind in ["after", "before", "contained_by", "containing", "not_contained_by", "not_containing", "not_overlapping", "overlapping"]:
        out.query("scenes", {"intervals": {TEXT: {"all_of": {"intervals": [words("my"), words("lord")], "max_gaps": 12, "filter": {kind: words("the")}}}}}, size=9)
        out.query("scenes", {"intervals": {TEXT: words("of the", filter={kind: {"any_of": {"intervals": [king, love, words("and")]}}})}}, size=9)
    for rule in [words("the king of", ordered=True, max_gaps=0), words("king the", max_gaps=1), words("to to"), words("the the", ordered=True, max_gaps=3), words("Kings", analyzer="english", use_field="text.english"), words("kings", use_field="text.english"), words("king", use_field="nope"), words("the", analyzer="nope"), words(""), words("king", max_gaps=-5),
                 {"all_of": {"intervals": [love, king], "max_gaps": 40}}, {"all_of": {"intervals": [king, king]}}, {"all_of": {"intervals": [{"any_of": {"intervals": [words("my good", ordered=True), words("good")]}}, words("lord")], "ordered": True, "max_gaps": 2}},
                 {"prefix": {"prefix": "kin"}}, {"prefix": {"prefix": "KIN", "analyzer": "standard"}}, {"prefix": {"prefix": "kin", "use_field": "title"}}, {"wildcard": {"pattern": "*ing"}}, {"wildcard": {"pattern": "K?ng"}}, {"fuzzy": {"term": "knig"}}, {"fuzzy": {"term": "kinng", "fuzziness": 1, "prefix_length": 2}}, {"fuzzy": {"term": "knig", "transpositions": False}},
                 {"regexp": {"pattern": "ki[a-n]*"}}, {"regexp": {"pattern": "KI.*", "case_insensitive": True}}, {"regexp": {"pattern": "["}}, {"range": {"gte": "king", "lte": "kingly"}}, {"range": {"gt": "king", "lt": "knee"}}, {"range": {"gt": "a", "gte": "a", "lt": "b"}}, {"range": {"gte": "a", "lte": "z"}},
                 {"all_of": {"intervals": [words("the"), words("of")], "filter": {"script": {"source": "interval.gaps > 2 && interval.start < 5"}}}}, words("the", filter={"script": {"source": "interval.end > 20"}}), words("the", filter={}), words("the", filter={"after": love, "before": king}), words("the", filter={"nope": king}), {"any_of": {"intervals": []}}, {"any_of": {"intervals": [love], "ordered": True}}, {"all_of": {}}, {"match": {}}, {"match": "x"}, {"match": {"query": "x"}, "prefix": {"prefix": "y"}}, {}]:
        out.query("scenes", {"intervals": {TEXT: rule}}, size=9)
    for field in ["title", "text.offsets", "text.english", "play", "needed", "nope"]:
        out.query("scenes", {"intervals": {field: words("my lord", max_gaps=4)}}, size=5)
    out.query("scenes", {"intervals": {TEXT: {**king, "boost": 2, "_name": "n"}}}, size=3), out.query("scenes", {"intervals": {TEXT: king, "title": love}}), out.query("scenes", {"intervals": {TEXT: words("my lord", max_gaps=4)}}, size=3, explain=True)


def spans(out):
    term = lambda value, field=TEXT: {"span_term": {field: value}}
    near = lambda *clauses, slop=0, in_order=True: {"span_near": {"clauses": list(clauses), "slop": slop, "in_order": in_order}}
    either = lambda *clauses: {"span_or": {"clauses": list(clauses)}}
    my_lord = near(term("my"), term("lord"), slop=6, in_order=False)
    for query in [near(term("the"), term("the"), slop=4), near(term("the"), term("the"), slop=4, in_order=False), near(term("of"), {"span_gap": {TEXT: 2}}, term("the"), slop=1), near(either(term("king"), term("queen")), near(term("of"), term("the"), slop=1), slop=5), near(my_lord, term("good"), slop=8, in_order=False), near(term("king"), term("king", "title")),
                  {"span_not": {"include": term("king"), "exclude": near(term("the"), term("king"))}}, {"span_not": {"include": term("king"), "exclude": term("of"), "pre": 2, "post": 3}}, {"span_not": {"include": my_lord, "exclude": term("good"), "dist": 1}}, {"span_not": {"include": term("king"), "exclude": term("of"), "dist": 1, "pre": 1}}, {"span_not": {"include": term("king")}},
                  {"span_first": {"match": my_lord, "end": 6}}, {"span_first": {"match": term("king"), "end": 0}}, {"span_first": {"match": term("king"), "end": -1}}, {"span_first": {"match": either(term("the"), term("king")), "end": 2}}, {"span_containing": {"big": my_lord, "little": either(term("good"), term("the"))}}, {"span_within": {"big": my_lord, "little": either(term("good"), term("the"))}}, {"span_within": {"big": my_lord, "little": term("x", "title")}},
                  {"span_multi": {"match": {"wildcard": {TEXT: "k?ng*"}}}}, {"span_multi": {"match": {"regexp": {TEXT: "lo(ve|rd)s?"}}}}, {"span_multi": {"match": {"range": {TEXT: {"gte": "king", "lt": "kings"}}}}}, {"span_multi": {"match": {"fuzzy": {TEXT: {"value": "knig", "fuzziness": 2, "rewrite": "top_terms_5"}}}}}, {"span_multi": {"match": {"prefix": {TEXT: {"value": "kin", "rewrite": "top_terms_boost_2"}}}}}, {"span_multi": {"match": {"term": {TEXT: "king"}}}}, {"span_multi": {}},
                  near({"span_multi": {"match": {"prefix": {TEXT: "ki"}}}}, term("of"), slop=2), {"span_field_masking": {"query": term("king", "title"), "field": TEXT}}, near({"span_field_masking": {"query": term("king", "text.english"), "field": TEXT}}, term("of"), slop=1), {"span_near": {"clauses": [term("my")], "slop": "x"}}, {"span_near": {"clauses": {}}}, {"span_or": {"clauses": []}}, {"span_or": {"clauses": [{"match": {TEXT: "x"}}]}}, {"span_near": {"clauses": [{**term("my")}], "nope": 1}}, term("king", "play"), term("5", "needed"), term("x", "nope"), {"span_gap": {TEXT: 1}}]:
        out.query("scenes", query, size=9)
    out.query("scenes", near(term("the"), term("king"), slop=3), explain=True, size=3), out.query("scenes", {"bool": {"must": [my_lord], "should": [term("good")], "must_not": [{"span_first": {"match": term("the"), "end": 3}}]}}, size=9)


def highlights(out):
    lord = {"match": {TEXT: "lord king death"}}
    for kind, field in [("unified", "text"), ("unified", "text.offsets"), ("unified", "text.vectors"), ("plain", "text"), ("plain", "text.english"), ("fvh", "text.vectors"), ("fvh", "text.english")]:
        asked = {"match": {field: "lord king death"}}
        for options in [{}, {"fragment_size": 30}, {"fragment_size": 0}, {"fragment_size": 18, "number_of_fragments": 2}, {"number_of_fragments": 0}, {"number_of_fragments": 1, "order": "score"}, {"fragment_size": 40, "order": "score"}, {"pre_tags": ["<1>", "<2>"], "post_tags": ["</1>", "</2>"]}, {"tags_schema": "styled"}, {"encoder": "html"},
                        {"boundary_scanner": "word", "fragment_size": 25}, {"boundary_scanner": "sentence", "boundary_scanner_locale": "en-US", "fragment_size": 50}, {"boundary_scanner": "chars", "boundary_chars": ".!?", "boundary_max_scan": 10, "fragment_size": 40}, {"boundary_scanner": "nope"}, {"fragmenter": "simple", "fragment_size": 40}, {"fragmenter": "span", "fragment_size": 40}, {"fragmenter": "nope"},
                        {"max_analyzed_offset": 40}, {"max_analyzed_offset": 0}, {"fragment_offset": 10, "fragment_size": 30}, {"phrase_limit": 1}, {"order": "nope"}, {"nope": 1}, {"number_of_fragments": "x"}, {"pre_tags": "a"}]:
            own = {key: options[key] for key in ("encoder", "tags_schema") if key in options}
            out.query("scenes", asked, size=4, _source=False, highlight={**own, "fields": {field: {"type": kind, **{key: value for key, value in options.items() if key not in own}}}})
        for query in [{"match_phrase": {field: "my lord"}}, {"match_phrase": {field: "the king of"}}, {"match_phrase_prefix": {field: "my lo"}}, {"prefix": {field: "kin"}}, {"wildcard": {field: "k*g"}}, {"fuzzy": {field: "knig"}}, {"regexp": {field: "lor[a-e]"}}, {"range": {field: {"gte": "king", "lt": "kings"}}}, {"bool": {"must": [{"match": {field: "king"}}], "must_not": [{"match": {field: "queen"}}], "should": [{"match_phrase": {field: "the king"}}]}},
                      {"query_string": {"query": "king AND (lord OR \"of the\") -queen", "default_field": field}}, {"span_near": {"clauses": [{"span_term": {field: "my"}}, {"span_term": {field: "lord"}}], "slop": 3}}, {"intervals": {field: {"match": {"query": "my lord", "max_gaps": 2}}}}, {"multi_match": {"query": "my king", "fields": [field, "title"]}}, {"dis_max": {"queries": [{"match": {field: "king"}}, {"match": {"title": "lord"}}]}}, {"constant_score": {"filter": {"term": {field: "king"}}}}, {"function_score": {"query": {"match": {field: "king"}}, "weight": 2}}, {"terms": {field: ["king", "lord"]}}, {"match": {field: {"query": "king of the", "operator": "and"}}}]:
            out.query("scenes", query, size=4, _source=False, highlight={"fields": {field: {"type": kind, "fragment_size": 60}}})
    for highlight in [{"fields": {"text": {}, "title": {"require_field_match": False}}}, {"require_field_match": False, "fields": {"*": {}}}, {"fields": {"title": {"no_match_size": 20}}}, {"fields": {"title": {"no_match_size": 20, "type": "plain"}}}, {"fields": {"text.vectors": {"no_match_size": 20, "type": "fvh"}}}, {"fields": {"text*": {}}}, {"fields": [{"title": {}}, {"text": {"number_of_fragments": 1}}]}, {"fields": {"text": {"highlight_query": {"match": {"text": "the"}}}}},
                      {"fields": {"text": {"highlight_query": {"match_phrase": {"text": "of the"}}, "type": "plain", "number_of_fragments": 0}}}, {"fields": {"text.vectors": {"type": "fvh", "matched_fields": ["text.vectors", "text.english"]}}}, {"fields": {"text": {"type": "nope"}}}, {"fields": {"text": {"type": "fvh"}}}, {"fields": {"nope": {}, "play": {}, "needed": {}, "speakers": {"no_match_size": 5}}}, {"fields": {}}, {}, {"fields": {"text": 5}}, {"fields": "text"}, {"fields": [{"a": {}, "b": {}}]}, {"fields": {"text": {"highlight_query": {"nope": {}}}}}, {"pre_tags": [], "fields": {"text": {}}}, {"tags_schema": "nope", "fields": {"text": {}}}, {"encoder": "nope", "fields": {"text": {}}}]:
        out.query("scenes", lord, size=4, _source=False, highlight=highlight)


def term_vectors(out):
    for body in [None, {"fields": ["text"]}, {"fields": ["text.vectors"], "term_statistics": True}, {"fields": ["text.english", "title"], "positions": False}, {"fields": ["text"], "offsets": False, "payloads": False, "field_statistics": False}, {"fields": ["t*"]}, {"fields": ["play", "speakers", "needed", "at"]}, {"fields": ["nope"]}, {"fields": ["text"], "per_field_analyzer": {"text": "keyword"}}, {"fields": ["text"], "term_statistics": True, "filter": {"max_num_terms": 3}}, {"fields": ["text"], "filter": {"min_term_freq": 2, "min_doc_freq": 5}},
                 {"fields": ["text"], "filter": {"max_doc_freq": 30, "min_word_length": 4, "max_num_terms": 5}}, {"fields": ["text"], "filter": {"max_term_freq": 1, "max_word_length": 3}}, {"fields": ["text"], "filter": {"nope": 1}}, {"nope": 1}, {"fields": "text"}, {"fields": ["text"], "positions": "x"}]:
        for document in ["_termvectors/3", "_termvectors/10"]:
            out.ask("scenes", body, document)
    out.ask("scenes", None, "_termvectors/nope"), out.ask("nope", None, "_termvectors/3"), out.ask("scenes", {"doc": {"text": "the king is a king", "other": "x"}, "term_statistics": True}, "_termvectors"), out.ask("scenes", {"doc": {"text": "Kings of the king", "title": "a"}, "fields": ["text.english"], "per_field_analyzer": {"text.english": "standard"}}, "_termvectors"), out.ask("scenes", None, "_termvectors")
    for params in ["fields=text,title", "fields=text&term_statistics=true&offsets=false", "realtime=false", "routing=x", "nope=1"]:
        out.ask("scenes", None, "_termvectors/4", params=params)
    for body in [{"ids": ["1", "2", "nope"], "parameters": {"fields": ["title"]}}, {"docs": [{"_id": "1", "fields": ["title"]}, {"_id": "2", "fields": ["text.vectors"], "term_statistics": True}, {"_id": "nope"}]}, {"docs": [{"_index": "accounts", "_id": "3", "fields": ["address"]}, {"_index": "nope", "_id": "1"}]}, {"docs": [{"doc": {"title": "a b a"}}]}, {"docs": []}, {"ids": []}, {"ids": "1"}, {"nope": 1}, {"docs": [{}]}]:
        out.ask("scenes", body, "_mtermvectors")


def word_sets(out):
    for options in [{"minimum_should_match_field": "needed"}, {"minimum_should_match_script": {"source": "Math.min(params.num_terms, doc['needed'].value)"}}, {"minimum_should_match_script": "params.num_terms"}, {"minimum_should_match": 2}, {"minimum_should_match": "50%"}, {"minimum_should_match_field": "nope"}, {"minimum_should_match_field": "play"}, {}, {"minimum_should_match_field": "needed", "minimum_should_match": 1}, {"minimum_should_match_field": "needed", "boost": 2}, {"minimum_should_match": 2, "nope": 1}, {"minimum_should_match_script": {"source": "nope"}}]:
        out.query("scenes", {"terms_set": {"text": {"terms": ["king", "lord", "the", "love"], **options}}}, size=9), out.query("scenes", {"terms_set": {"speakers": {"terms": ["KING HENRY IV", "WESTMORELAND", "FALSTAFF"], **options}}}, size=9)
    for options in [{}, {"operator": "and"}, {"minimum_should_match": "60%"}, {"minimum_should_match": 2}, {"fields": ["title^3", "text"]}, {"fields": ["text^0.5"]}, {"fields": ["t*"]}, {"fields": ["text", "text.english"]}, {"fields": ["play", "text"]}, {"fields": ["nope"]}, {"fields": []}, {"zero_terms_query": "all", "query": ""}, {"auto_generate_synonyms_phrase_query": False}, {"boost": 2}, {"query": "king king"}, {"operator": "nope"}, {"nope": 1}, {"type": "best_fields"}, {"query": None}]:
        out.query("scenes", {"combined_fields": {"query": "king lord love", "fields": ["title", "text"], **options}}, size=9)
    out.query("scenes", {"combined_fields": {"query": "king lord love", "fields": ["title^2", "text"]}}, size=3, explain=True)


def groups(out):
    king = {"match": {"text": "king lord"}}
    inner = {"name": "more", "size": 2, "sort": ["id"], "_source": False}
    for collapse in [{"field": "play"}, {"field": "needed"}, {"field": "play", "inner_hits": inner}, {"field": "needed", "inner_hits": [inner, {"name": "best", "size": 1, "_source": ["id"], "highlight": {"fields": {"text": {}}}}]}, {"field": "needed", "inner_hits": {**inner, "collapse": {"field": "play"}}}, {"field": "play", "inner_hits": inner, "max_concurrent_group_searches": 2}, {"field": "play", "inner_hits": {"size": 1, "from": 1, "name": "n", "docvalue_fields": ["id"], "version": True}},
                     {"field": "text"}, {"field": "nope"}, {"field": "at"}, {"field": "speakers"}, {}, {"field": "play", "nope": 1}, "play", {"field": "play", "inner_hits": [inner, inner]}, {"field": "play", "inner_hits": {"nope": 1}}, {"field": "play", "max_concurrent_group_searches": -1}]:
        for rest in [{}, {"sort": [{"needed": "desc"}, "id"]}, {"sort": ["id"], "from": 1, "size": 2}]:
            out.query("scenes", king, collapse=collapse, **{"size": 5, "_source": ["id"], **rest})
    out.query("accounts", {"match_all": {}}, collapse={"field": "state"}, sort=["state"], search_after=["M"], size=7), out.query("accounts", {"match_all": {}}, collapse={"field": "state"}, sort=["age"], search_after=[30]), out.query("accounts", {"match_all": {}}, collapse={"field": "state"}, sort=[{"balance": "desc"}], aggs={"a": {"terms": {"field": "gender"}}}, post_filter={"term": {"gender": "F"}}, size=60)
    out.query("accounts", {"match_all": {}}, collapse={"field": "age"}, sort=["age", "account_number"], track_total_hits=False, size=40), out.query("scenes", king, collapse={"field": "play"}, rescore={"query": {"rescore_query": {"match": {"title": "king"}}}})
    out.ask("accounts", {"collapse": {"field": "state"}}, params="scroll=1m"), out.query("scenes", {"match": {"text": "zzz"}}, collapse={"field": "play", "inner_hits": inner}), out.query("scenes,accounts", {"match_all": {}}, collapse={"field": "play"}, sort=[{"id": {"unmapped_type": "long"}}], size=5)


def second_looks(out):
    king, phrase = {"match": {"text": "king lord"}}, {"match_phrase": {"text": {"query": "my lord", "slop": 2}}}
    for mode in ["total", "multiply", "avg", "max", "min", "nope"]:
        for rest in [{}, {"query_weight": 0.7, "rescore_query_weight": 1.2}]:
            out.query("scenes", king, rescore={"window_size": 20, "query": {"rescore_query": phrase, "score_mode": mode, **rest}}, size=12, _source=False)
    for rescore in [{"query": {"rescore_query": phrase}}, [{"window_size": 50, "query": {"rescore_query": phrase}}, {"window_size": 5, "query": {"rescore_query": {"match": {"title": "the"}}, "rescore_query_weight": 3}}], {"window_size": 3, "query": {"rescore_query": {"function_score": {"script_score": {"script": "doc['id'].value"}}}, "score_mode": "max"}}, {"window_size": 10, "query": {"rescore_query": {"term": {"play": "Henry IV"}}, "rescore_query_weight": -1}}, [],
                    {"window_size": 20}, {"query": {}}, {"window_size": "x", "query": {"rescore_query": phrase}}, {"window_size": 0, "query": {"rescore_query": phrase}}, {"window_size": 100000, "query": {"rescore_query": phrase}}, {"nope": {}}, {"query": {"rescore_query": phrase, "nope": 1}}, {"query": {"rescore_query": {"nope": {}}}}, "x"]:
        out.query("scenes", king, rescore=rescore, size=12, _source=False)
    again = {"window_size": 20, "query": {"rescore_query": phrase}}
    out.query("scenes", king, rescore=again, sort=["id"]), out.query("scenes", king, rescore=again, sort=["_score"], size=4), out.query("scenes", king, rescore=again, explain=True, size=2), out.query("scenes", king, rescore=again, min_score=3, size=30), out.query("scenes", king, rescore=again, aggs={"a": {"max": {"field": "id"}}}, size=4), out.query("scenes", king, rescore=again, **{"from": 5}, size=4), out.ask("scenes", {"query": king, "rescore": again}, params="scroll=1m")


def nanoseconds(out):
    exact = "1999-07-01T10:00:00.001500000Z"
    for ends in [{"gte": "1999-07-01"}, {"gt": "1999-07-01T10:00:00.001Z", "lt": "1999-08-01T00:00:00.000000001Z"}, {"gte": exact, "lte": "1999-07-01||+1M/d"}, {"lt": 931000000000}, {"gte": "01/07/1999", "format": "dd/MM/yyyy"}, {"gte": "1999-07-01", "time_zone": "+05:00"}, {"gte": "1899-01-01"}, {"lt": "2300-01-01"}, {"gte": "x"}, {"gte": "now-100y"}, {"gte": "1999-07-01T10:00:00.0015000001Z"}, {"gte": "1999-06-01", "lt": "now/d"}]:
        out.query("scenes", {"range": {"at": ends}}, sort=["id"], size=5, _source=["at"])
    for sort in [["at", "id"], [{"at": "desc"}, "id"], [{"at": {"missing": "_first"}}, "id"], [{"at": {"mode": "max", "order": "asc"}}, "id"], [{"at": {"format": "strict_date_optional_time_nanos"}}, "id"], [{"at": {"format": "epoch_millis"}}, "id"], [{"at": {"numeric_type": "date"}}, "id"], [{"at": {"numeric_type": "long"}}, "id"], [{"at": {"mode": "avg"}}, "id"], [{"at": {"missing": "1999-07-01"}}, "id"], [{"at": {"missing": 5}}, "id"]]:
        out.query("scenes", {"match": {"text": "king"}}, sort=sort, size=12, _source=False)
        out.query("scenes", {"match_all": {}}, sort=sort, size=4, _source=False, **{"from": 790})
    for after in [["1999-07-01T10:00:00.000000001Z", 5], [930823200000000001, 5], ["930823200000", 5], [None, 5], ["x", 5]]:
        out.query("scenes", {"match_all": {}}, sort=["at", "id"], search_after=after, size=4, _source=False)
    out.query("scenes", {"match_all": {}}, sort=[{"at": {"format": "strict_date_optional_time_nanos", "order": "desc"}}, "id"], search_after=["1999-07-01T10:00:00.000000001Z", 5], size=4)
    for fields in [["at"], [{"field": "at", "format": "strict_date_optional_time_nanos"}], [{"field": "at", "format": "epoch_millis"}], [{"field": "at", "format": "yyyy-MM-dd HH:mm:ss.SSSSSSSSS"}], [{"field": "at", "format": "epoch_second"}], [{"field": "at", "format": "use_field_mapping"}]]:
        out.query("scenes", {"match": {"title": "king"}}, docvalue_fields=fields, fields=fields, sort=["id"], size=5, _source=False)
    for aggregation in [{"date_histogram": {"field": "at", "calendar_interval": "month"}}, {"date_histogram": {"field": "at", "fixed_interval": "90m", "min_doc_count": 3}}, {"date_histogram": {"field": "at", "calendar_interval": "day", "time_zone": "America/New_York", "offset": "3h"}}, {"date_histogram": {"field": "at", "fixed_interval": "1ms", "min_doc_count": 1}}, {"auto_date_histogram": {"field": "at", "buckets": 7}}, {"date_range": {"field": "at", "ranges": [{"to": "1999-07-01"}, {"from": exact, "to": "1999-08-01||/d"}]}}, {"range": {"field": "at", "ranges": [{"from": 930000000000}]}}, {"stats": {"field": "at"}}, {"extended_stats": {"field": "at"}},
                        {"min": {"field": "at"}}, {"max": {"field": "at", "missing": "2000-01-01"}}, {"value_count": {"field": "at"}}, {"cardinality": {"field": "at"}}, {"terms": {"field": "at", "size": 4, "order": {"_key": "asc"}}}, {"missing": {"field": "at"}}, {"percentiles": {"field": "at", "percents": [0, 50, 100]}}, {"composite": {"sources": [{"d": {"date_histogram": {"field": "at", "calendar_interval": "week"}}}], "size": 4}}, {"composite": {"sources": [{"t": {"terms": {"field": "at"}}}], "size": 4}}, {"histogram": {"field": "at", "interval": 86400000000}}, {"top_hits": {"size": 2, "sort": [{"at": "desc"}, "id"], "_source": False, "docvalue_fields": ["at"]}}, {"sum": {"field": "at"}}, {"avg": {"field": "at"}}]:
        out.aggs("scenes", aggregation)
    for query in [{"term": {"at": "1999-07-01"}}, {"term": {"at": exact}}, {"terms": {"at": [exact, "1999-07-02"]}}, {"exists": {"field": "at"}}, {"match": {"at": "1999-07-01"}}, {"distance_feature": {"field": "at", "origin": exact, "pivot": "10d"}}, {"script": {"script": "doc['at'].size() > 0 && doc['at'].value.getNano() % 1000 == 7"}}, {"query_string": {"query": "at:[1999-07-01 TO 1999-07-03]"}}, {"prefix": {"at": "1999"}}]:
        out.query("scenes", query, size=5, sort=["_score", "id"])
    out.query("scenes", {"match": {"title": "king"}}, script_fields={"n": {"script": "doc['at'].size() == 0 ? null : doc['at'].value.getNano()"}, "m": {"script": "doc['at'].size() == 0 ? null : doc['at'].value"}}, sort=["id"], size=5), out.query("scenes,kinds", {"match_all": {}}, sort=[{"at": {"unmapped_type": "date_nanos"}}, "id"], size=5)


def names_of_dates(out):
    # A pattern whose format is a quoted text makes the same name every day.
    for index in ["%3Cscen%7Bnow%7B%27es%27%7D%7D%3E", "%3Cscen%7Bnow%2Fd%7B%27es%27%7CAsia%2FTokyo%7D%7D%3E", "%3Cscen%7Bnow%2Fd-1M%7B%27es%27%7D%7D%3E,accounts", "%3Cs*%7Bnow%7B%27nes%27%7D%7D%3E", "%3Cscenes-%7Bnow%2Fd%7D%3E", "%3Cscenes-%7Bnow%7D", "%3Cscenes-now%7D%3E", "%3Cscenes%3E", "%3Cscen%7Bnow%2Fx%7B%27es%27%7D%7D%3E", "%3Cscen%7Bnow%7B%27es%7D%7D%3E", "%3Cscen%7Bnow%7B%27es%27%7D%3E", "%3Cscen%7B2020-01-01%7C%7C%2FM%7B%27es%27%7D%7D%3E", "%3Cscen%7B%7D%3E", "%3C%7Bnow%7B%27Scenes%27%7D%7D%3E"]:
        out.ask(index, {"query": {"term": {"needed": 2}}, "size": 2, "sort": ["needed"]}), out.ask(index, None, "_count")
    out.ask("%3Cscenes-%7Bnow%2Fd%7D%3E,scenes", {"size": 0}, params="ignore_unavailable=true"), out.ask("%3Cscen%7Bnow%7B%27es%27%7D%7D%3E", None, "_termvectors/3", params="fields=title")


def score_alone(out):
    for sort, after in [(["_score"], [3.0]), ([{"_score": "desc"}], [3.0]), ([{"_score": "asc"}], [3.0]), ("_score", [3.0]), ({"_score": {"order": "desc"}}, [3.0]), (["_doc"], [3]), (["_score", "_doc"], [3.0, 5]), (["_score", "_score"], [3.0, 3.0]), ([], [3.0]), (None, [3.0]), (["_score"], [3.0, 4]), (["_score"], []), (["_score"], ["x"]), (["_score"], 3.0)]:
        out.ask("scenes", {"query": {"match": {"text": "king"}}, **({} if sort is None else {"sort": sort}), "search_after": after, "size": 4})
