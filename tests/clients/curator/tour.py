"""Curator over indices of a week: aliases, rollover, replicas, snapshots, and the deletion of old indices."""
import os
import pathlib
import subprocess
import sys
import tempfile

from checks import check, equal
from elasticsearch8 import Elasticsearch

client = Elasticsearch(sys.argv[1])
work = pathlib.Path(tempfile.mkdtemp())
(work / "curator.yml").write_text(f"elasticsearch:\n  client:\n    hosts: {sys.argv[1]}\nlogging:\n  loglevel: WARNING\n")
BY_NAME = "- {filtertype: pattern, kind: prefix, value: logs-}"
OLD = "- {filtertype: age, source: name, direction: older, timestring: '%Y.%m.%d', unit: days, unit_count: 30}"


def curator(action, options, filters=(BY_NAME,)):
    lines = [f"actions:\n  1:\n    action: {action}\n    options: {{{options}}}", *(["    filters:"] if filters else []), *(f"    {one}" for one in filters)]
    (work / "actions.yml").write_text("\n".join(lines) + "\n")
    program = pathlib.Path(sys.executable).parent / "curator"
    done = subprocess.run([program, "--config", work / "curator.yml", work / "actions.yml"], capture_output=True, text=True)
    equal((done.returncode, done.stdout + done.stderr if done.returncode else ""), (0, ""))


@check
def snapshots_and_deletion():
    for day in ("2020.01.01", "2020.01.02", "2099.01.01"):
        client.index(index=f"logs-{day}", document={"@timestamp": day.replace(".", "-")}, refresh=True)
    client.snapshot.create_repository(name="backup", repository={"type": "fs", "settings": {"location": os.environ["REPOSITORY"]}})
    curator("snapshot", "repository: backup, name: first, wait_for_completion: true, wait_interval: 1, max_wait: 30")
    curator("delete_indices", "ignore_empty_list: true", (BY_NAME, OLD))
    equal(sorted(client.indices.get(index="logs-*")), ["logs-2099.01.01"])
    client.snapshot.restore(repository="backup", snapshot="first", indices="logs-2020.01.01", wait_for_completion=True)
    equal(client.count(index="logs-2020.01.01")["count"], 1)
    curator("delete_snapshots", "repository: backup", ["- {filtertype: pattern, kind: prefix, value: first}"])
    equal(client.snapshot.get(repository="backup", snapshot="_all")["snapshots"], [])


@check
def settings_of_indices():
    curator("replicas", "count: 0, wait_for_completion: true, wait_interval: 1, max_wait: 30")
    for day in ("2020.01.01", "2099.01.01"):
        client.index(index=f"logs-{day}", document={"@timestamp": day.replace(".", "-")}, refresh=True)
    curator("forcemerge", "max_num_segments: 1")
    curator("index_settings", "index_settings: {index: {refresh_interval: 5s}}")
    equal(client.indices.get_settings(index="logs-2099.01.01")["logs-2099.01.01"]["settings"]["index"]["refresh_interval"], "5s")
    curator("close", "skip_flush: false", (BY_NAME, OLD))
    equal([row["status"] for row in client.cat.indices(index="logs-*", s="index", format="json", expand_wildcards="all")], ["close", "open"])
    curator("open", "ignore_empty_list: false", (BY_NAME, OLD))


@check
def rollover_and_reindex():
    client.indices.create(index="app-000001", aliases={"app": {"is_write_index": True}})
    client.index(index="app", document={"a": 1}, refresh=True)
    curator("rollover", "name: app, conditions: {max_docs: 1}", ())
    equal(sorted(client.indices.get_alias(name="app")), ["app-000001", "app-000002"])
    curator("reindex", "wait_interval: 1, max_wait: 30, request_body: {source: {index: REINDEX_SELECTION}, dest: {index: all-logs}}")
    client.indices.refresh(index="all-logs")
    equal(client.count(index="all-logs")["count"], 4)
