"""One file of a stopped server's data folder is damaged: all that was acknowledged is there, or the damage is named; never green and less."""
import copy
import random
import re
import shutil
import subprocess
import time

from actors import Documents, Rolls, Streams, Swaps
from changes import Durability, Rules
from crew import Crew, Place
from server import Broken, Findings, Server, StartRefused

ROUNDS = 80
WAYS = ("flip", "flip", "truncate", "remove", "zero")
# Kinds of damage that a restart may answer with; the rest is silent.
NAMED = ("red", "refused")


def run(options, findings):
    place = Place(options, "rot")
    try:
        data = place.fresh()
        crew = prepare(options, findings, data)
        rng = random.Random(options.seed)
        for round in range(options.rounds):
            if options.is_over() or (len(findings) and not options.keep_going):
                break
            findings.count("rounds")
            one_round(options, findings, place, data, crew, rng, round)
    finally:
        place.close()


def prepare(options, findings, data):
    """Everything in the folder is acknowledged: the clients rest, then the server is killed."""
    actors = [*Documents.several(findings, 2), Swaps(findings), Rolls(findings), Streams(findings), Rules(findings),
              Durability(findings)]
    crew = Crew(findings, options.seed, actors=actors)
    findings.context = "preparation"
    server = Server(options.binary, data)
    try:
        crew.prepare(server)
        crew.start(server, "preparation")
        time.sleep(2)
        crew.stop()
        crew.check(server)
        # The last operations are in logs only.
        crew.actors[-1].switch = lambda client, to_request: True
        crew.start(server, "last")
        time.sleep(0.5)
        crew.stop()
    finally:
        server.kill()
    durability = crew.actors[-1]
    durability.hoped.clear()
    return crew


def one_round(options, findings, place, pristine, crew, rng, round):
    data = place.fresh()
    shutil.copytree(pristine, data)
    file, damage = damage_one(data, rng, options.only)
    kind = kind_of(file)
    findings.context = f"round {round} seed {options.seed} {damage} {file.relative_to(data)}"
    checked = subprocess.run([str(options.binary), "check", str(data)], capture_output=True, text=True, check=False)
    is_named_offline = checked.returncode != 0
    seen = Findings(is_quiet=True)
    outcome = restart(options, data, crew, seen)
    if outcome == "other contents" and is_named_offline:
        outcome = "named by limber check"
    findings.count(f"{kind} {outcome}")
    if outcome in ("silent", "other contents"):
        what, why = next(found for found in seen.found if found[0] not in NAMED)
        findings.add(what, f"{why[:300]}; limber check names it: {is_named_offline}")
    elif outcome == "named" and not is_named_offline:
        findings.add("check", f"limber check says no problems, but: {seen.found[0][1][:300] if seen.found else 'the start is refused'}")
    if outcome in ("silent", "other contents") or (outcome == "named" and not is_named_offline):
        place.keep_copy(data)
    place.remove(data)


def restart(options, data, crew, seen):
    """`whole`: everything is there. `named`: the start is refused, or a shard is red. `silent`: something is missing, and neither.

    `other contents`: all documents are there, some with other bytes; opening does not read every byte.
    """
    try:
        server = Server(options.binary, data)
    except StartRefused as refused:
        return "named" if str(refused) else "silent"
    crew = copy.copy(crew)
    crew.findings = seen
    crew.actors = [with_findings(actor, seen) for actor in crew.actors]
    try:
        crew.check(server, settle=False, seconds=1.5)
    except Broken as error:
        seen.add("dead", f"{error}")
    finally:
        server.kill()
    if not len(seen):
        return "whole"
    if any(seen.of(kind) for kind in NAMED):
        return "named"
    return "other contents" if seen.of("wrong") == len(seen) else "silent"


def with_findings(actor, seen):
    """A copy of the actor that tells `seen` what it finds."""
    twin = copy.copy(actor)
    twin.findings = seen
    if hasattr(twin, "ledger"):
        twin.ledger = copy.copy(actor.ledger)
        twin.ledger.findings = seen
    return twin


def kind_of(file):
    if file.parent.name == "state":
        return "state"
    return re.sub(r"^(_[0-9a-z]+)+|-[0-9]+", "", file.name).lstrip(".")


def damage_one(data, rng, only):
    """Every kind of file is as likely as any other."""
    kinds = {}
    for file in sorted(data.rglob("*")):
        if file.is_file() and file.stat().st_size and only in kind_of(file):
            kinds.setdefault(kind_of(file), []).append(file)
    if not kinds:
        raise SystemExit(f"no kind of file contains {only}: there are state, whole, change, index.json, commit, seg, live, translog.log, translog.ckp")
    file = rng.choice(kinds[rng.choice(sorted(kinds))])
    content = bytearray(file.read_bytes())
    way = rng.choice(WAYS)
    # Most of a log's last block are zeros, which nothing would miss.
    length = len(content.rstrip(b"\0")) or 1
    at = rng.randrange(length)
    if way == "remove":
        file.unlink()
        return file, "remove"
    if way == "flip":
        content[at] ^= 1 << rng.randrange(8)
    elif way == "truncate":
        del content[at:]
    else:
        content[at:at + 512] = bytes(len(content[at:at + 512]))
    file.write_bytes(content)
    return file, f"{way} at {at} of {length}"
