# Sourced by the scripts that run esrally. It uses port 1900 and looks for other races by name, so that everything runs in a network and
# process namespace of its own. Sets `limber` and `esrally`, the programs of LIMBER and ESRALLY.
limber="$(realpath "${LIMBER:-target/release/limber}")"
esrally="$(realpath "$(command -v "${ESRALLY:-esrally}")")" || { echo "esrally is not there; see the head of tests/peers/esrally" >&2; exit 2; }

# serve_isolated DATA MEMORY LOG: a server on 127.0.0.1:9200 of the namespace, whose process is `server`.
serve_isolated() {
    ip link set lo up
    ip addr add 10.99.0.1/32 dev lo
    ip route add default dev lo src 10.99.0.1
    "$limber" serve --data "$1" --http 127.0.0.1:9200 --memory-limit "$2" >"$3" 2>&1 &
    server=$!
    for _ in $(seq 100); do (echo >/dev/tcp/127.0.0.1/9200) 2>/dev/null && break || sleep 0.1; done
}

# rally HOME LOG ARGUMENT...: one race against it, with Rally's own settings only; ends the script where it fails.
rally() {
    local home="$1" log="$2"
    shift 2
    HOME="$home" RALLY_HOME="$home/rally" "$esrally" race --pipeline=benchmark-only --target-hosts=127.0.0.1:9200 --offline \
        --on-error=abort --report-format=csv "$@" >"$log" 2>&1 && grep -q SUCCESS "$log" || { tail -40 "$log" >&2; exit 1; }
}

# run_isolated FUNCTION ARGUMENT...: in the namespaces.
run_isolated() {
    export limber esrally
    export -f "$1" serve_isolated rally
    unshare --map-root-user --net --pid --fork --mount-proc bash -c 'set -euo pipefail; "$@"' isolated "$@"
}
