"""The indices of the comparison: their mappings, their documents, and how both sides are filled with them.

Every document has an explicit id; both sides are refreshed and merged to one segment a shard, so that statistics and the order of documents
agree. Then every hundredth document of the indices that are not a track's is deleted."""
import datetime, json, os, random, subprocess, tempfile

from .servers import DATA, TRACKS, call

TEXT = {"type": "text", "fields": {"raw": {"type": "keyword", "ignore_above": 256}}}
KEYWORD, LONG, INTEGER, DATE, POINT = {"type": "keyword"}, {"type": "long"}, {"type": "integer"}, {"type": "date"}, {"type": "geo_point"}
DOUBLE, FLOAT, BOOLEAN, IP = {"type": "double"}, {"type": "float"}, {"type": "boolean"}, {"type": "ip"}

# Types that builds of `PEERS` lack, by the beginning of the peer's name, and what both sides map instead.
STANDINS = {
    "es-8": {"scaled_float": "double", "match_only_text": "text", "constant_keyword": "keyword"},
    "es-9": {"scaled_float": "double", "match_only_text": "text", "constant_keyword": "keyword"},
    "es-7": {"match_only_text": "text", "constant_keyword": "keyword"},
    "opensearch": {},
}

TRACK_DOCUMENTS = 20_000


def sample(name):
    return lambda count: [line for line in read(os.path.join(DATA, name), count)]


def read(file, count):
    process = subprocess.Popen(["zstd", "-dcq", file], stdout=subprocess.PIPE)
    lines = [process.stdout.readline() for _ in range(count)]
    process.kill()
    process.wait()
    return [line.strip() for line in lines if line.strip()]


def mapping_of(name):
    return json.load(open(os.path.join(DATA, name)))["properties"]


def orders_mapping():
    """The shop's orders, their products nested."""
    mapping = mapping_of("kibana_sample/ecommerce-mapping.json")
    mapping["products"] = {**mapping["products"], "type": "nested"}
    return mapping


def kinds(count):
    """Made documents with what real ones rarely have: several values, none, nulls, extremes, other notations."""
    rng, words = random.Random(4), "amber birch cedar dune ember fjord grove heath islet jetty knoll ledge marsh notch".split()
    start = datetime.datetime(2023, 12, 30, tzinfo=datetime.timezone.utc)
    lines = []
    for place in range(count):
        made = {"id": place, "group": words[place % 7]}
        several = lambda make, most=4: [make() for _ in range(rng.randrange(1, most))]
        if rng.random() < 0.8:
            made["tags"] = several(lambda: rng.choice(words))
        if rng.random() < 0.7:
            made["longs"] = several(lambda: rng.choice([rng.randrange(-50, 50), rng.randrange(-2**40, 2**40), 7]))
        if rng.random() < 0.7:
            made["doubles"] = several(lambda: round(rng.gauss(0, 100), rng.randrange(4)))
        if rng.random() < 0.6:
            made["half"] = round(rng.gauss(10, 5), 2)
        if rng.random() < 0.6:
            made["byte"] = rng.randrange(-128, 128)
        if rng.random() < 0.6:
            made["short"] = rng.choice([-32768, 32767, rng.randrange(-1000, 1000)])
        if rng.random() < 0.5:
            made["flag"] = rng.choice([True, False, "true", "false", [True, False]])
        if rng.random() < 0.8:
            moment = start + datetime.timedelta(seconds=rng.randrange(0, 180 * 86400), milliseconds=rng.randrange(1000))
            made["when"] = rng.choice([moment.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z", int(moment.timestamp() * 1000), moment.strftime("%Y-%m-%d")])
        if rng.random() < 0.5:
            made["address"] = rng.choice([f"10.0.{rng.randrange(4)}.{rng.randrange(256)}", f"2001:db8::{rng.randrange(16):x}:{rng.randrange(9)}", ["10.0.0.1", "::1"]])
        if rng.random() < 0.7:
            made["place"] = rng.choice([[round(rng.uniform(-180, 180), 5), round(rng.uniform(-85, 85), 5)], {"lat": rng.randrange(-80, 80), "lon": rng.randrange(-170, 170)},
                                        f"{rng.randrange(40, 60)},{rng.randrange(0, 20)}", [[2.35, 48.85], [13.4, 52.5]]])
        if rng.random() < 0.9:
            made["text"] = " ".join(rng.choice(words) for _ in range(rng.randrange(1, 20)))
        if rng.random() < 0.3:
            made["maybe"] = rng.choice([None, "NULL", "set", []])
        if rng.random() < 0.4:
            made["weight"] = rng.randrange(1, 9)
        made["comments"] = [{"author": rng.choice(words), "stars": rng.randrange(1, 6), "at": (start + datetime.timedelta(days=rng.randrange(180))).strftime("%Y-%m-%d"),
                             "text": " ".join(rng.choice(words) for _ in range(rng.randrange(1, 6))),
                             **({"replies": [{"author": rng.choice(words), "likes": rng.randrange(0, 30)} for _ in range(rng.randrange(3))]} if rng.random() < 0.5 else {})}
                            for _ in range(rng.randrange(4))]
        lines.append(json.dumps(made).encode())
    return lines


def scenes(count):
    """Passages of consecutive lines, as one text or several, at moments that differ by less than a millisecond."""
    rng, lines = random.Random(6), [json.loads(line) for line in sample("shakespeare/shakespeare.ndjson.zst")(count * 6)]
    start = datetime.datetime(1999, 6, 12, tzinfo=datetime.timezone.utc)
    made = []
    for place in range(count):
        own = lines[place * 6:place * 6 + rng.randrange(1, 7)]
        words = [line["text_entry"] for line in own]
        moments = [(start + datetime.timedelta(hours=rng.randrange(2000))).strftime("%Y-%m-%dT%H:%M:%S.") + f"{rng.randrange(4):03}{rng.randrange(10**6):06}Z" for _ in range(rng.choice([1, 1, 1, 2]))]
        made.append({"id": place, "play": own[0]["play_name"], "speakers": sorted({line["speaker"] for line in own}), "title": own[-1]["text_entry"], "needed": rng.randrange(1, 4), "text": words if place % 5 == 0 else ". ".join(words) if place % 2 else " ".join(words),
                     **({"at": moments} if rng.random() < 0.9 else {})})
    return [json.dumps(one).encode() for one in made]


# Every way to keep the places of words.
PASSAGE = {"type": "text", "fields": {"offsets": {"type": "text", "index_options": "offsets"}, "vectors": {"type": "text", "term_vector": "with_positions_offsets"}, "english": {"type": "text", "analyzer": "english", "term_vector": "with_positions_offsets"}}}


# Index: (documents by count, count, mapping's properties).
INDICES = {
    "http_logs": (sample("http_logs/documents.ndjson.zst"), 30_000, lambda: {
        "@timestamp": {"type": "date", "format": "strict_date_optional_time||epoch_second"},
        "clientip": IP, "request": TEXT, "status": INTEGER, "size": INTEGER}),
    "accounts": (sample("accounts/accounts.ndjson.zst"), 1_000, lambda: {
        "account_number": LONG, "balance": LONG, "firstname": TEXT, "lastname": TEXT, "age": INTEGER, "gender": KEYWORD,
        "address": {"type": "text"}, "employer": TEXT, "email": KEYWORD, "city": KEYWORD, "state": KEYWORD}),
    "shakespeare": (sample("shakespeare/shakespeare.ndjson.zst"), 5_000, lambda: {
        "type": KEYWORD, "line_id": INTEGER, "play_name": KEYWORD, "speech_number": KEYWORD, "line_number": KEYWORD,
        "speaker": KEYWORD, "text_entry": {"type": "text"}}),
    "flights": (sample("kibana_sample/flights.ndjson.zst"), 13_059, lambda: mapping_of("kibana_sample/flights-mapping.json")),
    "orders": (sample("kibana_sample/ecommerce.ndjson.zst"), 4_675, orders_mapping),
    "earthquakes": (sample("earthquakes/documents.ndjson.zst"), 20_000, lambda: {
        "@timestamp": DATE, "location": POINT, "depth": DOUBLE, "magnitude": FLOAT, "mag_type": KEYWORD, "source": KEYWORD, "event_id": KEYWORD,
        "gap": DOUBLE, "distance": DOUBLE, "rms": DOUBLE, "nst": INTEGER}),
    "kinds": (kinds, 3_000, lambda: {
        "id": INTEGER, "group": KEYWORD, "tags": KEYWORD, "longs": LONG, "doubles": DOUBLE, "half": {"type": "half_float"}, "byte": {"type": "byte"},
        "short": {"type": "short"}, "flag": BOOLEAN, "when": DATE, "address": IP, "place": POINT, "text": {**TEXT, "fielddata": True},
        "maybe": {"type": "keyword", "null_value": "NULL"}, "weight": INTEGER,
        "comments": {"type": "nested", "properties": {"author": KEYWORD, "stars": INTEGER, "at": DATE, "text": {"type": "text"},
                                                      "replies": {"type": "nested", "properties": {"author": KEYWORD, "likes": INTEGER}}}}}),
    "scenes": (scenes, 800, lambda: {
        "id": INTEGER, "play": KEYWORD, "speakers": KEYWORD, "title": {"type": "text"}, "needed": INTEGER, "text": PASSAGE, "at": {"type": "date_nanos"}}),
}

# Not from those that are asked for significant terms: Elasticsearch counts the tombstones of deletes in their background.
DELETED_FROM = ("http_logs", "accounts", "flights", "earthquakes")


def lines_of(index):
    make, count, _ = INDICES[index]
    return make(count)


def stood_in(mapping, peer):
    """`mapping` without the types that `peer` lacks."""
    standins = next((types for name, types in STANDINS.items() if peer.startswith(name)), {})
    if isinstance(mapping, dict):
        mapping = {key: stood_in(inner, peer) for key, inner in mapping.items()}
        if isinstance(mapping.get("type"), str) and mapping["type"] in standins:
            mapping["type"] = standins[mapping["type"]]
            mapping.pop("scaling_factor", None)
        return mapping
    if isinstance(mapping, list):
        return [stood_in(inner, peer) for inner in mapping]
    return mapping


def sharded(shards):
    """With as many routing shards as shards Elasticsearch 9 places documents as 8 does, so that figures by shard agree."""
    return {"number_of_shards": shards, "number_of_routing_shards": shards}


def fill(base, index, body, lines):
    call(base, "DELETE", "/" + index)
    status, answer = call(base, "PUT", "/" + index, body)
    assert status == 200, (index, answer)
    for start in range(0, len(lines), 1000):
        part = b"".join(b'{"index":{"_id":"%d"}}\n%s\n' % (start + place, line) for place, line in enumerate(lines[start:start + 1000]))
        status, answer = call(base, "POST", f"/{index}/_bulk", part)
        assert status == 200 and not answer["errors"], (index, answer.get("error") or [item for item in answer["items"] if "error" in item["index"]][:3])
    call(base, "POST", f"/{index}/_refresh")
    status, answer = call(base, "POST", f"/{index}/_forcemerge?max_num_segments=1")
    assert status == 200, answer


def load(base, peer, shards, only=None):
    for index, (_, _, mapping) in INDICES.items():
        if only and index not in only:
            continue
        settings = {**sharded(shards), "number_of_replicas": 0, "refresh_interval": -1}
        lines = lines_of(index)
        fill(base, index, {"settings": settings, "mappings": {"properties": stood_in(mapping(), peer)}}, lines)
        if index in DELETED_FROM:
            # After the merge: how long deleted documents count in statistics is up to the merges.
            call(base, "POST", f"/{index}/_bulk", b"".join(b'{"delete":{"_id":"%d"}}\n' % place for place in range(7, len(lines), 100)))
            call(base, "POST", f"/{index}/_refresh")


def rendered(track):
    return json.load(open(os.path.join(TRACKS, f"{track}.json")))


def track_lines(track):
    """Index and documents of a track, amplified from the samples."""
    amplify = ["python3", os.path.join(DATA, "tools", "amplify.py"), track, str(TRACK_DOCUMENTS)]
    with tempfile.TemporaryDirectory() as work:
        if track == "http_logs":
            subprocess.run([*amplify, "--split", work], check=True, stderr=subprocess.DEVNULL)
            return {f"logs-{name.split('-')[1].split('.')[0]}": open(os.path.join(work, name), "rb").read().splitlines() for name in sorted(os.listdir(work))}
        file = os.path.join(work, "documents.json")
        subprocess.run([*amplify, "--out", file], check=True, stderr=subprocess.DEVNULL)
        return {{"geopoint": "osmgeopoints"}.get(track, track): open(file, "rb").read().splitlines()}


def load_track(base, peer, track, shards, documents):
    for index, lines in documents.items():
        body = stood_in(rendered(track)["indices"][index], peer)
        if not peer.startswith(("es-8", "es-9")):
            # Modes of the source came later.
            body["mappings"].pop("_source", None)
        body["settings"] = {**{name.removeprefix("index."): value for name, value in body.get("settings", {}).items()}, **sharded(shards), "refresh_interval": -1}
        fill(base, index, body, lines)
