"""Writes fixtures.json: documents that esrally 2.13's own metrics store makes of known samples and results.

Usage: python make.py (with esrally 2.13 installed).
"""

import json
import os

from esrally import config, metrics, track
from esrally.driver import driver
from esrally.time import from_iso8601

RACE = "baseline.race.json"
EPOCH_S = 1795000000.125


class Clock:
    @staticmethod
    def now():
        return EPOCH_S + 2

    @staticmethod
    def stop_watch():
        return StopWatch()


class StopWatch:
    def start(self):
        pass

    def split_time(self):
        return 2.0


def store():
    cfg = config.Config()
    cfg.add(config.Scope.application, "system", "env.name", "local")
    cfg.add(config.Scope.application, "track", "params", {"number_of_replicas": 0})
    cfg.add(config.Scope.application, "race", "user.tags", {"setup": "small"})
    found = metrics.InMemoryMetricsStore(cfg, clock=Clock)
    found.open("race-1", from_iso8601("20261121T070830Z"), "geonames", "append", ["external"], create=True)
    found.add_meta_info(metrics.MetaInfoScope.cluster, None, "distribution_version", "8.14.3")
    found.add_meta_info(metrics.MetaInfoScope.node, "n1", "node_name", "n1")
    return found


def sample_documents():
    found = store()
    operation = track.Operation("match-all", "search", params={}, param_source="search", meta_data={"kind": "o"})
    task = track.Task("find", operation, meta_data={"kind": "t"})
    post = driver.SamplePostprocessor(found, 1, {"m": "track"}, {"m": "challenge"})
    samples = []
    for request_start, sample_type, meta in [
        (10.25, metrics.SampleType.Warmup, {"success": True}),
        (10.5, metrics.SampleType.Normal, {"success": False, "error-type": "api", "error-description": "a \"b\"", "http-status": 429}),
    ]:
        sampler = driver.Sampler(start_timestamp=10.0)
        sampler.add(task, 3, sample_type, meta, EPOCH_S + request_start - 10.0, request_start, 0.5, 0.25, 0.75, None, 1, "ops", 0.5, None)
        samples += sampler.samples
    post(samples)
    return found.docs


def system_documents():
    found = store()
    found.put_value_cluster_level("segments_count", 3)
    found.put_value_cluster_level("store_size_in_bytes", 7, "byte")
    found.put_value_node_level("n1", "geoip_cache_hits", 5)
    found.put_doc({"name": "node-stats", "jvm_mem_heap_used_in_bytes": 9}, level=metrics.MetaInfoScope.node, node_name="n1", meta_data={"cluster": "default"})
    found.put_doc({"name": "merges_total_time", "value": 5, "unit": "ms", "per-shard": [5, 0]}, level=metrics.MetaInfoScope.cluster)
    return found.docs


def result_documents(race):
    found = metrics.Race.from_dict(race)
    found.results = metrics.GlobalStats(race["results"])
    found.meta_data = {"m": "track"}
    return found.to_result_dicts()


if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "..", "golden", RACE), encoding="utf-8") as file:
        race = json.load(file)
    fixtures = {"samples": sample_documents(), "system": system_documents(), "results": result_documents(race)}
    with open(os.path.join(here, "fixtures.json"), "w", encoding="utf-8") as file:
        json.dump(fixtures, file, indent=1)
        file.write("\n")
