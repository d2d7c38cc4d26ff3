#!/usr/bin/env python3
"""Makes small corpora for those of Rally's standard tracks whose documents cannot be had from samples.

    tests/tracks/corpora.py noaa so --count 1000 --out ~/.rally/benchmarks/data      # what Rally's test mode reads: <corpus>/<file>-1k.<extension>

Documents fit the tracks' mappings and hold the values that their queries ask for. They are the same for a track and a count on every machine:
each file has a generator of random numbers of its own, seeded with its name.
"""
import argparse
import datetime
import json
import pathlib
import random

WORDS = ("amber birch cedar dune ember fjord grove heath islet jetty knoll ledge marsh notch orchard prairie quarry ridge summit tundra upland valley "
         "willow yarrow bear monkey jackal physician newspaper coverage google president bush saddam hussein hurricane katrina minister prime massive "
         "stroke acting replaced lists names table permissions column query server client thread").split()
TAGS = ("java c# javascript php android python jquery html c++ ios mysql css sql asp.net objective-c ruby-on-rails .net iphone arrays sql-server "
        "angularjs linux regex json xml").split()
COUNTRIES = [("US", "United States", "IL"), ("AS", "Australia", None), ("CA", "Canada", None), ("SW", "Sweden", None), ("RS", "Russia", None),
             ("JA", "Japan", None), ("GM", "Germany", None)]
TOWNS = "MARSHALL NEWPORT JACKSON FAIRFIELD HILLSBORO OSLO BREMEN SAPPORO".split()


def sentence(rng, least, most):
    """Words, the first ones of the list more often."""
    return " ".join(WORDS[min(int(rng.expovariate(1 / 14)), len(WORDS) - 1)] for _ in range(rng.randint(least, most)))


def moment(rng, start, days, form="%Y-%m-%dT%H:%M:%S"):
    return (datetime.datetime.fromisoformat(start) + datetime.timedelta(seconds=rng.randrange(days * 86_400))).strftime(form)


def noaa(rng, count):
    stations = []
    for number in range(120):
        code, country, state = rng.choice(COUNTRIES)
        stations.append({"id": f"{code}{number:09}", "name": rng.choice(TOWNS), "country": country, "country_code": code,
                         "elevation": round(rng.uniform(-5, 2500), 1), "location": {"lat": round(rng.uniform(25, 65), 4), "lon": round(rng.uniform(-130, 150), 4)},
                         **({"state_code": state, "state": "ILLINOIS"} if state else {})})
    for _ in range(count):
        lowest = round(rng.gauss(5, 12), 1)
        highest = round(lowest + rng.uniform(0, 18), 1)
        made = {"date": moment(rng, "2014-01-01", 1095, "%Y-%m-%dT00:00:00"), "station": rng.choice(stations), "TMIN": lowest, "TMAX": highest,
                "TRANGE": {"gte": lowest, "lte": highest}}
        if rng.random() < 0.6:
            made["TAVG"] = round((lowest + highest) / 2, 1)
        if rng.random() < 0.3:
            made.update({"AWDR": str(rng.randrange(3)), "AWND": round(rng.uniform(0, 2), 0), "DAPR": "2", "DASF": str(rng.randrange(2)), "DATN": "3", "DATX": "3",
                         "DWPR": "1", "EVAP": float(rng.randrange(2)), "MDPR": 0.5, "MDSF": "7", "MDTN": 1.5, "MDTX": 9.5, "MNPN": 3.0})
        yield made


def nested(rng, count):
    for number in range(count):
        yield {"title": sentence(rng, 3, 9), "qid": str(10_000_000 + number), "tag": rng.sample(TAGS[:14], rng.randint(1, 4)),
               "user": f"user {rng.randrange(300)}", "creationDate": moment(rng, "2008-08-01", 1500),
               "answers": [{"date": moment(rng, "2008-08-01", 1700), "user": f"user {rng.randrange(300)}"} for _ in range(rng.randrange(6))]}


def pmc(rng, count):
    for number in range(count):
        yield {"name": f"Journal_{number}", "journal": sentence(rng, 2, 3), "date": moment(rng, "2010-01-01", 2000, "%Y %b %d"), "volume": str(rng.randrange(40)),
               "issue": f"{number}-{number + 9}", "accession": f"PMC{4_000_000 + number}", "timestamp": moment(rng, "2012-01-01", 1400, "%Y-%m-%d %H:%M:%S"),
               "pmid": str(20_000_000 + number), "body": sentence(rng, 100, 400)}


def so(rng, count):
    for number in range(count):
        made = {"user": str(rng.randrange(200)), "creationDate": moment(rng, "2008-08-01", 2800), "body": sentence(rng, 10, 60)}
        if rng.random() < 0.6:
            kind = rng.randrange(3)
            tags = {tag for tag in TAGS[kind * 4:kind * 4 + 8] if rng.random() < 0.45} | {TAGS[kind]}
            made.update({"type": "question", "questionId": str(number), "title": sentence(rng, 3, 9), "tags": sorted(tags)})
            if rng.random() < 0.5:
                made["acceptedAnswerId"] = str(number + 1)
        else:
            made.update({"type": "answer", "answerId": str(number), "questionId": str(rng.randrange(number + 1))})
        yield made


def metricbeat(rng, count):
    for _ in range(count):
        made = {"@timestamp": moment(rng, "2019-02-22", 3) + ".000Z", "agent": {"type": "metricbeat", "hostname": f"host-{rng.randrange(9)}", "version": "7.0.0"},
                "metricset": {"name": rng.choice(["cpu", "memory", "container"])}, "service": {"type": "system"}}
        share = round(rng.random(), 4)
        if made["metricset"]["name"] == "container":
            made["docker"] = {"container": {"name": f"c{rng.randrange(20)}", "labels": {"tier": rng.choice(WORDS)}},
                              "cpu": {"core": {str(core): {"pct": share, "ticks": rng.randrange(10**9)} for core in range(2)}}}
        else:
            made["system"] = {"cpu": {"cores": 4, "user": {"pct": share}}, "memory": {"free": rng.randrange(2**33), "used": {"bytes": rng.randrange(2**33), "pct": share}}}
        yield made


def place(rng):
    """Longitude and latitude: in Europe, often near London or Paris."""
    town, spread = rng.choice([((-0.35, 51.4), 0.4), ((2.3, 48.85), 0.1), ((8.0, 52.0), 9.0), ((12.9, 55.6), 0.6)])
    return round(town[0] + rng.gauss(0, spread), 7), round(max(-85, min(85, town[1] + rng.gauss(0, spread))), 7)


def points(rng, count):
    for _ in range(count):
        yield {"location": "POINT (%s %s)" % place(rng)}


def way(rng, length):
    longitude, latitude = place(rng)
    return ", ".join(f"{longitude + rng.uniform(0, 0.05) * step:.7f} {latitude + rng.uniform(-0.05, 0.05):.7f}" for step in range(length))


def linestrings(rng, count):
    for _ in range(count):
        yield {"shape": f"LINESTRING({way(rng, rng.randint(2, 6))})"}


def multilinestrings(rng, count):
    for _ in range(count):
        yield {"shape": "MULTILINESTRING(%s)" % ", ".join(f"({way(rng, rng.randint(2, 4))})" for _ in range(rng.randint(1, 3)))}


def polygons(rng, count):
    """Rectangles, some with a hole: from a house's to a county's size."""
    for _ in range(count):
        (left, low), size = place(rng), rng.choice([0.0005, 0.01, 0.8])
        ring = lambda inset: ", ".join(f"{left + x * size:.7f} {low + y * size:.7f}" for x, y in
                                       [(inset, inset), (1 - inset, inset), (1 - inset, 1 - inset), (inset, 1 - inset), (inset, inset)])
        yield {"shape": f"POLYGON(({ring(0)})" + (f", ({ring(0.25)})" if rng.random() < 0.3 else "") + ")"}


def percolator(rng, count):
    """Searches as people write them: few words, seldom all of them to be found."""
    for _ in range(count):
        asked = rng.choice(["google", "president bush", "saddam hussein", "hurricane katrina", "prime minister", "ignore me"]) if rng.random() < 0.2 else sentence(rng, 1, 4)
        kind = rng.random()
        if kind < 0.7:
            yield {"query": {"match": {"body": {"query": asked}}}}
        elif kind < 0.85:
            yield {"query": {"match": {"body": {"query": asked, "operator": "and"}}}}
        else:
            yield {"query": {"match_phrase": {"body": asked}}}


def big5(rng, count):
    streams, programs = ["indigodagger", "solarshark", "fuschiashoulder", "opalcrest"], ["kernel", "systemd", "sshd", "cron"]
    for number in range(count):
        stream = rng.choice(streams)
        yield {"@timestamp": moment(rng, "2022-12-31", 8) + ".000Z", "message": sentence(rng, 8, 20), "process": {"name": rng.choice(programs)},
               "cloud": {"region": rng.choice(["eu-west-1", "us-east-2", "ap-south-1"])}, "log": {"file": {"path": f"/var/log/messages/{stream}"}},
               "aws": {"cloudwatch": {"log_stream": stream, "log_group": "/var/log/messages", "ingestion_time": moment(rng, "2023-01-01", 8)}},
               "meta": {"file": f"{moment(rng, '2023-01-01', 8, '%Y-%m-%d')}/part-{rng.randrange(40)}"}, "agent": {"id": str(rng.randrange(9)), "type": "filebeat"},
               "metrics": {"size": rng.randrange(3000), "tmin": rng.randrange(1000)}, "event": {"id": str(number), "dataset": "generic"}, "tags": ["preserve_original_event"]}


def wikipedia(rng, count):
    """Actions and documents in turn."""
    for number in range(count):
        yield {"index": {"_index": "wikipedia", "_id": f"page-{number}"}}
        yield {"title": sentence(rng, 1, 4), "content": sentence(rng, 30, 200), "namespace": str(rng.randrange(3)), **({"redirect": sentence(rng, 1, 2)} if rng.random() < 0.1 else {})}


def unparsed(rng, count):
    """Lines of access logs as the track's ingest pipeline and runtime fields read them."""
    for _ in range(count):
        path = rng.choice(["/", "/images/logo.gif", "/english/index.html", "/french/news.htm"])
        made = moment(rng, "1998-05-24", 30)
        yield {"message": f'{rng.randrange(1, 256)}.{rng.randrange(256)}.{rng.randrange(4)}.0 - - [{made}-05:00] "GET {path} HTTP/1.0" '
                          f"{rng.choice([200, 200, 200, 304, 404])} {rng.randrange(40_000)}"}


DAYS = range(18, 25)
# Of a track: what makes a file, by the file's corpus and name.
CORPORA = {
    "noaa": {("noaa", "documents.json"): noaa},
    "nested": {("nested", "documents.json"): nested},
    "pmc": {("pmc", "documents.json"): pmc},
    "so": {("so", "posts.json"): so},
    "metricbeat": {("metricbeat", "documents.json"): metricbeat},
    "geopointshape": {("geopointshape", "documents.json"): points},
    "geoshape": {(f"{prefix}{kind.__name__}", f"{prefix}{kind.__name__}.json"): kind for kind in (linestrings, multilinestrings, polygons) for prefix in ("", "default-")},
    "percolator": {("percolator", "queries-2.json"): percolator},
    "big5": {("big5", f"logs-{part}.ndjson"): big5 for part in range(1, 9)},
    "wikipedia": {("wikipedia", "pages.json"): wikipedia},
    "http_logs_unparsed": {("http_logs_unparsed", f"documents-{day}1998.unparsed.json"): unparsed for day in DAYS},
}


def lines(track, count):
    """Lines of every file of a track, `count` documents each, by corpus and name."""
    return {file: [json.dumps(made).encode() for made in make(random.Random(f"{track}/{file[1]}"), count)] for file, make in CORPORA[track].items()}


def write(track, count, folder):
    """Files under the names that Rally's test mode looks for."""
    for (corpus, name), documents in lines(track, count).items():
        stem, extension = name.rsplit(".", 1)
        target = pathlib.Path(folder) / corpus / f"{stem}-1k.{extension}"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(b"\n".join(documents) + b"\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("track", nargs="+", choices=sorted(CORPORA))
    parser.add_argument("--count", type=int, default=1000, help="documents of every file")
    parser.add_argument("--out", required=True, type=pathlib.Path)
    options = parser.parse_args()
    for track in options.track:
        write(track, options.count, options.out)


if __name__ == "__main__":
    main()
