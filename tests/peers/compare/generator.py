"""Seeded random requests, and malformed versions of any request."""
import copy, dataclasses, json, re

from .requests import Request

# Field, by index and use: what the random requests choose from.
FIELDS = {
    "http_logs": {"text": ["request"], "keyword": ["request.raw"], "ip": ["clientip"], "number": ["status", "size"], "date": ["@timestamp"],
                  "boolean": [], "unique": None},
    "accounts": {"text": ["address", "firstname", "lastname", "employer"], "keyword": ["state", "gender", "city", "firstname.raw", "employer.raw"],
                 "ip": [], "number": ["age", "balance", "account_number"], "date": [], "boolean": [], "unique": "account_number"},
    "shakespeare": {"text": ["text_entry"], "keyword": ["speaker", "play_name", "type", "line_number"], "ip": [], "number": ["line_id"],
                    "date": [], "boolean": [], "unique": "line_id"},
    "flights": {"text": [], "keyword": ["Carrier", "OriginCountry", "DestWeather", "OriginWeather", "DestCityName", "FlightDelayType"], "ip": [],
                "number": ["AvgTicketPrice", "DistanceMiles", "FlightDelayMin", "dayOfWeek"], "date": ["timestamp"],
                "boolean": ["Cancelled", "FlightDelay"], "unique": "FlightNum", "place": ["OriginLocation", "DestLocation"]},
    "earthquakes": {"text": [], "keyword": ["mag_type", "source"], "ip": [], "number": ["depth", "magnitude", "rms", "gap"], "date": ["@timestamp"], "boolean": [],
                    "unique": "event_id", "place": ["location"]},
    "orders": {"text": ["customer_full_name", "category"], "keyword": ["day_of_week", "customer_gender", "user", "manufacturer.keyword"], "ip": [],
               "number": ["taxful_total_price", "total_quantity", "day_of_week_i"], "date": ["order_date"], "boolean": [], "unique": "order_id",
               "nested": {"products": {"keyword": ["sku"], "number": ["price", "quantity", "tax_amount"], "text": ["product_name"]}}},
    "kinds": {"text": ["text"], "keyword": ["tags", "group", "maybe"], "ip": ["address"], "number": ["longs", "doubles", "half", "byte", "short", "weight"], "date": ["when"],
              "boolean": ["flag"], "unique": "id", "place": ["place"],
              "nested": {"comments": {"keyword": ["author"], "number": ["stars"], "text": ["text"]}}},
    "scenes": {"text": ["text", "title"], "keyword": ["play", "speakers"], "ip": [], "number": ["id", "needed"], "date": ["at"], "boolean": [], "unique": "id"},
}


class Maker:
    """Random requests over one index; values are those of its documents."""

    def __init__(self, rng, index, documents):
        self.rng, self.index, self.fields, self.documents = rng, index, FIELDS[index], documents

    def value(self, field):
        """A value of the field in some document; what stands for none is of the field's type."""
        document = self.rng.choice(self.documents)
        value = document.get(field.removesuffix(".raw").removesuffix(".keyword"))
        while isinstance(value, list):
            value = self.rng.choice(value) if value else None
        if isinstance(value, (dict, type(None))):
            own = next(kind for kind, fields in self.fields.items() if isinstance(fields, list) and field in fields)
            return {"number": 3, "date": "2018-01-10", "ip": "10.0.0.1", "boolean": True}.get(own, "none")
        return value

    def field(self, *kinds):
        found = [field for kind in kinds for field in self.fields[kind]]
        return self.rng.choice(found) if found else None

    def words(self, count):
        field = self.field("text")
        words = re.findall(r"\w+", " ".join(str(self.value(field)) for _ in range(count)))
        start = self.rng.randrange(max(1, len(words) - count))
        return field, " ".join(words[start:start + count] or ["none"])

    def query(self, depth=2):
        rng = self.rng
        kinds = ["term", "terms", "range", "range", "exists", "prefix", "ids", "match_all", "pattern", "pattern", "script"]
        if self.fields["text"]:
            kinds += ["match", "match", "match", "phrase", "phrase", "text", "text", "text", "intervals", "spans", "like"]
        if depth:
            kinds += ["bool", "bool", "bool", "constant", "dis_max", "boosting", "function", "function"]
        if self.fields.get("nested"):
            kinds += ["nested", "nested", "nested"]
        if self.fields.get("place"):
            kinds += ["place", "place"]
        kind = rng.choice(kinds)
        boost = {"boost": rng.choice([0.5, 2, 3.25])} if rng.random() < 0.2 else {}
        if kind == "term":
            field = self.field("keyword", "number", "ip", "boolean")
            return {"term": {field: {"value": self.value(field), **boost}}}
        if kind == "terms":
            field = self.field("keyword", "number", "ip")
            return {"terms": {field: [self.value(field) for _ in range(rng.randrange(1, 6))], **boost}}
        if kind in ("pattern", "text", "script", "dis_max", "boosting", "function", "nested", "intervals", "spans", "like"):
            return getattr(self, kind)(boost, depth)
        if kind == "range":
            field = self.field("number", "date", "number", "ip")
            ends = sorted((self.value(field) for _ in range(2)), key=str if field in self.fields["ip"] + self.fields["date"] else None)
            bounds = {rng.choice(["gte", "gt"]): ends[0], rng.choice(["lte", "lt"]): ends[1]}
            if rng.random() < 0.3:
                bounds.pop(rng.choice(list(bounds)))
            return {"range": {field: {**bounds, **boost}}}
        if kind == "exists":
            return {"exists": {"field": self.field("keyword", "number", "text", "date", "ip", "boolean"), **boost}}
        if kind == "prefix":
            field = self.field("keyword")
            return {"prefix": {field: {"value": str(self.value(field))[:rng.randrange(1, 6)], **boost}}}
        if kind == "place":
            return self.near_place(boost)
        if kind == "ids":
            return {"ids": {"values": [str(rng.randrange(len(self.documents))) for _ in range(rng.randrange(1, 9))], **boost}}
        if kind == "match_all":
            return {"match_all": boost}
        if kind == "match":
            field, words = self.words(rng.randrange(1, 5))
            extra = rng.choice([{}, {}, {"operator": "and"}, {"minimum_should_match": rng.choice([1, 2, "60%", "-1"])}])
            return {"match": {field: {"query": words, **extra, **boost}}}
        if kind == "phrase":
            field, words = self.words(rng.randrange(1, 4))
            return {"match_phrase": {field: {"query": words, **({"slop": rng.randrange(4)} if rng.random() < 0.5 else {}), **boost}}}
        if kind == "constant":
            return {"constant_score": {"filter": self.query(depth - 1), **boost}}
        clauses = {}
        for name in rng.sample(["must", "filter", "should", "must_not"], rng.randrange(1, 4)):
            clauses[name] = [self.query(depth - 1) for _ in range(rng.randrange(1, 4))]
        if "should" in clauses and rng.random() < 0.4:
            clauses["minimum_should_match"] = rng.choice([0, 1, 2, "50%", -1])
        return {"bool": {**clauses, **boost}}

    def pattern(self, boost, _):
        rng, field = self.rng, self.field("keyword")
        text = str(self.value(field)) or "x"
        at = rng.randrange(len(text))
        escaped = re.sub(r"([^\w ])", r"\\\1", text)
        return rng.choice([
            {"wildcard": {field: {"value": text[:at] + rng.choice("*?") + text[at + 1:], **boost}}},
            {"wildcard": {field: {"value": "*" + text[at:at + 3] + "*", "case_insensitive": True, **boost}}},
            {"regexp": {field: {"value": escaped[:1] + ".*" if at % 2 else "(" + escaped + "|.{" + str(at + 1) + "})", **boost}}},
            {"fuzzy": {field: {"value": text[:at] + "x" + text[at + 1:], "fuzziness": rng.choice([1, 2, "AUTO"]), **boost}}}])

    def text(self, boost, _):
        rng = self.rng
        field, words = self.words(rng.randrange(1, 4))
        others = [f"{name}^{rng.randrange(1, 4)}" for name in self.fields["text"]]
        return rng.choice([
            {"match_phrase_prefix": {field: {"query": words[:-1] or words, **boost}}},
            {"match_bool_prefix": {field: {"query": words[:-1] or words, "operator": rng.choice(["or", "and"]), **boost}}},
            {"match": {field: {"query": words, "fuzziness": rng.choice([0, 1, "AUTO"]), **boost}}},
            {"multi_match": {"query": words, "fields": others, "type": rng.choice(["best_fields", "most_fields", "phrase", "bool_prefix"]), **boost}},
            {"multi_match": {"query": words, "fields": others, "tie_breaker": 0.3, "operator": rng.choice(["or", "and"]), **boost}},
            {"query_string": {"query": rng.choice([" AND ", " OR ", " ", " NOT "]).join(words.split()), "default_field": field, **boost}},
            {"query_string": {"query": f'"{words}"~2 {words}*', "fields": others, **boost}}])

    def intervals(self, boost, _):
        field, _ = self.words(1)
        return {"intervals": {field: {**self.rule(field), **boost}}}

    def rule(self, field, depth=2):
        """A rule of intervals over words of `field`."""
        rng = self.rng
        words = re.findall(r"\w+", str(self.value(field)).lower()) or ["none"]
        at = rng.randrange(len(words))
        word, some = words[at], " ".join(words[at:at + rng.randrange(1, 4)])
        kinds = ["match", "match", "match", "prefix", "wildcard", "regexp", "fuzzy", "range"] + ["all_of", "any_of", "all_of"] * bool(depth)
        kind = rng.choice(kinds)
        options = {"match": {"query": some}, "prefix": {"prefix": word[:rng.randrange(1, 4)]}, "wildcard": {"pattern": word[:1] + "*" + word[-1:]}, "regexp": {"pattern": word[:2] + ".*"},
                   "fuzzy": {"term": word[:-1] + "x"}, "range": {"gte": word, "lt": word + "z"}}.get(kind, {})
        if kind in ("all_of", "any_of"):
            options["intervals"] = [self.rule(field, depth - 1) for _ in range(rng.randrange(1, 4))]
        if kind in ("all_of", "match"):
            options.update({"ordered": rng.random() < 0.5, "max_gaps": rng.choice([-1, 0, 1, 3, 10])})
        if kind in ("all_of", "any_of", "match") and depth and rng.random() < 0.3:
            filters = ["after", "before", "contained_by", "containing", "not_contained_by", "not_containing", "not_overlapping", "overlapping"]
            options["filter"] = {rng.choice(filters): self.rule(field, 0)}
        return {kind: options}

    def spans(self, boost, _):
        made = self.span(self.field("text"))
        next(iter(made.values())).update(boost) if "span_term" not in made else None
        return made

    def span(self, field, depth=2):
        rng = self.rng
        words = re.findall(r"\w+", str(self.value(field)).lower()) or ["none"]
        at, inner = rng.randrange(len(words)), lambda: self.span(field, depth - 1)
        terms = [{"span_term": {field: word}} for word in words[at:at + rng.randrange(1, 4)]]
        near = {"span_near": {"clauses": terms, "slop": rng.choice([0, 1, 4, 9]), "in_order": rng.random() < 0.5}}
        if not depth:
            return rng.choice([terms[0], near])
        return rng.choice([lambda: near, lambda: {"span_near": {"clauses": [inner(), inner()], "slop": rng.randrange(20), "in_order": rng.random() < 0.5}}, lambda: {"span_or": {"clauses": [inner() for _ in range(rng.randrange(1, 4))]}},
                           lambda: {"span_not": {"include": inner(), "exclude": inner(), **rng.choice([{}, {"dist": 1}, {"pre": 2, "post": 1}])}}, lambda: {"span_first": {"match": inner(), "end": rng.randrange(1, 12)}},
                           lambda: {"span_containing": {"big": inner(), "little": inner()}}, lambda: {"span_within": {"big": inner(), "little": inner()}},
                           lambda: {"span_multi": {"match": rng.choice([{"prefix": {field: words[at][:3]}}, {"fuzzy": {field: words[at] + "x"}}, {"wildcard": {field: words[at][:2] + "?*"}}])}}])()

    def like(self, boost, _):
        """`more_like_this` by words of its own or documents."""
        rng, (field, words) = self.rng, self.words(self.rng.randrange(2, 9))
        document = lambda: {"_index": self.index, "_id": str(rng.randrange(len(self.documents)))}
        thing = lambda: rng.choice([words, document(), {"_index": self.index, "doc": {field: words}}])
        options = {"fields": rng.choice([[field], self.fields["text"]]), "like": [thing() for _ in range(rng.randrange(1, 4))], "min_term_freq": rng.choice([1, 1, 2]), "min_doc_freq": rng.choice([1, 5, 20])}
        if rng.random() < 0.2:
            options["unlike"] = [thing()]
        for name, values in {"max_query_terms": [1, 3, 10], "minimum_should_match": [1, "50%", "-1"], "max_doc_freq": [50, 500], "min_word_length": [4], "max_word_length": [6], "stop_words": [["the", "and"]], "include": [True], "boost_terms": [1, 2.5]}.items():
            if rng.random() < 0.25:
                options[name] = rng.choice(values)
        return {"more_like_this": {**options, **boost}}

    def script(self, _, depth):
        field = self.field("number")
        guard = f"doc['{field}'].size() > 0 && "
        return {"script": {"script": {"source": guard + self.rng.choice([f"doc['{field}'].value > params.v", f"doc['{field}'].value % 3 == 1", f"Math.abs(doc['{field}'].value) < params.v * 2"]),
                                      "params": {"v": self.value(field)}}}}

    def dis_max(self, boost, depth):
        return {"dis_max": {"queries": [self.query(depth - 1) for _ in range(self.rng.randrange(1, 4))], "tie_breaker": self.rng.choice([0, 0.3, 1]), **boost}}

    def boosting(self, boost, depth):
        return {"boosting": {"positive": self.query(depth - 1), "negative": self.query(depth - 1), "negative_boost": self.rng.choice([0, 0.2, 1.5]), **boost}}

    def function(self, boost, depth):
        rng, functions = self.rng, []
        for _ in range(rng.randrange(1, 4)):
            field = self.field("number")
            made = rng.choice([{"weight": rng.choice([0.5, 2, 7])}, {"field_value_factor": {"field": field, "factor": 0.5, "modifier": rng.choice(["square", "reciprocal"]), "missing": 1}},
                               {rng.choice(["gauss", "exp", "linear"]): {field: {"origin": self.value(field), "scale": rng.choice([1, 10, 500]), "decay": rng.choice([0.1, 0.5])}}},
                               {"random_score": {"seed": rng.randrange(100), "field": self.fields["unique"] if self.index in ("accounts", "shakespeare", "kinds") else "_seq_no"}},
                               {"script_score": {"script": f"doc['{field}'].size() == 0 ? 1 : Math.abs(doc['{field}'].value) + _score"}}])
            functions.append({**made, **({"filter": self.query(0)} if rng.random() < 0.5 else {})})
        return {"function_score": {"query": self.query(depth - 1), "functions": functions, "score_mode": rng.choice(["multiply", "sum", "avg", "first", "max", "min"]),
                                   "boost_mode": rng.choice(["multiply", "replace", "sum", "avg", "max", "min"]), **boost}}

    def nested_leaf(self):
        """(path, field, a value of it)"""
        rng = self.rng
        path, fields = rng.choice(list(self.fields["nested"].items()))
        kind = rng.choice([kind for kind in fields])
        field = rng.choice(fields[kind])
        inner = [one for document in rng.sample(self.documents, 30) for one in document.get(path, []) if field in one]
        return path, kind, f"{path}.{field}", inner[0][field] if inner else 1

    def nested(self, boost, depth):
        path, kind, field, value = self.nested_leaf()
        inside = {"text": {"match": {field: value}}, "keyword": {"term": {field: value}}, "number": {"range": {field: {"gte": value}}}}[kind]
        if self.rng.random() < 0.4:
            inside = {"bool": {"must": [inside], "must_not": [{"exists": {"field": f"{path}.nope"}}]}}
        return {"nested": {"path": path, "query": inside, "score_mode": self.rng.choice(["avg", "max", "min", "sum", "none"]), **boost}}

    def place(self):
        """[lon, lat] near one of the documents' points."""
        point = self.rng.choice(self.documents).get(self.rng.choice(self.fields["place"]))
        if not isinstance(point, dict):
            point = {"lat": 48, "lon": 2}
        shifted = lambda text, end: max(-end, min(end, round(float(text) + self.rng.gauss(0, 2), self.rng.choice([0, 2, 6]))))
        return [shifted(point["lon"], 180), shifted(point["lat"], 90)]

    def near_place(self, boost):
        rng, field, (x, y) = self.rng, self.field("place"), self.place()
        reach = rng.choice([0.5, 3, 15, 70])
        west, east, south, north = max(-180, x - reach), min(180, x + reach), max(-90, y - reach), min(90, y + reach)
        ring = [[west, south], [east, south], [x, north], [west, south]]
        return rng.choice([
            {"geo_distance": {"distance": f"{reach * 100}km", field: [x, y], **boost}},
            {"geo_bounding_box": {field: {"top_left": [west, north], "bottom_right": [east, south]}, **boost}},
            {"geo_bounding_box": {field: {"top_left": [east, north], "bottom_right": [west, south]}, **boost}},
            {"geo_polygon": {field: {"points": ring}, **boost}},
            {"geo_shape": {field: {"shape": {"type": "polygon", "coordinates": [ring]}, "relation": rng.choice(["intersects", "disjoint", "within"])}, **boost}},
            {"distance_feature": {"field": field, "origin": [x, y], "pivot": f"{reach * 10}km", **boost}}])

    def metric(self):
        rng = self.rng
        kind = rng.choice(["avg", "sum", "min", "max", "stats", "extended_stats", "value_count", "cardinality", "percentiles", "percentile_ranks"])
        field = self.field("number", "number", "date", "boolean") if kind not in ("value_count", "cardinality") else self.field("keyword", "number", "ip", "date")
        options = {"field": field}
        if kind == "percentiles" and rng.random() < 0.5:
            options["percents"] = sorted(rng.sample([0, 1, 10, 33.3, 50, 90, 99, 100], 3))
        if kind == "percentile_ranks":
            field = options["field"] = self.field("number")
            options["values"] = [self.value(field) for _ in range(2)]
        if kind.startswith("percentile") and rng.random() < 0.3:
            options["keyed"] = False
        return {kind: options}

    def bucket(self):
        rng = self.rng
        kind = rng.choice(["terms", "terms", "terms", "histogram", "date_histogram", "range", "filter", "filters", "missing", "rare_terms", "auto_date", "composite", "composite"]
                          + ["nested"] * (3 if self.fields.get("nested") else 0)
                          + ["place"] * (2 if self.fields.get("place") else 0))
        if kind == "place":
            field, reach = self.field("place"), rng.choice([100, 1000, 5000])
            return rng.choice([{"geohash_grid": {"field": field, "precision": rng.randrange(1, 7)}}, {"geotile_grid": {"field": field, "precision": rng.randrange(0, 14)}},
                               {"geo_distance": {"field": field, "origin": self.place(), "unit": "km", "ranges": [{"to": reach}, {"from": reach, "to": 3 * reach}]}}])
        if kind == "nested":
            path, kind, field, _ = self.nested_leaf()
            inside = {"stats": {"field": field}} if kind == "number" else {"terms": {"field": field}} if kind == "keyword" else {"filter": {"exists": {"field": field}}}
            return {"nested": {"path": path}, "aggs": {"n": {**inside, **({"aggs": {"r": {"reverse_nested": {}}}} if kind != "number" else {})}}}
        if kind == "rare_terms":
            return {"rare_terms": {"field": self.field("keyword", "number"), "max_doc_count": rng.randrange(1, 6)}}
        if kind == "auto_date" and self.fields["date"]:
            return {"auto_date_histogram": {"field": self.field("date"), "buckets": rng.randrange(1, 40), **rng.choice([{}, {"time_zone": "Asia/Kolkata"}, {"minimum_interval": "hour"}])}}
        if kind == "composite":
            sources = []
            for name in "uvw"[:rng.randrange(1, 4)]:
                field = self.field("keyword", "number", "ip", "boolean")
                own = {"field": field, "order": rng.choice(["asc", "desc"]), **({"missing_bucket": True} if rng.random() < 0.3 else {})}
                if self.fields["date"] and rng.random() < 0.3:
                    sources.append({name: {"date_histogram": {"field": self.field("date"), "calendar_interval": rng.choice(["day", "month"]), "time_zone": rng.choice(["UTC", "America/New_York"])}}})
                else:
                    sources.append({name: {"terms": own}})
            return {"composite": {"sources": sources, "size": rng.randrange(1, 30)}}
        if kind == "auto_date" or kind == "date_histogram" and not self.fields["date"]:
            kind = "terms"
        if kind == "terms":
            field = self.field("keyword", "keyword", "number", "ip", "boolean")
            options = {"field": field}
            if rng.random() < 0.6:
                options["size"] = rng.randrange(1, 30)
            if rng.random() < 0.4:
                options["order"] = rng.choice([{"_count": "asc"}, {"_key": "asc"}, {"_key": "desc"}, {"_count": "desc"}])
            if rng.random() < 0.2:
                options["min_doc_count"] = rng.randrange(1, 20)
            return {"terms": options}
        if kind == "histogram":
            field = self.field("number")
            if field == "longs":
                field = "weight"
            options = {"field": field, "interval": {"age": 3, "status": 50, "dayOfWeek": 1}.get(field, rng.choice([250, 1000, 5000]))}
            if rng.random() < 0.4:
                options["offset"] = rng.randrange(0, 50)
            if rng.random() < 0.4:
                options["min_doc_count"] = rng.randrange(0, 10)
            if rng.random() < 0.3:
                options["keyed"] = True
            return {"histogram": options}
        if kind == "date_histogram":
            options = {"field": self.field("date")}
            options.update(rng.choice([{"calendar_interval": rng.choice(["hour", "day", "week", "month", "quarter", "year"])}, {"fixed_interval": rng.choice(["45m", "6h", "2d", "10d"])}]))
            if rng.random() < 0.5:
                options["time_zone"] = rng.choice(["Europe/Berlin", "America/New_York", "Asia/Kolkata", "+03:00", "-09:30", "Australia/Lord_Howe"])
            if rng.random() < 0.3:
                options["min_doc_count"] = rng.randrange(0, 30)
            if rng.random() < 0.3:
                options["order"] = rng.choice([{"_key": "desc"}, {"_count": "desc"}])
            return {"date_histogram": options}
        if kind == "range":
            field = self.field("number")
            ends = sorted({self.value(field) for _ in range(3)})
            ranges = [{"to": ends[0]}] + [{"from": left, "to": right} for left, right in zip(ends, ends[1:])] + [{"from": ends[-1]}]
            return {"range": {"field": field, "ranges": ranges, "keyed": rng.random() < 0.3}}
        if kind == "filter":
            return {"filter": self.query(1)}
        if kind == "filters":
            return {"filters": {"filters": {name: self.query(1) for name in "xyz"[:rng.randrange(1, 4)]}, **({"other_bucket_key": "rest"} if rng.random() < 0.5 else {})}}
        return {"missing": {"field": self.field("keyword", "number", "date")}}

    def aggregations(self, depth=2):
        out = {}
        for name in "abc"[:self.rng.randrange(1, 3)]:
            if depth and self.rng.random() < 0.65:
                out[name] = self.bucket()
                if self.rng.random() < 0.6 and "aggs" not in out[name]:
                    below = out[name]["aggs"] = self.aggregations(depth - 1)
                    self.order_by_metric(out[name], below)
            else:
                out[name] = self.metric()
        return out

    def order_by_metric(self, own, below):
        single = [name for name, body in below.items() if set(body) & {"avg", "sum", "min", "max"}]
        stats = [name + ".max" for name, body in below.items() if set(body) & {"stats", "extended_stats"}]
        kind = next(iter(own))
        if kind in ("terms", "histogram", "date_histogram") and (single or stats) and self.rng.random() < 0.5:
            own[kind]["order"] = {self.rng.choice(single + stats): self.rng.choice(["asc", "desc"])}

    def sort(self):
        rng, out = self.rng, []
        for _ in range(rng.randrange(1, 3)):
            field = self.field("keyword", "number", "date", "ip", "number")
            out.append(rng.choice([field, {field: "desc"}, {field: {"order": "asc", "missing": rng.choice(["_first", "_last"])}}, "_score"]))
        return out

    def highlight(self):
        rng = self.rng
        fields = ["text", "text.offsets", "text.vectors"] if self.index == "scenes" else self.fields["text"]
        options = {"type": rng.choice(["unified", "plain"] + ["fvh"] * (self.index == "scenes")), "fragment_size": rng.choice([0, 20, 100]), "number_of_fragments": rng.choice([0, 1, 5])}
        if options["type"] == "fvh":
            fields = ["text.vectors"]
        for name, values in {"order": ["score"], "require_field_match": [False], "no_match_size": [10, 50], "boundary_scanner": ["word", "sentence"]}.items():
            if rng.random() < 0.3:
                options[name] = rng.choice(values)
        return {**options, "fields": {field: {} for field in fields}}

    def request(self):
        rng, body = self.rng, {"query": self.query()}
        path = "_count" if rng.random() < 0.08 else "_search"
        if path == "_count":
            return Request(self.index, body, path)
        if rng.random() < 0.45:
            body["aggs"] = self.aggregations()
            body["size"] = rng.choice([0, 0, 0, 3])
        else:
            body["size"] = rng.randrange(1, 40)
            if rng.random() < 0.5:
                body["sort"] = self.sort()
            if rng.random() < 0.3:
                body["from"] = rng.randrange(0, 200)
            if rng.random() < 0.1:
                body["explain"] = True
            if self.fields["text"] and rng.random() < 0.15:
                body["highlight"] = self.highlight()
        if rng.random() < 0.2:
            body["track_total_hits"] = rng.choice([True, 5, 500])
        return Request(self.index, body, path)


def malformed(rng, request):
    """`request` with one thing wrong somewhere."""
    body = copy.deepcopy(request.body) or {}
    places = []

    def walk(value):
        if isinstance(value, dict):
            places.extend((value, key) for key in value)
            list(map(walk, value.values()))
        elif isinstance(value, list):
            places.extend((value, place) for place in range(len(value)))
            list(map(walk, value))

    walk(body)
    if not places:
        return None
    holder, key = rng.choice(places)
    change = rng.choice(["key", "unknown", "value", "value", "value"])
    if change == "unknown" and isinstance(holder[key], dict):
        holder[key]["unknown_option"] = 1
    elif change == "key" and isinstance(holder, dict):
        holder[key + "_x"] = holder.pop(key)
    else:
        holder[key] = rng.choice([[], {}, "x", -1, None, 1.5, True, [[1]], {"x": {}}, ""])
    if "termvectors" in request.path and ("filter" in body and not isinstance(body["filter"], dict) or "filter_x" in body):
        # Elasticsearch 9.4 reads on for ever.
        return None
    return dataclasses.replace(request, body=body, pages="")
