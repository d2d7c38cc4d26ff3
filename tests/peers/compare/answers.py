"""Compares two answers to the same request."""
import json, re


def near(left, right, relative):
    return left == right or abs(left - right) <= relative * max(abs(left), abs(right))


def own_names(text):
    """Without what is each server's own: the id of an index, and the place in a body."""
    return re.sub(r"\[([\w.-]+)/[\w-]{22}\]", r"[\1]", re.sub(r"\[\d+:\d+\] ", "", text))


def same(left, right, at, out, relative=1e-9):
    """Appends the paths where `left` (Elasticsearch's) and `right` differ."""
    number = lambda value: isinstance(value, (int, float)) and not isinstance(value, bool)
    if number(left) and number(right):
        if not near(left, right, relative) or isinstance(left, int) != isinstance(right, int):
            out.append(f"{at}: {left!r} / {right!r}")
    elif type(left) is not type(right):
        out.append(f"{at}: {json.dumps(left)[:200]} / {json.dumps(right)[:200]}")
    elif isinstance(left, dict):
        missing, extra = [key for key in left if key not in right], [key for key in right if key not in left]
        if missing or extra:
            out.append(f"{at}: keys {missing} / {extra}")
        elif at.endswith(".buckets") and list(left) != list(right):
            out.append(f"{at}: order of keys {list(left)[:9]} / {list(right)[:9]}")
        for key in left:
            if key in right and key not in ("_node", "_shard"):
                same(left[key], right[key], f"{at}.{key}", out, relative)
    elif isinstance(left, list):
        if at.endswith(".fields") and all(isinstance(one, dict) and "name" in one for one in left + right):
            # matrix_stats, by a hash map's order.
            left, right = (sorted(fields, key=lambda field: field["name"]) for fields in (left, right))
        if len(left) != len(right):
            out.append(f"{at}: {len(left)} / {len(right)} elements")
        for place, (one, other) in enumerate(zip(left, right)):
            same(one, other, f"{at}[{place}]", out, relative)
    elif left != right and (not isinstance(left, str) or own_names(left) != own_names(right)):
        out.append(f"{at}: {left!r} / {right!r}")


def drop_types(answer):
    """Without the `_type` of hits, which Elasticsearch has had no more since 8.0."""
    if isinstance(answer, dict):
        if "_id" in answer:
            answer.pop("_type", None)
        list(map(drop_types, answer.values()))
    elif isinstance(answer, list):
        list(map(drop_types, answer))


def sort_key(hit):
    return tuple(hit["sort"]) if "sort" in hit else hit.get("_score")


def same_key(left, right):
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(same_key(*pair) for pair in zip(left, right))
    if isinstance(left, float) and isinstance(right, (int, float)):
        return near(left, right, 1e-6)
    return left == right


def compare_hits(theirs, ours, out):
    same({key: value for key, value in theirs.items() if key != "hits"}, {key: value for key, value in ours.items() if key != "hits"}, "hits", out, 1e-6)
    left, right = theirs.get("hits", []), ours.get("hits", [])
    if len(left) != len(right):
        return out.append(f"hits.hits: {len(left)} / {len(right)}")
    for place, (one, other) in enumerate(zip(left, right)):
        if not same_key(sort_key(one), sort_key(other)):
            return out.append(f"hits.hits[{place}]: {one.get('_id')} {sort_key(one)} / {other.get('_id')} {sort_key(other)}")
    if any("_id" not in hit for hit in left + right):
        return same(left, right, "hits.hits", out, 1e-6)
    by_id = {(hit.get("_index"), hit["_id"]): hit for hit in right}
    for place, hit in enumerate(left):
        own = (hit.get("_index"), hit["_id"])
        if own not in by_id:
            # Of equal ones at the page's edges, others may be shown.
            edge = same_key(sort_key(hit), sort_key(left[0])) or same_key(sort_key(hit), sort_key(left[-1]))
            if not edge:
                return out.append(f"hits.hits[{place}]: {hit['_id']} is missing")
        else:
            same(hit, by_id[own], f"hits.hits[{place}]", out, 1e-6)


def reason_of(error):
    reason = error.get("reason") if isinstance(error, dict) else str(error)
    return re.sub(r"\[\d+:\d+\] ?|; line: .*|\n.*", "", reason or "", flags=re.S)


def types_of(error):
    if not isinstance(error, dict):
        return [str(error)]
    return [error.get("type"), "roots:"] + sorted({cause.get("type") or "" for cause in error.get("root_cause", [])})


def shards_of(answer):
    """Counts and types of failures: which shards were skipped, and the names of nodes, are each server's own."""
    shards = {key: value for key, value in answer.get("_shards", {}).items() if key != "skipped"}
    if "failures" in shards:
        shards["failures"] = sorted((failure["reason"] or {}).get("type", "") for failure in shards["failures"])
    return shards


def compare(theirs, ours, path="_search"):
    """The differences, and whether only the texts of errors differ."""
    (status, left), (own_status, right), out = theirs, ours, []
    if status != own_status:
        short = lambda answer: json.dumps(answer.get("error", "an answer"))[:260]
        return [f"status {status} / {own_status}: {short(left)} / {short(right)}"], False
    if status >= 400:
        left, right = left.get("error", left), right.get("error", right)
        if types_of(left) != types_of(right):
            shown = lambda error: f"{types_of(error)} {reason_of(error)[:150]!r}"
            return [f"error {shown(left)} / {shown(right)}"], False
        return [], reason_of(left) != reason_of(right)
    if path.split("?")[0] not in ("_search", "_count"):
        for one in (part for answer in (left, right) for part in [answer, *answer.get("docs", [])] if isinstance(part, dict)):
            one.pop("took", None)
        same(left, right, "answer", out)
        return out, False
    for key in ("timed_out", "terminated_early", "count", "num_reduce_phases"):
        same(left.get(key), right.get(key), key, out)
    same(shards_of(left), shards_of(right), "_shards", out)
    if "hits" in left:
        compare_hits(left["hits"], right["hits"], out)
    same(left.get("aggregations"), right.get("aggregations"), "aggs", out)
    return out, False
