#!/usr/bin/env bash
# How much load does one core generate? Races a server that does nothing (examples/stub_server.rs).
#
#   bench/load_generator.sh                     limber race alone
#   ESRALLY=/path/to/esrally bench/load_generator.sh   the same tracks with esrally 2.13 as well
#   SAMPLES=10000000 bench/load_generator.sh           and a race of so many samples, with the generator's memory on its way
#
# The generator is pinned to the first core, the server to the second. Figures go to standard output; what they were on which
# machine is in docs/performance.md, "Load generator".
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${SECONDS_MEASURED:-8}
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT

cargo build --profile dist --quiet -p limber-race --example stub_server --example race
target=${CARGO_TARGET_DIR:-target}/dist/examples

taskset -c 1 "$target/stub_server" 127.0.0.1:0 >"$work/address" &
server=$!
until [ -s "$work/address" ]; do sleep 0.1; done
host=$(cat "$work/address")

# 1,000,000 log documents, about 190 bytes each, with and without action lines.
mkdir "$work/track"
awk 'BEGIN { for (i = 0; i < 1000000; i++)
  printf "{\"@timestamp\":\"2025-10-16T10:%02d:%02dZ\",\"clientip\":\"192.168.%d.%d\",\"response\":200,\"request\":\"GET /api/users/%d HTTP/1.1\",\"machine\":{\"os\":\"linux\",\"ram\":8589934592},\"referer\":\"https://example.com/login\"}\n",
    i / 60 % 60, i % 60, i / 256 % 256, i % 256, i }' >"$work/track/plain.json"
awk '{ print "{\"index\": {\"_index\": \"logs\"}}"; print }' "$work/track/plain.json" >"$work/track/with_actions.json"
echo '{"mappings":{}}' >"$work/track/index.json"

task() { # name operation clients
  printf '{"name":"%s"%s,"schedule":[{"name":"%s","operation":%s,"clients":%s,"warmup-time-period":2,"time-period":%s}]}' \
    "$1" "${4:-}" "$1" "$2" "$3" "$seconds"
}
search='{"name":"search","operation-type":"search","index":"logs","body":{"query":{"match":{"request":"users"}}}}'
bulk() { printf '{"name":"bulk-%s","operation-type":"bulk","bulk-size":5000,"looped":true,"corpora":"%s"}' "$1" "$1"; }
corpus() { printf '{"name":"%s","documents":[{"source-file":"%s.json","document-count":1000000,%s}]}' "$1" "$1" "$2"; }
cat >"$work/track/track.json" <<EOF
{"version":2,"description":"load generator","indices":[{"name":"logs","body":"index.json"}],
 "corpora":[$(corpus plain '"target-index":"logs"'),$(corpus with_actions '"includes-action-and-meta-data":true')],
 "challenges":[$(task search-1 "$search" 1 ',"default":true'),$(task search-8 "$search" 8),$(task search-64 "$search" 64),
   $(task scheduled "$search" '8,"target-throughput":5000'),
   {"name":"samples","schedule":[{"name":"samples","operation":$search,"clients":64,"iterations":$((${SAMPLES:-64} / 64))}]},
   $(task bulk-plain "$(bulk plain)" 2),$(task bulk-with_actions "$(bulk with_actions)" 2)]}
EOF

bytes=$(stat -c %s "$work/track/plain.json")
echo "documents: 1000000, $((bytes / 1000000)) bytes each on average"
export LIMBER_HOME="$work"
for challenge in search-1 search-8 search-64 scheduled bulk-plain bulk-with_actions; do
  echo "== $challenge: limber race"
  taskset -c 0 "$target/race" --track-path "$work/track" --target-hosts "$host" --challenge "$challenge" --report-format csv --quiet |
    grep -E 'Median Throughput|50th percentile service|99th percentile service|error rate'
  [ "$challenge" != scheduled ] || python3 - "$work"/.limber/benchmarks/races/*/measurements.json <<'PYTHON'
import json, os, sys

newest = max(sys.argv[1:], key=os.path.getmtime)
task, = json.load(open(newest))["tasks"]
for name in ("send_delay", "own_delay"):
    print(name, {point: f"{ms:.3f} ms" for point, ms in task[name].items() if isinstance(ms, (int, float))})
PYTHON
  if [ -n "${ESRALLY:-}" ]; then
    echo "== $challenge: esrally"
    RALLY_HOME="$work" taskset -c 0 "$ESRALLY" race --pipeline=benchmark-only --offline --quiet --track-path "$work/track" \
      --target-hosts "$host" --challenge "$challenge" --report-format csv --report-file "$work/esrally.csv" \
      >"$work/esrally.log" 2>&1 || tail -5 "$work/esrally.log"
    grep -E 'Median Throughput|50th percentile service|99th percentile service|error rate' "$work/esrally.csv" || true
    rm -f "$work/esrally.csv"
  fi
done

if [ -n "${SAMPLES:-}" ]; then
  echo "== samples: $SAMPLES"
  taskset -c 0 "$target/race" --track-path "$work/track" --target-hosts "$host" --challenge samples --report-format csv --quiet >"$work/samples.csv" &
  race=$!
  while kill -0 "$race" 2>/dev/null; do
    sleep 10
    awk -v at="$SECONDS" '/VmRSS/ { printf "after %d s: %.1f MB resident\n", at, $2 / 1024 }' "/proc/$race/status" 2>/dev/null || true
  done
  wait "$race"
  grep -E 'Median Throughput|error rate' "$work/samples.csv"
fi
