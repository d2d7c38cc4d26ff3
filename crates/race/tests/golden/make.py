"""Makes the fixtures of golden.rs with Rally's own code.

    python -m venv v && v/bin/pip install esrally==2.13.0 && v/bin/python make.py

Writes, beside this file: races in Rally's layout (<name>.race.json) and what Rally prints of them. Everything is drawn from a fixed seed;
running it again changes nothing.
"""

import contextlib
import io
import json
import os
import random
import types

from esrally import metrics, reporter, track
from esrally.track import loader
from esrally.utils import console

HERE = os.path.dirname(os.path.abspath(__file__))


def path(name):
    return os.path.join(HERE, name)


class Config:
    def __init__(self, **options):
        self.options = options

    def opts(self, section, key, default_value=None, mandatory=True):
        return self.options.get(key, default_value)

    def exists(self, section, key):
        return key in self.options


def times(rng, samples):
    if samples == 0:
        return {}
    base = 10 ** rng.uniform(-2, 5)
    values = sorted(base * rng.uniform(0.5, 20) for _ in range(6))
    stats = {}
    for percentile, value in zip(metrics.percentiles_for_sample_size(samples), values):
        stats[metrics.encode_float_key(percentile)] = value
    stats["mean"] = sum(values) / 6
    stats["unit"] = "ms"
    return stats


def shards(rng):
    values = [rng.randrange(10**6) for _ in range(3)]
    return {"min": min(values), "median": sorted(values)[1] + 0.5, "max": max(values), "unit": "ms"}


def results(seed, full):
    rng = random.Random(seed)
    stats = metrics.GlobalStats()
    units = ["docs/s", "ops/s", "pages/s", "ops/s", "ops/s", "ops/s", "ops/s"]
    samples = [25000, 5000, 500, 50, 5, 1, 0]
    for number, (unit, count) in enumerate(zip(units, samples)):
        rates = sorted(10 ** rng.uniform(-2, 7) for _ in range(4))
        throughput = {"min": rates[0], "mean": rates[1], "median": rates[2], "max": rates[3], "unit": unit}
        if count == 0:
            throughput = {"min": None, "mean": None, "median": None, "max": None, "unit": None}
        stats.add_op_metrics(
            f"task-{number}", f"operation-{number}", throughput, times(rng, count), times(rng, count), times(rng, count),
            [0.0, 0.00123, 0.0, 1.0, 0.5, 0.0, 0.0][number], rng.randrange(10**7), {"meta": number} if number == 1 else None)
    stats.total_time = rng.randrange(10**7)
    stats.indexing_throttle_time = 0
    stats.merge_time = rng.randrange(10**6)
    stats.merge_count = rng.randrange(100)
    stats.refresh_time = rng.randrange(10**4)
    stats.refresh_count = rng.randrange(1000)
    stats.flush_time = 3
    stats.flush_count = 0
    stats.merge_throttle_time = 0
    for name in ["total_time", "indexing_throttle_time", "merge_time", "merge_throttle_time", "refresh_time", "flush_time"]:
        setattr(stats, name + "_per_shard", shards(rng))
    stats.young_gc_time = rng.randrange(10**5)
    stats.young_gc_count = rng.randrange(100)
    stats.old_gc_time = 0
    stats.old_gc_count = 0
    stats.store_size = rng.randrange(10**12)
    stats.dataset_size = rng.randrange(10**12)
    stats.translog_size = 55
    stats.segment_count = rng.randrange(200)
    stats.ingest_pipeline_cluster_count = 100000
    stats.ingest_pipeline_cluster_time = rng.randrange(10**5)
    stats.ingest_pipeline_cluster_failed = 0
    measured_nothing(stats)
    if full:
        stats.zgc_cycles_gc_time = 12.5
        stats.zgc_cycles_gc_count = 3
        stats.zgc_pauses_gc_time = 0
        stats.zgc_pauses_gc_count = 9
        for name in ["segments", "doc_values", "terms", "norms", "points", "stored_fields"]:
            setattr(stats, "memory_" + name, rng.randrange(10**9) + rng.choice([0, 0.5]))
        stats.ml_processing_time = [
            {"job": job, "min": rng.random(), "mean": rng.random() * 10, "median": rng.random() * 100, "max": rng.randrange(10**6),
             "unit": "ms"} for job in ["job-a", "job-b"]]
        for name in ["processing_times", "index_times", "search_times", "throughput"]:
            setattr(stats, "total_transform_" + name,
                    [{"id": "transform-1", "mean": rng.random() * 10**4, "unit": "docs/s" if name == "throughput" else "ms"}])
        for name in reporter.disk_usage_fields(stats):
            usage = [{"index": index, "field": field, "value": rng.choice([0, rng.randrange(10 ** rng.randrange(1, 13))]), "unit": "byte"}
                     for index in ["logs", "metrics"] for field in ["_id", "message", "size"] if name == "total" or rng.random() < 0.7]
            setattr(stats, "disk_usage_" + name.replace(" ", "_"), usage)
    return stats


def measured_nothing(stats):
    for name in ["processing_times", "index_times", "search_times", "throughput"]:
        setattr(stats, "total_transform_" + name, [])
    for name in reporter.disk_usage_fields(stats):
        setattr(stats, "disk_usage_" + name.replace(" ", "_"), [])


def race(race_id, day, stats, **more):
    as_written = {
        "rally-version": "2.13.0", "rally-revision": None, "environment": "local", "race-id": race_id,
        "race-timestamp": f"202611{day:02}T070830Z", "pipeline": "benchmark-only", "user-tags": {}, "track": "log_ingest",
        "car": ["external"],
        "cluster": {"revision": "abc", "distribution-version": "8.14.3", "distribution-flavor": "default", "team-revision": None},
        "results": json.loads(json.dumps(stats.as_dict())),
    }
    as_written.update(more)
    with open(path(race_id + ".race.json"), "w", encoding="utf-8") as out:
        # as FileRaceStore.store_race does
        out.write(json.dumps(metrics.Race.from_dict(as_written).as_dict(), indent=True, ensure_ascii=False))
    return metrics.Race.from_dict(as_written)


def printed(call):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        call()
    return out.getvalue()


def save(name, text):
    with open(path(name), "w", encoding="utf-8", newline="") as out:
        out.write(text)


def table_of(text):
    """What is printed below Rally's banner."""
    return text.split(reporter.FINAL_SCORE, 1)[1].split("\n", 1)[1]


def main():
    os.environ["TERM"] = "xterm"
    full_a, full_b, plain, empty = results(1, True), results(2, True), results(3, False), metrics.GlobalStats()
    measured_nothing(empty)
    races = {
        "baseline": race("baseline", 21, full_a, challenge="default", **{"user-tags": {"name": "first", "b": "2"}}),
        "contender": race("contender", 22, full_b, challenge="default", **{"track-params": {"number_of_shards": 5}}),
        "plain": race("plain", 20, plain),
        "empty": race("empty", 19, empty, challenge="ramp-up"),
    }
    for name, one in races.items():
        if name in ("contender", "empty"):
            continue
        for report_format, extension in [("markdown", "md"), ("csv", "csv")]:
            for processing, align, show, suffix in [
                (False, "decimal", "available", ""), (True, "right", "all-percentiles", "-all")]:
                console.PLAIN, console.format = True, console.PlainFormat
                config = Config(**{"output.path": "", "format": report_format, "numbers.align": align, "values": show,
                                   "output.processingtime": processing, "rally.cwd": HERE})
                text = printed(lambda: reporter.SummaryReporter(metrics.GlobalStats(one.results), config).report())
                save(f"{name}{suffix}.summary.{extension}", table_of(text))
    for first, second in [("baseline", "contender"), ("plain", "baseline")]:
        for report_format, extension in [("markdown", "md"), ("csv", "csv")]:
            for color, suffix in [(False, ""), (True, "-color")]:
                console.PLAIN, console.format = not color, console.RichFormat if color else console.PlainFormat
                config = Config(**{"output.path": "", "format": report_format, "output.processingtime": color, "rally.cwd": HERE})
                text = printed(lambda: reporter.ComparisonReporter(config).report(races[first], races[second]))
                save(f"{first}-{second}{suffix}.compare.{extension}", table_of(text.replace("\x1b[1m" + reporter.FINAL_SCORE + "\x1b[0m", reporter.FINAL_SCORE)))
                if not color and report_format == "markdown":
                    save(f"{first}-{second}.head.txt", text.split(reporter.FINAL_SCORE, 1)[0])
    list_races(races)
    list_annotations()
    list_tracks()
    render_track()


def list_races(races):
    console.PLAIN, console.format = True, console.PlainFormat

    class Store:
        def list(self):
            return sorted(races.values(), key=lambda r: r.race_timestamp, reverse=True)

    metrics.race_store = lambda cfg: Store()
    save("races.txt", printed(lambda: metrics.list_races(Config(**{"list.races.format": "text"}))))
    save("races.json", printed(lambda: metrics.list_races(Config(**{"list.races.format": "json"}))))
    races.clear()
    save("no-races.txt", printed(lambda: metrics.list_races(Config(**{"list.races.format": "text"}))))


def list_annotations():
    notes = [
        ("a1", "20261122T000000Z", "geonames", "gc", None, "JDK 25"),
        ("b2", "20261122T000000Z", "geonames", "indexing", "nightly-indexing", "another disk"),
        ("c3", "20261122T000000Z", None, None, None, "new kernel"),
        ("d4", "20261101T000000Z", "pmc", None, None, "1.5"),
    ]
    hits = [{"_id": note[0], "_source": dict(zip(
        ["race-timestamp", "track", "chart", "chart-name", "message"], note[1:]), environment="local")} for note in notes]
    save("annotations.json", json.dumps(hits, indent=1))

    class Client:
        def __init__(self, cfg):
            self.hits = cfg.opts("test", "hits")

        def create(self):
            return self

        def search(self, index, body):
            return {"hits": {"total": len(self.hits), "hits": self.hits}}

    for name, some in [("annotations", hits), ("no-annotations", [])]:
        config = Config(**{"env.name": "local", "list.max_results": 10, "hits": some, "list.from_date": "20260101", "list.to_date": "20270101"})
        store = metrics.EsRaceStore(config, client_factory_class=Client, index_template_provider_class=lambda cfg: None)
        save(name + ".txt", printed(store.list_annotations))


def render_track():
    track_json = ('{"version": 2, "description": "caf\u00e9 \U0001f600 \\u0001", "indices": [], "meta": {},\n "numbers": [1, 1.0, 5e-5, 1e22, 0.1, -0.0, '
                  '9223372036854775807, true, null], "nested": {"b": [[]], "a": {"\u00e9": "\\"\\\\/"}}}')
    save("rendered.source.json", track_json)
    path = types.SimpleNamespace(track_name="x", track_file=lambda name: "track.json")
    loader.track_repo = lambda cfg: path
    loader.render_template_from_file = lambda *args, **options: track_json
    save("rendered.txt", printed(lambda: loader.render_track(Config())))


def list_tracks():
    def challenge(name, default, schedule, auto_generated=False):
        return track.Challenge(name, description=f"About {name}", default=default, auto_generated=auto_generated, schedule=schedule)

    def task(name, clients):
        return track.Task(name, track.Operation(name, "search", params={}), clients=clients)

    schedule = [task("one", 1), track.Parallel([task("two", 2), task("three", 1)]), task("four", 8),
                track.Parallel([task("five", 1)], clients=1)]
    documents = [track.Documents("bulk", document_file="f", number_of_documents=11396503, compressed_size_in_bytes=265208777,
                                 uncompressed_size_in_bytes=3547613828, target_index="i")]
    tracks = [
        track.Track("zeta", description="Has two challenges", corpora=[track.DocumentCorpus("c", documents=documents)],
                    challenges=[challenge("b", False, schedule), challenge("a", True, schedule[:1])]),
        track.Track("alpha", description="Has a schedule", challenges=[challenge("default", True, schedule, True)]),
    ]
    loader.tracks = lambda cfg: tracks
    save("tracks.txt", printed(lambda: loader.list_tracks(Config())))
    for one in tracks:
        loader.load_track = lambda cfg: one
        if one.name == "alpha":
            one.challenges[0].selected = True
        save(f"{one.name}.info.txt", printed(lambda: loader.track_info(Config())))


main()
