"""The differences that docs/compatibility.md explains. Each test gets the request, the list of differences and both answers."""
import json, re

from .answers import near, same


def merged_digest(request, differences, theirs, ours):
    """Percentiles of more than 2,000 values: both approximate, and differently. Fewer are exact on both sides."""
    def near_enough(left, right, count):
        if isinstance(left, list):
            return len(left) == len(right) and all(near_enough(*pair, count) for pair in zip(left, right))
        if not isinstance(left, dict):
            return True
        count = left.get("doc_count", count)
        # A document of these may have several values.
        enough = 600 if request.index == "kinds" else 2000
        if "values" not in left:
            return all(near_enough(left[key], right.get(key), count) for key in left)
        out = []
        same(left, right, "", out)
        out = [text for text in out if "_as_string" not in text]
        numbers = [re.search(r": (-?[\d.e+]+) / (-?[\d.e+]+)$", text) for text in out]
        # Where a value is shared by many documents, or none lie between two, a rank is off by percents and a value by the gap.
        shown = [entry["value"] for entry in left["values"]] if isinstance(left["values"], list) else list(left["values"].values())
        reach = max([8] + [abs(value) * 0.05 for value in shown if isinstance(value, (int, float))])
        return not out or count >= enough and all(pair and (near(float(pair[1]), float(pair[2]), 0.25) or abs(float(pair[1]) - float(pair[2])) < reach) for pair in numbers)

    if "percentile" not in json.dumps(request.body) or not all(re.search(r"\.values(\.|\[|:)", text) for text in differences):
        return False
    total = theirs[1]["hits"].get("total", {"relation": "gte"})
    return near_enough(theirs[1]["aggregations"], ours[1]["aggregations"], total["value"] if total["relation"] == "eq" else 2000)


def estimated(request, differences, theirs, ours):
    """Cardinalities beyond the exact range: another estimator over the same registers."""
    if "cardinality" not in json.dumps(request.body):
        return False
    pairs = [re.search(r"\.value: (\d+) / (\d+)$", text) for text in differences]
    return all(pair and near(int(pair[1]), int(pair[2]), 0.05) for pair in pairs)


def estimates(request, differences, theirs, ours):
    """Both of these in one request."""
    rest = [text for text in differences if not estimated(request, [text], theirs, ours)]
    return len(rest) < len(differences) and merged_digest(request, rest, theirs, ours)


def merged_once(request, differences, theirs, ours):
    """`terms` that cut, histograms by count, and another auto_date_histogram below auto_date_histogram: merged once here, several times in Elasticsearch,
    which repeats keys."""
    body = json.dumps(request.body)
    below = any(part in body for part in ('"terms"', '"_count"', '"min_doc_count"')) or body.count('"auto_date_histogram"') > 1
    return "auto_date_histogram" in body and below and all(re.search(r"\.buckets\[\d+\]\.\w+.*\.(buckets|sum_other_doc_count|doc_count_error_upper_bound)", text) for text in differences)


def mixed_up(request, differences, theirs, ours):
    """Elasticsearch 9.4 mixes up what is below rare_terms that is below other buckets: a bucket of one document counts two values."""
    body = json.dumps(request.body)
    return '"rare_terms"' in body and all(re.search(r"\.buckets\[\d+\]\.\w+\.buckets\[\d+\]\.\w+", text) for text in differences)


def counted_once(request, differences, theirs, ours):
    """A document with the same number twice counts once in rare_terms."""
    return '"rare_terms"' in json.dumps(request.body) and request.index == "kinds" and all(re.search(r"\.buckets", text) for text in differences)


def never_read(request, differences, theirs, ours):
    """A faulty clause of a `bool` that can match nothing is told; Elasticsearch does not come to read it."""
    return theirs[0] == 200 and ours[0] == 400 and theirs[1].get("hits", {}).get("total", {}).get("value") == 0 and '"must_not"' in json.dumps(request.body)


def older_ends(request, differences, theirs, ours):
    """`from` and `to` of a range: 8.x takes them, 9.x does not."""
    return ours[0] == 200 and "[range] query does not support [from]" in json.dumps(theirs[1])


def dropped_on_shard(request, differences, theirs, ours):
    """Whether documents of terms below `shard_min_doc_count` are counted as others."""
    return "shard_min_doc_count" in json.dumps(request.body) and all("sum_other_doc_count" in text for text in differences)


def not_supported(request, differences, theirs, ours):
    """Named refusals of what is not there yet."""
    return ours[0] == 400 and "is not supported by Limber yet" in json.dumps(ours[1])


def explanation_text(request, differences, theirs, ours):
    """The same score, told by Lucene's names for queries that Limber runs otherwise."""
    return all(re.search(r"\._explanation.*\.(description|details)", text) for text in differences)


def zero_max_score(request, differences, theirs, ours):
    """Elasticsearch skips shards that cannot be on the page of a search sorted by date, and then shows 0 for no score."""
    return "sort" in (request.body or {}) and differences == ["hits.max_score: 0.0 / null"]


def order_path(request, differences, theirs, ours):
    """A wrong order path is found on the shard when it has more buckets than `shard_size`, else in the reduce; here always there."""
    return ours[0] == 400 == theirs[0] and "Invalid aggregation order path" in json.dumps(theirs[1]) + json.dumps(ours[1])


def odd_clause(request, differences, theirs, ours):
    """Odd clauses: what is no object where one is wanted, lists as ends and boosts, objects as scripts. Refused, with another error or where Elasticsearch does not."""
    odd = lambda value: isinstance(value, (str, list, int, float, bool)) or value is None
    def walk(value):
        if isinstance(value, list):
            return any(map(walk, value))
        if not isinstance(value, dict):
            return False
        for key, inner in value.items():
            if key in ("must", "filter", "should", "must_not", "queries") and any(map(odd, inner if isinstance(inner, list) else [inner])):
                return True
            if key in ("gte", "gt", "lte", "lt", "boost") and isinstance(inner, (list, dict)):
                return True
            sets = inner.values() if key == "terms" and isinstance(inner, dict) else [one["terms"] for one in inner.values() if isinstance(one, dict) and "terms" in one] if key == "terms_set" and isinstance(inner, dict) else []
            if any(isinstance(values, list) and any(isinstance(one, (dict, list)) for one in values) for values in sets):
                return True
            if key in ("random_score", "field_value_factor") and isinstance(inner, dict) and any(isinstance(one, (dict, list)) for one in inner.values()):
                return True
            if key == "script" and isinstance(inner, dict) and isinstance(inner.get("source"), dict):
                return True
            if key in ("ranges", "order") and (not isinstance(inner, (list, dict)) or key == "ranges" and isinstance(inner, dict) or isinstance(inner, list) and not all(isinstance(one, dict) for one in inner)):
                return True
        return any(map(walk, value.values()))
    return (400 in (ours[0], theirs[0]) or request.path.startswith("_validate")) and walk(request.body)


def two_mistakes(request, differences, theirs, ours):
    """An unmapped sort and an unreadable query: which one is named."""
    return ours[0] == 400 == theirs[0] and "No mapping found for" in json.dumps(ours[1]) + json.dumps(theirs[1]) and "sort" in (request.body or {})


def count_body(request, differences, theirs, ours):
    """`_count` calls a malformed query "Failed to parse"; here it is the error of a search."""
    return request.path == "_count" and ours[0] == 400 and "Failed to parse" in json.dumps(theirs[1])


def told_early(request, differences, theirs, ours):
    """A fault that Elasticsearch finds on a shard, told when the request is read: the same cause without the wrapper of the shards."""
    left, right = (body.get("error") for _, body in (theirs, ours))
    if theirs[0] != 400 or ours[0] != 400 or not isinstance(left, dict) or not isinstance(right, dict):
        return False
    wanted = {cause["type"] for cause in left["root_cause"]}
    own = {cause["type"] for cause in right["root_cause"]} | {right.get("caused_by", {}).get("type")}
    compiled_late = "script_exception" in own and "bucket_s" in json.dumps(request.body)
    return left["type"] == "search_phase_execution_exception" != right["type"] and (wanted <= own or compiled_late)


def own_failure(request, differences, theirs, ours):
    """Elasticsearch fails (500) where a malformed request is refused or a harmless one answered."""
    return theirs[0] == 500 and ours[0] < 500


def cancelled(request, differences, theirs, ours):
    """Variances of dates: squares of milliseconds leave about six digits, and the order of summing decides about them."""
    pairs = [re.search(r"\.(?:variance|std_dev)\S*: (-?[\d.e+]+) / (-?[\d.e+]+)$", text) for text in differences]
    return "extended_stats" in json.dumps(request.body) and all(pair and near(float(pair[1]), float(pair[2]), 1e-4) for pair in pairs)


def significance_ties(request, differences, theirs, ours):
    """Buckets of equal significance: their order, and which of them a shard nominates. Below `nested` the background is another one."""
    if "significant_" not in json.dumps(request.body) or theirs[0] != 200 or ours[0] != 200:
        return False

    several = theirs[1]["_shards"]["total"] > 1

    def alike(left, right):
        if isinstance(left, dict) and isinstance(right, dict):
            if "bg_count" in left and "key" not in left and ".nested" in json.dumps(request.body).replace('"nested"', ".nested"):
                return True
            if isinstance(left.get("buckets"), list) and any("bg_count" in bucket for bucket in left["buckets"] + right.get("buckets", [])):
                own = {json.dumps(bucket["key"]): bucket for bucket in right["buckets"]}
                # Counts and scores are a shard's, and the peer may have placed other documents there; one shard is compared in full.
                if several:
                    return True
                return all(alike(bucket, own[json.dumps(bucket["key"])]) for bucket in left["buckets"] if json.dumps(bucket["key"]) in own)
            return left.keys() == right.keys() and all(alike(left[key], right[key]) for key in left)
        if isinstance(left, list) and isinstance(right, list):
            return len(left) == len(right) and all(map(alike, left, right))
        out = []
        same(left, right, "", out)
        return not out

    return alike(theirs[1].get("aggregations"), ours[1].get("aggregations"))


def random_seed(request, differences, theirs, ours):
    """The seed that `random_sampler` draws when none is given."""
    return "random_sampler" in json.dumps(request.body) and all(text.startswith("aggs.") and ".seed: " in text for text in differences)


def script_sort_score(request, differences, theirs, ours):
    """`_score` in a sort script is 0 in Elasticsearch 9."""
    return "_script" in json.dumps(request.body) and "_score" in json.dumps(request.body) and "(0.0," in differences[0]


def sliced_by_number(request, differences, theirs, ours):
    """Which slice a document falls into."""
    return "slice" in (request.body or {}) and all(text.startswith("hits.") for text in differences)


def only_text_of(name):
    return lambda request, differences, theirs, ours: name in request.path


def metadata_fields(request, differences, theirs, ours):
    """`_field_caps` names internal fields of Elasticsearch's."""
    return request.path == "_field_caps" and all(re.fullmatch(r"answer.fields: keys \['_data_stream_timestamp', '_nested_path'\] / \[\]", text) for text in differences)


def reduced_at_once(request, differences, theirs, ours):
    """`batched_reduce_size` changes nothing: there is one reduce."""
    return "batched_reduce_size" in request.params and all(text.startswith("num_reduce_phases") for text in differences)


def exists_anything(request, differences, theirs, ours):
    """`exists` on `*` finds documents with any field; Elasticsearch refuses because the pattern fits `_source`."""
    return {"exists": {"field": "*"}} == (request.body or {}).get("query") and theirs[0] == 400


def excluded_first(request, differences, theirs, ours):
    """`-name` without anything before it: 8.x looks for an index of that name, 9.x finds nothing."""
    return request.index.startswith("-") and ours[0] == 404


def likeness_wrapped(request, differences, theirs, ours):
    """What more_like_this finds while terms are chosen is told as a failure to create the query."""
    return '"more_like_this"' in json.dumps(request.body) and theirs[0] == ours[0] == 400 and "failed to create query: " in json.dumps(ours[1])


def sloppy_marks(request, differences, theirs, ours):
    """Which words of a phrase with a slop, or of spans and intervals, are marked."""
    body = json.dumps(request.body)
    return any(word in body for word in ('"slop"', "~", '"intervals"', '"span_')) and all(".highlight" in text for text in differences)


def mapped_format(request, differences, theirs, ours):
    """`use_field_mapping`, which 9.x reads as a pattern."""
    return "use_field_mapping" in json.dumps(request.body) and ours[0] == 200


def drawn_shard(request, differences, theirs, ours):
    """A document that comes with the request is counted in a shard that Elasticsearch draws."""
    body = request.body or {}
    documents = body["docs"] if isinstance(body.get("docs"), list) else []
    comes = any("doc" in one and "routing" not in one for one in [body, *documents] if isinstance(one, dict))
    return "termvectors" in request.path and comes and all(re.search(r"\.(doc_freq|ttf|field_statistics\.\w+): \d+ / \d+$", text) for text in differences)


def no_hits_of_top_hits(request, differences, theirs, ours):
    """`top_hits` of size 0, which Elasticsearch 9 refuses in the words of Lucene."""
    return "numHits must be > 0" in json.dumps(theirs[1]) and ours[0] == 200


EXPLAINED = [("estimated cardinality", estimated), ("t-digest of many values", merged_digest), ("both estimates", estimates), ("terms below auto_date_histogram", merged_once),
             ("rare_terms mixed up", mixed_up), ("same number twice in rare_terms", counted_once), ("faulty clause of a query that matches nothing", never_read), ("from and to of 8.x", older_ends), ("others of shard_min_doc_count", dropped_on_shard), ("not supported yet, refused by name", not_supported),
             ("explanation's text", explanation_text), ("max_score 0 of skipped shards", zero_max_score), ("order path, shard or reduce", order_path),
             ("clause that is no object", odd_clause), ("malformed _count", count_body),
             ("which of two mistakes", two_mistakes), ("told before the shards are asked", told_early), ("failure of Elasticsearch", own_failure),
             ("significant terms of equal scores", significance_ties), ("variance of dates", cancelled), ("seed drawn by random_sampler", random_seed), ("_score in a sort script", script_sort_score),
             ("which slice", sliced_by_number), ("text of _explain", only_text_of("_explain/")), ("internal fields", metadata_fields), ("one reduce", reduced_at_once),
             ("exists on *", exists_anything), ("exclusion in front", excluded_first), ("top_hits of size 0", no_hits_of_top_hits),
             ("choice of terms", likeness_wrapped), ("marks of sloppy phrases, spans and intervals", sloppy_marks), ("use_field_mapping of 8.x", mapped_format), ("shard of a document in the request", drawn_shard)]


LACKING = re.compile(r"unknown query \[|Unknown aggregation type|No handler for type|script_lang not supported|no handler found for uri|"
                     r"requires a license|Invalid index name \[logs-\*\]|no_point_in_time|Unknown key for a START_OBJECT in \[runtime_mappings\]")


def lacking(theirs, ours):
    """Whether the peer's build does not have what Limber knows."""
    return theirs[0] >= 400 and bool(LACKING.search(json.dumps(theirs[1]))) and not (ours[0] >= 400 and LACKING.search(json.dumps(ours[1])))


def other_digest(request, differences, theirs, ours):
    """Percentiles of a few values, which Elasticsearch 8 and 9 give exactly."""
    return "percentile" in json.dumps(request.body) and all(re.search(r"\.values(\.|\[|:)", text) for text in differences)


def refused_by_both(request, differences, theirs, ours):
    """Types of errors are Elasticsearch's."""
    return theirs[0] == ours[0] >= 400


def constant_keywords(request, differences, theirs, ours):
    """OpenSearch 3 gives every term of a keyword field the score 1."""
    return all(re.match(r"hits\.(max_score: 1\.0 /|hits\[0\]: \S+ 1\.0 /)", text) for text in differences)


# Of servers that are asked only for what Elasticsearch's builds lack: the newest Elasticsearch decides about the rest.
OTHER_PRODUCTS = [("another digest", other_digest), ("refused by both", refused_by_both), ("score of keywords", constant_keywords)]
