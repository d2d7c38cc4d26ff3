"""What surrounds a query: sorts, pages, what is shown of a hit, scripts and runtime fields."""
from .fixed_queries import PARIS
from .requests import List


def requests():
    out = List()
    sorts(out), pages(out), shown(out), runtime(out), other(out)
    return out.requests


def sorts(out):
    love = {"match": {"text_entry": "love"}}
    for field in ["longs", "doubles", "half", "byte", "short", "flag", "when", "tags", "address", "maybe", "weight", "text", "text.raw"]:
        for options in [{}, {"order": "desc"}, {"mode": "max"}, {"mode": "min", "order": "desc"}, {"missing": "_first"}, {"order": "desc", "missing": "_last"}, {"mode": "avg"}, {"mode": "median"}, {"mode": "sum", "order": "desc"}]:
            out.query("kinds", {"range": {"id": {"lt": 800}}}, sort=[{field: {"order": "asc", **options}}, "id"], size=12)
        out.query("kinds", {"range": {"id": {"lt": 800}}}, sort=[{field: {"missing": {"when": "2024-01-01", "address": "10.0.0.9"}.get(field, "7")}}, "id"], size=12)
    for sort in [[{"when": {"format": "yyyy/MM/dd"}}, "id"], [{"when": {"numeric_type": "date_nanos"}}, "id"], [{"longs": {"numeric_type": "double"}}, "id"], [{"doubles": {"numeric_type": "long"}}, "id"], ["_id"], [{"_score": {"order": "asc"}}, "id"],
                 [{"nope": "asc"}], [{"nope": {"unmapped_type": "keyword"}}, "id"], [{"place": "asc"}], [{"comments.stars": {"order": "desc"}}, "id"], [{"comments.stars": {"order": "desc", "nested": {"path": "comments"}}}, "id"],
                 [{"comments.stars": {"order": "asc", "mode": "avg", "nested": {"path": "comments", "filter": {"term": {"comments.author": "amber"}}}}}, "id"], [{"comments.stars": {"mode": "sum", "nested": {"path": "comments", "max_children": 1}}}, "id"],
                 [{"comments.replies.likes": {"order": "desc", "nested": {"path": "comments", "nested": {"path": "comments.replies"}}}}, "id"], [{"comments.author": {"nested": {"path": "comments"}}}, "id"], [{"id": {"nope": 1}}], [{"id": "up"}], {"id": "desc"}, "id:desc",
                 [{"_geo_distance": {"place": PARIS, "unit": "km"}}, "id"], [{"_geo_distance": {"place": [PARIS, "10,10"], "mode": "max", "order": "desc"}}, "id"], [{"_geo_distance": {"nope": PARIS}}], [{"_geo_distance": {"nope": PARIS, "ignore_unmapped": True}}, "id"],
                 [{"_script": {"type": "number", "script": "doc['id'].value % 10", "order": "desc"}}, "id"], [{"_script": {"type": "string", "script": "doc['group'].value + doc['id'].value"}}], [{"_script": {"type": "number", "script": {"source": "_score * params.a", "params": {"a": 2}}}}, "id"],
                 [{"_script": {"type": "number", "script": "nope"}}], [{"_script": {"script": "1"}}], [{"_script": {"type": "number", "mode": "max", "script": "doc['weight'].size() == 0 ? -1 : doc['weight'].value"}}, "id"]]:
        out.query("kinds", {"match": {"text": "amber birch"}}, sort=sort, size=12), out.query("kinds", {"range": {"id": {"gte": 40}}}, sort=sort, size=3, track_scores=True)
    for sort, after in [(["line_id"], [100]), (["_score", "line_id"], [5.0, 100]), ([{"speaker": "asc"}, {"line_id": "desc"}], ["HAMLET", 3000]), (["line_id"], ["x"]), (["line_id"], [None]), (["speaker"], [5]), ([{"line_id": "desc"}], ["100"])]:
        out.query("shakespeare", love, sort=sort, search_after=after, size=7)
    for after in [["2018-01-05T00:00:00Z", "A"], [1515110400000, "A"], ["2018-01-05||+1d", "A"], [None, "A"]]:
        out.ask("flights", {"sort": ["timestamp", "FlightNum"], "search_after": after, "size": 5})
    out.ask("flights", {"sort": [{"timestamp": {"order": "desc", "format": "yyyy-MM-dd"}}, "FlightNum"], "search_after": ["2018-01-05", "A"], "size": 5}), out.ask("accounts", {"sort": ["age", {"state": "desc"}, "account_number"], "search_after": [30, "TX", 1], "size": 5})


def pages(out):
    love = {"match": {"text_entry": "love"}}
    for kind in ["scroll", "search_after", "pit"]:
        out.ask("shakespeare", {"query": love, "size": 20, "sort": ["line_id"]}, pages=kind), out.ask("shakespeare", {"query": love, "size": 15, "sort": ["_score", "line_id"]}, pages=kind)
        out.ask("flights", {"size": 400, "sort": [{"timestamp": "desc"}, "FlightNum"], "_source": ["Carrier"]}, pages=kind), out.ask("accounts", {"size": 100, "sort": [{"state": "desc"}, "account_number"], "query": {"range": {"age": {"gte": 30}}}}, pages=kind)
        out.ask("accounts,shakespeare", {"size": 300, "sort": [{"_id": "asc"}], "_source": False}, pages=kind) if kind == "scroll" else None
        out.ask("kinds", {"size": 100, "sort": [{"doubles": {"order": "desc", "missing": "_first"}}, "id"], "_source": ["id"]}, pages=kind), out.ask("kinds", {"size": 100, "sort": [{"tags": {"missing": "_first"}}, {"id": "desc"}], "_source": False}, pages=kind)
    out.ask("shakespeare", {"query": love, "size": 50}, pages="scroll"), out.ask("accounts", {"size": 170, "sort": ["_doc"]}, pages="scroll"), out.ask("accounts", {"size": 0}, pages="scroll"), out.ask("accounts", {"size": 10, "from": 3}, pages="scroll")
    out.ask("accounts", {"size": 100, "slice": {"id": 0, "max": 3, "field": "account_number"}, "sort": ["account_number"]}, pages="scroll"), out.ask("accounts", {"slice": {"id": 3, "max": 3}}, pages="scroll")
    out.ask("accounts", {"scroll_id": "nope"}, "_search/scroll")


def shown(out):
    one = {"ids": {"values": ["3", "11", "1500"]}}
    for rest in [{"_source": "comments.*"}, {"_source": ["*.author"]}, {"_source": {"includes": ["comments"], "excludes": ["comments.replies"]}}, {"_source": True}, {"_source": "nope"}, {"_source": []}, {"_source": {"include": "id"}},
                 {"fields": ["*"]}, {"fields": ["when", "tags"], "_source": False}, {"fields": [{"field": "when", "format": "yyyy"}], "_source": False}, {"fields": ["comments.*"], "_source": False}, {"fields": ["comments.replies.likes"], "_source": False}, {"fields": ["place"], "_source": False},
                 {"fields": [{"field": "place", "format": "wkt"}], "_source": False}, {"fields": [{"field": "nope", "include_unmapped": True}], "_source": False}, {"fields": ["text.raw", "half", "byte"], "_source": False}, {"fields": [{"field": "tags", "format": "x"}]},
                 {"docvalue_fields": ["longs", "doubles", "half", "byte", "short", "flag", "when", "tags", "address", "place", "maybe"], "_source": False}, {"docvalue_fields": [{"field": "when", "format": "epoch_second"}, {"field": "doubles", "format": "0.00"}, "t*"], "_source": False},
                 {"docvalue_fields": ["text"]}, {"docvalue_fields": ["nope"]}, {"docvalue_fields": [{"field": "tags", "format": "0"}]}, {"stored_fields": "_none_"}, {"stored_fields": ["id"]}, {"stored_fields": ["_source"]}, {"version": True, "explain": True},
                 {"script_fields": {"a": {"script": "doc['id'].value * 2"}, "b": {"script": {"source": "params._source.group + params.x", "params": {"x": "!"}}}}}, {"script_fields": {"a": {"script": "doc['tags']"}}}, {"script_fields": {"a": {"script": "doc['when'].size() == 0 ? null : doc['when'].value"}}},
                 {"script_fields": {"a": {"script": "doc['place'].size() == 0 ? null : doc['place'].value"}}}, {"script_fields": {"a": {"script": "['x': 1, 'y': [1, 2.5, 'z', null, true]]"}}}, {"script_fields": {"a": {"script": "doc['nope'].value"}}}, {"script_fields": {"a": {"script": "nope", "ignore_failure": True}}},
                 {"script_fields": {"a": {"script": {"source": "doc['nope'].value"}, "ignore_failure": True}}}, {"script_fields": {"a": {"script": "Math.PI"}}, "_source": True}, {"script_fields": {"a": {}}}, {"script_fields": {"a": {"script": "doc['flag'].size() > 0 && doc['flag'].value"}}},
                 {"script_fields": {"a": {"script": "1 / 0"}}}, {"script_fields": {"a": {"script": "def l = new ArrayList(); for (x in doc['longs']) { l.add(x % 10) } Collections.sort(l); return l"}}}, {"script_fields": {"a": {"script": "doc['address'].size() == 0 ? '' : doc['address'].value"}}},
                 {"script_fields": {"a": {"script": "int f(int n) { n < 2 ? n : f(n - 1) + f(n - 2) } f(12)"}}}, {"script_fields": {"a": {"script": "doc['tags'].stream().map(t -> t.toUpperCase()).sorted().collect(Collectors.toList())"}}},
                 {"script_fields": {"a": {"script": "String.format('%05d|%.2f', new Object[] {7, 1.5})"}}}, {"script_fields": {"a": {"script": {"source": "doc['id'].value + 1", "lang": "expression"}}}}, {"script_fields": {"a": {"script": {"source": "x", "lang": "nope"}}}},
                 {"indices_boost": [{"kinds": 2}]}, {"stats": ["a"]}, {"profile": False}, {"seq_no_primary_term": True}, {"min_score": 2}, {"highlight": {"fields": {"text": {}}}}]:
        out.query("kinds", one, sort=["id"], **rest)
    for path in ["3", "11", "7", "nope"]:
        out.ask("shakespeare", {"query": {"match": {"text_entry": "love"}}}, f"_explain/{path}")
    out.query("accounts,shakespeare", {"match_all": {}}, indices_boost=[{"accounts": 2}, {"shak*": 1.5}], size=3), out.query("accounts", {"match_all": {}}, post_filter={"term": {"state": "TX"}}, size=3, sort=["account_number"])
    for query in [{"match": {"text_entry": {"query": "love death", "operator": "and"}}}, {"dis_max": {"queries": [{"match": {"text_entry": "love"}}, {"term": {"speaker": "HAMLET"}}], "tie_breaker": 0.5}}, {"function_score": {"query": {"match": {"text_entry": "love"}}, "weight": 2}},
                  {"match_phrase": {"text_entry": {"query": "lord my", "slop": 3}}}, {"bool": {"must_not": [{"term": {"speaker": "HAMLET"}}], "should": [{"match": {"text_entry": "love"}}]}}, {"boosting": {"positive": {"match": {"text_entry": "love"}}, "negative": {"match": {"text_entry": "death"}}, "negative_boost": 0.2}},
                  {"script_score": {"query": {"match": {"text_entry": "love"}}, "script": "_score * 2"}}, {"multi_match": {"query": "love", "fields": ["text_entry", "speaker^2"]}}, {"fuzzy": {"text_entry": "lvoe"}}, {"prefix": {"speaker": "HAM"}}]:
        out.query("shakespeare", query, explain=True, size=2)


def runtime(out):
    fields = {"twice": {"type": "long", "script": "emit(doc['age'].value * 2)"}, "full": {"type": "keyword", "script": "emit(doc['firstname.raw'].value + ' ' + doc['lastname.raw'].value)"}, "rich": {"type": "boolean", "script": "emit(doc['balance'].value > 30000)"},
              "ratio": {"type": "double", "script": {"source": "emit(doc['balance'].value / (params.d * doc['age'].value))", "params": {"d": 10.0}}}, "day": {"type": "date", "script": "emit(1500000000000L + doc['age'].value * 86400000L)"}, "ip": {"type": "ip", "script": "emit('10.0.0.' + doc['age'].value)"},
              "spot": {"type": "geo_point", "script": "emit(doc['age'].value, doc['age'].value * 2)"}, "city2": {"type": "keyword"}, "city": {"type": "keyword"}, "two": {"type": "composite", "script": "emit(['a': doc['age'].value, 'b': doc['state'].value])", "fields": {"a": {"type": "long"}, "b": {"type": "keyword"}}}}
    for query in [{"term": {"twice": 60}}, {"range": {"twice": {"gte": 70}}}, {"prefix": {"full": "A"}}, {"wildcard": {"full": "*a B*"}}, {"term": {"rich": True}}, {"range": {"ratio": {"lt": 50}}}, {"range": {"day": {"gte": "2017-08-20"}}}, {"term": {"ip": "10.0.0.30"}}, {"term": {"ip": "10.0.0.32/28"}}, {"exists": {"field": "city2"}},
                  {"geo_distance": {"distance": "500km", "spot": [60, 30]}}, {"terms": {"two.b": ["TX", "CA"]}}, {"regexp": {"full": "A.*B.*"}}, {"fuzzy": {"city": "Nicholsom"}}, {"match": {"full": "Amber Duke"}}, {"term": {"twice": "x"}}]:
        out.ask("accounts", {"runtime_mappings": fields, "query": query, "sort": ["account_number"], "size": 8, "fields": ["twice", "full", "two.*", "day", "spot"], "_source": False})
        out.ask("accounts", {"runtime_mappings": fields, "query": {"bool": {"must": [{"match": {"address": "street"}}], "filter": [query]}}, "size": 4})
    for kind, options in [("terms", {"field": "full", "size": 3, "order": {"_key": "asc"}}), ("terms", {"field": "rich"}), ("stats", {"field": "ratio"}), ("histogram", {"field": "twice", "interval": 10}), ("date_histogram", {"field": "day", "calendar_interval": "week"}), ("terms", {"field": "ip", "size": 3}),
                          ("cardinality", {"field": "full"}), ("percentiles", {"field": "ratio"}), ("geotile_grid", {"field": "spot", "precision": 4}), ("terms", {"field": "two.b", "size": 3}), ("range", {"field": "twice", "ranges": [{"to": 50}]}), ("missing", {"field": "city2"}), ("value_count", {"field": "day"})]:
        out.ask("accounts", {"runtime_mappings": fields, "size": 0, "query": {"term": {"gender": "M"}}, "aggs": {"a": {kind: options}}})
    for sort in ["twice", {"full": "desc"}, {"ratio": {"order": "desc"}}, "day", "ip", {"rich": "desc"}]:
        out.ask("accounts", {"runtime_mappings": fields, "sort": [sort, "account_number"], "size": 5, "_source": False})
    for mapping in [{"x": {"type": "nope"}}, {"x": {}}, {"x": {"type": "long", "script": "emit("}}, {"x": {"type": "long", "script": "emit('a')"}}, {"x": 5}, {"x": {"type": "keyword", "nope": 1}}, {"x": {"type": "long", "script": "doc['nope'].value"}}]:
        out.ask("accounts", {"runtime_mappings": mapping, "query": {"exists": {"field": "x"}}, "fields": ["x"], "size": 2})


def other(out):
    for body in [{"field": "state", "string": "T"}, {"field": "employer.raw", "string": "Q", "size": 3}, {"field": "state"}, {"field": "nope", "string": "a"}, {"field": "state", "string": "t", "case_insensitive": True}, {"field": "state", "string": "T", "search_after": "TN"}, {}]:
        out.ask("accounts", body, "_terms_enum")
    for params in ["typed_keys=true", "track_total_hits=false", "size=2&from=3", "allow_partial_search_results=false", "batched_reduce_size=2", "ccs_minimize_roundtrips=true", "filter_path=hits.total", "ignore_unavailable=true", "nope=1", "size=x", "request_cache=true", "pre_filter_shard_size=1",
                   "preference=_local", "search_type=query_then_fetch", "search_type=nope", "routing=a", "expand_wildcards=all", "sort=age:desc,account_number:asc", "_source=age", "stored_fields=x", "suggest_field=x", "scroll=x", "timeout=10s", "terminate_after=1000000"]:
        out.ask("accounts", {"query": {"term": {"gender": "F"}}, "aggs": {"s": {"terms": {"field": "state", "size": 3}}, "a": {"avg": {"field": "age"}}}}, params=params)
    for index in ["acc*", "accounts,nope", "-accounts", "*,-kinds", "_all", "acc*,shake*", "Nope"]:
        out.ask(index, {"query": {"term": {"state": "TX"}}, "sort": ["_score"], "size": 50}), out.ask(index, None, "_count")
    out.ask("accounts,nope", {"size": 1}, params="ignore_unavailable=true"), out.ask("nope*", {"size": 1}, params="allow_no_indices=false")
    for path in ["_validate/query", "_validate/query?explain=true"]:
        out.ask("accounts", {"query": {"term": {"age": 30}}}, path), out.ask("accounts", {"query": {"range": {"age": {"gte": "x"}}}}, path), out.ask("accounts", {"query": {"nope": {}}}, path)
    out.ask("accounts", {"fields": ["age", "s*"]}, "_field_caps"), out.ask("accounts,flights", None, "_field_caps", params="fields=*a*"), out.ask("accounts", None, "_field_caps")
