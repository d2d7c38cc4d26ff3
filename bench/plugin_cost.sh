#!/usr/bin/env bash
# What does a request cost whose parameters come from a track's Python? Races a server that does nothing (examples/stub_server.rs).
#
#   bench/plugin_cost.sh             the same searches: built in, from a plugin's parameter source, and sent by a plugin's runner
#   PROFILE=dev bench/plugin_cost.sh  on a debug build, for the ratios alone
#
# One client; the cost of a request is the difference of the times between two requests (1 / throughput). The generator and Python
# share the first core, the server has the second. Where the figures stand: docs/performance.md, "Python plugins".
set -euo pipefail
cd "$(dirname "$0")/.."

profile=${PROFILE:-dist}
count=${REQUESTS:-20000}
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT

cargo build --profile "$profile" --quiet -p limber-race --example stub_server --example race
folder=$profile
[ "$profile" != dev ] || folder=debug
target=${CARGO_TARGET_DIR:-target}/$folder/examples

taskset -c 1 "$target/stub_server" 127.0.0.1:0 >"$work/address" &
server=$!
until [ -s "$work/address" ]; do sleep 0.1; done
host=$(cat "$work/address")

mkdir "$work/track"
cat >"$work/track/track.py" <<'PY'
import random


class Source:
    infinite = True

    def __init__(self, track, params, **kwargs):
        pass

    def partition(self, index, total):
        return self

    def params(self):
        return {"index": "logs", "body": {"query": {"match": {"request": str(random.randint(1, 1000))}}}}


async def search(es, params):
    await es.perform_request(method="GET", path="/logs/_search", body=params["body"])
    return 1, "ops"


def register(registry):
    registry.register_param_source("random", Source)
    registry.register_runner("search-in-python", search, async_runner=True)
PY
task() { printf '{"name":"%s","operation":%s,"warmup-iterations":%s,"iterations":%s}' "$1" "$2" "$((count / 10))" "$count"; }
body='"index":"logs","body":{"query":{"match":{"request":"500"}}}'
cat >"$work/track/track.json" <<EOT
{"version":2,"description":"cost of plugins","indices":[{"name":"logs"}],"schedule":[
  $(task built-in "{\"operation-type\":\"search\",$body}"),
  $(task plugin-source '{"operation-type":"search","param-source":"random"}'),
  $(task plugin-runner "{\"operation-type\":\"search-in-python\",$body}")]}
EOT
export LIMBER_HOME="$work"
taskset -c 0 "$target/race" --track-path "$work/track" --target-hosts "$host" --report-format csv --quiet |
  grep -E 'Mean Throughput|50th percentile service|error rate'
