"""A small disk that fills up under several clients, and has room again: what was acknowledged is there, and writes resume by themselves."""
import os
import random
import subprocess
import time

from actors import Churn, Documents, Rolls, Streams, Swaps
from changes import Durability, Rules
from crew import Crew, Place
from server import Broken, Client, Server, StartRefused, check_offline, reason

ROUNDS = 8
DISK_BYTES = 64 << 20
# Disk watermarks are looked at once in this time at least; a write that failed for want of room may be refused until then.
RECOVER_SECONDS_MAX = 45


def run(options, findings):
    place = Place(options, "full")
    mount = place.root / "mount"
    mount.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(mount)],
                             capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        place.close()
        return f"a tmpfs cannot be mounted: {mounted.stderr.strip()}"
    try:
        # With watermarks writes are stopped before the disk is full, without them by it.
        # What the server logs goes to the full disk as well in the last of them.
        for watermarks, logs in ((False, place.root), (True, place.root), (False, mount)):
            if not len(findings) or options.keep_going:
                one_disk(options, findings, place, mount, watermarks, logs)
    finally:
        subprocess.run(["umount", str(mount)], check=True)
        place.close()
    return None


def one_disk(options, findings, place, mount, watermarks, logs):
    data = mount / f"data-{watermarks}-{logs.name}"
    actors = [*Documents.several(findings, 2), Swaps(findings), Rolls(findings), Streams(findings),
              Churn(findings), Rules(findings), Durability(findings)]
    crew = Crew(findings, options.seed, actors=actors)
    filler = mount / "filler"
    server = None
    try:
        findings.context = "preparation"
        server = Server(options.binary, data, logs=logs, watermarks=watermarks)
        crew.prepare(server)
        for round in range(options.rounds):
            findings.context = f"round {round} seed {options.seed} watermarks {'on' if watermarks else 'off'}, log on {logs.name}"
            before = len(findings)
            rng = random.Random(f"{options.seed}/{round}")
            server = one_round(options, findings, logs, crew, server, filler, rng, watermarks)
            findings.count("rounds")
            if len(findings) > before or options.is_over():
                break
    except (Broken, StartRefused) as error:
        findings.add("dead", f"{error}")
    finally:
        if server:
            server.kill()
        crew.stop()
        filler.unlink(missing_ok=True)
        place.remove(data)


def one_round(options, findings, logs, crew, server, filler, rng, watermarks):
    crew.start(server, findings.context, strict=False)
    time.sleep(0.2)
    fill(filler, rng.choice((0, 4096, 65_536, 1 << 20)))
    time.sleep(rng.choice((0.3, 1.0, 2.5)))
    reads_go_on(server, findings)
    is_killed = rng.random() < 0.3
    if is_killed:
        # A start on a full disk may be refused, but it must not harm.
        server.kill()
        crew.stop()
        findings.count("kills")
        server = start_on_a_full_disk(options, findings, logs, server.data, watermarks)
    filler.unlink()
    if is_killed:
        server.kill()
        server = Server(options.binary, server.data, logs=logs, watermarks=watermarks)
        crew.check(server)
        crew.start(server, findings.context, strict=False)
    crew.recover(server, RECOVER_SECONDS_MAX)
    crew.stop()
    if not server.is_alive():
        findings.add("dead", f"the server ended: {server.log_tail()}")
        return server
    crew.check(server, settle=False)
    if rng.random() < 0.5:
        server.kill()
        findings.count("kills")
        check_offline(options.binary, server.data, findings)
        server = Server(options.binary, server.data, logs=logs, watermarks=watermarks)
        crew.check(server)
    return server


def start_on_a_full_disk(options, findings, logs, data, watermarks):
    server = Server(options.binary, data, wait=False, logs=logs, watermarks=watermarks)
    try:
        server.wait_until_it_listens()
        findings.count("starts on a full disk")
    except StartRefused:
        findings.count("starts refused on a full disk")
    return server


def fill(filler, left_bytes):
    """Writes a file until no more than `left_bytes` are free."""
    with open(filler, "wb") as file:
        while True:
            room = os.statvfs(filler)
            wanted = room.f_bavail * room.f_frsize - left_bytes
            if wanted <= 0:
                return
            try:
                return os.posix_fallocate(file.fileno(), 0, wanted)
            except OSError:
                continue  # others took some of it meanwhile


def reads_go_on(server, findings):
    client = Client(server, findings, strict=False)
    try:
        for path in ("/left,right/_search", "/_cluster/health", "/_alias/swap"):
            status, answer = client.call("GET", path)
            if status != 200 or answer.get("_shards", {}).get("failed"):
                findings.add("refused", f"GET {path} on a full disk {status}: {reason(answer)}")
    except Broken as error:
        findings.add("dead", f"on a full disk: {error}; ended with {server.process.poll()}; log: {server.log_tail(1000)}")
    finally:
        client.close()
