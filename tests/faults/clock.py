"""The wall clock jumps: refresh, flush and the sync of `async` logs go on, for they do not run on it."""
import random
import shutil
import subprocess
import sys
import time

import injector
from crew import Place
from server import Broken, Client, Server, StartRefused, reason

ROUNDS = 6
HOUR = 3600
JUMPS = (-HOUR, HOUR, -24 * HOUR, 30 * 24 * HOUR, -365 * 24 * HOUR, 1)
# Each of these is due every second.
WAIT_SECONDS_MAX = 8

# Loaded before libc: adds what the file says, in seconds, to the wall clock and to no other.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long long *offset;

__attribute__((constructor)) static void begin(void) {
    int file = open(getenv("FAULTS_CLOCK"), O_RDONLY);
    offset = mmap(0, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
    close(file);
}

int clock_gettime(clockid_t id, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, now);
    if (result == 0 && offset && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) now->tv_sec += *offset;
    return result;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec precise;
    clock_gettime(CLOCK_REALTIME, &precise);
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *now) {
    struct timespec precise;
    clock_gettime(CLOCK_REALTIME, &precise);
    if (now) *now = precise.tv_sec;
    return precise.tv_sec;
}
"""


def run(options, findings):
    if not shutil.which("cc"):
        return "no C compiler to build the clock with"
    place = Place(options, "clock")
    source, library, offset = (place.root / name for name in ("clock.c", "clock.so", "offset"))
    source.write_text(SHIM)
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True)
    offset.write_bytes(bytes(8))
    server = control = None
    try:
        control_path = place.root / "control"
        launcher = [sys.executable, injector.__file__, str(control_path), "null"]
        env = {"LD_PRELOAD": str(library), "FAULTS_CLOCK": str(offset)}
        server = Server(options.binary, place.fresh(), env=env, launcher=launcher)
        control = injector.Control(control_path)
        rng = random.Random(options.seed)
        prepare(server, findings)
        for round in range(options.rounds):
            jump = JUMPS[round % len(JUMPS)] + rng.randrange(60)
            findings.context = f"round {round} seed {options.seed} wall clock {jump:+} s"
            set_offset(offset, jump)
            work_goes_on(server, findings, control, round)
            findings.count("rounds")
            if options.is_over() or (len(findings) and not options.keep_going):
                break
            # Back to the right time is a jump as well.
            set_offset(offset, 0)
    except (Broken, StartRefused) as error:
        findings.add("dead", f"{error}")
    finally:
        if control:
            control.close()
        if server:
            server.kill()
        place.close()
    return None


def set_offset(file, seconds):
    with open(file, "r+b") as offset:
        offset.write(seconds.to_bytes(8, sys.byteorder, signed=True))


def prepare(server, findings):
    client = Client(server, findings)
    common = {"number_of_replicas": 0, "number_of_shards": 1}
    for index, more in (("refreshed", {"refresh_interval": "1s"}), ("flushed", {"translog.flush_threshold_size": "64kb"}),
                        ("synced", {"translog.durability": "async", "translog.sync_interval": "1s", "refresh_interval": "-1"})):
        status, answer = client.call("PUT", f"/{index}", {"settings": {**common, **more}})
        if status != 200:
            raise RuntimeError(f"PUT {index} answered {status}: {reason(answer)}")
        client.call("PUT", f"/{index}/_doc/first?refresh=true", {"value": 0})
    client.close()


def work_goes_on(server, findings, control, round):
    """Time passes on both clocks before the next change, as for intervals that were begun before the jump."""
    client = Client(server, findings)
    time.sleep(1.2)
    client.call("PUT", f"/refreshed/_doc/{round}", {"value": round})
    goes_on(findings, "refresh", lambda: found(client, round))
    uuid = client.call("GET", "/synced/_settings")[1]["synced"]["settings"]["index"]["uuid"]
    control.arm({"calls": ["fsync", "fdatasync"], "errno": 0, "nth": 1 << 40, "path": uuid})
    client.call("PUT", f"/synced/_doc/{round}", {"value": round})
    goes_on(findings, "sync of the log", lambda: control.status()["seen"] > 0)
    control.disarm()
    flushes = flush_count(client)
    for number in range(20):
        client.call("PUT", f"/flushed/_doc/{number}", {"text": "x" * 8192})
    goes_on(findings, "flush", lambda: flush_count(client) > flushes)
    client.close()


def goes_on(findings, what, is_done):
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while not is_done():
        if time.monotonic() > deadline:
            findings.add("stuck", f"no {what} within {WAIT_SECONDS_MAX} s")
            return
        time.sleep(0.05)
    findings.count(f"times {what}")


def found(client, round):
    _, answer = client.call("POST", "/refreshed/_search", {"query": {"ids": {"values": [str(round)]}}})
    return [hit["_source"]["value"] for hit in answer["hits"]["hits"]] == [round]


def flush_count(client):
    _, answer = client.call("GET", "/flushed/_stats/flush")
    return answer["_all"]["primaries"]["flush"]["total"]
