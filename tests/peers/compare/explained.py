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
        if "values" not in left:
            return all(near_enough(left[key], right.get(key), count) for key in left)
        out = []
        same(left, right, "", out)
        out = [text for text in out if "_as_string" not in text]
        numbers = [re.search(r": (-?[\d.e+]+) / (-?[\d.e+]+)$", text) for text in out]
        return not out or count >= 2000 and all(pair and (near(float(pair[1]), float(pair[2]), 0.25) or abs(float(pair[1]) - float(pair[2])) < 5) for pair in numbers)

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
    """Odd clauses: what is no object where one is wanted, lists as ends and boosts. Refused, with another error or where Elasticsearch does not."""
    odd = lambda value: isinstance(value, (str, list, int, float, bool)) or value is None
    def walk(value):
        if isinstance(value, list):
            return any(map(walk, value))
        if not isinstance(value, dict):
            return False
        for key, inner in value.items():
            if key in ("must", "filter", "should", "must_not") and any(map(odd, inner if isinstance(inner, list) else [inner])):
                return True
            if key in ("gte", "gt", "lte", "lt", "boost") and isinstance(inner, (list, dict)):
                return True
            if key in ("ranges", "order") and (not isinstance(inner, (list, dict)) or key == "ranges" and isinstance(inner, dict) or isinstance(inner, list) and not all(isinstance(one, dict) for one in inner)):
                return True
        return any(map(walk, value.values()))
    return ours[0] == 400 and walk(request.body)


def two_mistakes(request, differences, theirs, ours):
    """An unmapped sort and an unreadable query: which one is named."""
    return ours[0] == 400 == theirs[0] and "No mapping found for" in json.dumps(ours[1]) + json.dumps(theirs[1]) and "sort" in (request.body or {})


def count_body(request, differences, theirs, ours):
    """`_count` calls a malformed query "Failed to parse"; here it is the error of a search."""
    return request.path == "_count" and ours[0] == 400 and "Failed to parse" in json.dumps(theirs[1])


EXPLAINED = [("estimated cardinality", estimated), ("t-digest of many values", merged_digest), ("not supported yet, refused by name", not_supported),
             ("explanation's text", explanation_text), ("max_score 0 of skipped shards", zero_max_score), ("order path, shard or reduce", order_path),
             ("clause that is no object", odd_clause), ("malformed _count", count_body),
             ("which of two mistakes", two_mistakes)]


LACKING = re.compile(r"unknown query \[|Unknown aggregation type|No handler for type|script_lang not supported|no handler found for uri|"
                     r"requires a license|no_point_in_time")


def lacking(theirs, ours):
    """Whether the peer's build does not have what Limber answers."""
    return theirs[0] >= 400 and ours[0] == 200 and bool(LACKING.search(json.dumps(theirs[1])))
