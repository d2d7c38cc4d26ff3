"""All actors together: run them side by side against one server, let them rest, hold everything against what they know."""
import pathlib
import random
import shutil
import tempfile
import threading
import time

from changes import everyone
from server import Broken, Client, Server, StartRefused, health_is_not_red, reason


class Crew:
    """The actors, their threads, and the threads that flush, refresh and merge beside them."""

    UPKEEP = ("_flush", "_refresh", "_flush?force=true", "_forcemerge?max_num_segments=1")

    def __init__(self, findings, seed, writers=2, location="/nonexistent", actors=None):
        self.findings, self.seed = findings, seed
        self.actors = actors or everyone(findings, writers, location)
        self.threads, self.rest = [], threading.Event()
        self.clients = []
        # Steps that succeeded since the start of a run, by actor.
        self.successes = {}

    def prepare(self, server):
        client = Client(server, self.findings)
        for actor in self.actors:
            actor.prepare(client)
        client.close()

    def start(self, server, part, strict=True, forbidden=None):
        """Lets everyone work in threads of their own until [`stop`] or, with `strict`, until the server is gone."""
        self.rest.clear()
        self.clients = [Client(server, self.findings, strict, forbidden=forbidden) for _ in range(len(self.actors) + 1)]
        jobs = [(self.act, actor) for actor in self.actors] + [(self.keep_up, None)]
        self.successes = {actor.name: 0 for actor in self.actors}
        for (job, actor), client in zip(jobs, self.clients, strict=True):
            name = actor.name if actor else "upkeep"
            rng = random.Random(f"{self.seed}/{part}/{name}")
            self.threads.append(threading.Thread(target=self.guarded, args=(job, client, rng, actor), daemon=True))
        for thread in self.threads:
            thread.start()

    def guarded(self, job, client, rng, actor):
        try:
            job(client, rng, actor)
        except Exception as error:  # an error of the script itself must not pass for a quiet run
            self.findings.add("check", f"{actor.name if actor else 'upkeep'} ended with {error!r}")
            raise

    def act(self, client, rng, actor):
        while not self.rest.is_set():
            try:
                self.successes[actor.name] += bool(actor.step(client, rng))
            except Broken:
                if client.strict:
                    return
                time.sleep(0.01)
            if not client.strict:
                time.sleep(0.002)

    def keep_up(self, client, rng, _):
        """Flush, refresh and merge. An index may be deleted meanwhile; on one that stays, no shard may fail."""
        names = [index for actor in self.actors for index in actor.indices()]
        lasting = {name for name in names if name not in ("churn", "tightened", "roll", "stream", "restored")}
        while not self.rest.is_set():
            index, call = rng.choice(names), rng.choices(self.UPKEEP, (50, 20, 20, 10))[0]
            try:
                strict, client.strict = client.strict, client.strict and index in lasting
                status, answer = client.call("POST", f"/{index}/{call}")
                client.strict = strict
            except Broken:
                client.strict = strict
                if strict:
                    return
                time.sleep(0.01)
                continue
            if strict and index in lasting and answer.get("_shards", {}).get("failed"):
                self.findings.add("refused", f"POST /{index}/{call} {status}: {reason(answer)} {answer['_shards'].get('failures')}"[:400])
            time.sleep(rng.random() * 0.03)

    def recover(self, server, seconds):
        """Whatever was broken is over: everyone succeeds again, without a restart."""
        self.successes = {name: 0 for name in self.successes}
        deadline = time.monotonic() + seconds
        while server.is_alive() and (names := self.those_without_success()):
            if time.monotonic() > deadline:
                self.findings.add("stuck", f"{seconds} s after the fault {names} do not write again; log: {server.log_tail(500)}")
                return
            time.sleep(0.02)

    def those_without_success(self):
        """Actors none of whose steps succeeded since the start."""
        return [name for name, count in self.successes.items() if not count]

    def stop(self):
        self.rest.set()
        for thread in self.threads:
            thread.join()
        self.threads = []
        for client in self.clients:
            client.close()

    def check(self, server, settle=True, seconds=10):
        """Everything that is known, and that no other index exists. `settle`: the server was just started."""
        client = Client(server, self.findings, strict=False)
        try:
            if not health_is_not_red(client, self.findings, seconds):
                return False
            before = len(self.findings)
            for actor in self.actors:
                try:
                    actor.check(client, settle)
                except (KeyError, IndexError, TypeError, ValueError) as error:
                    self.findings.add("wrong", f"{actor.name}: an answer of another form: {error!r}")
            status, answer = client.call("GET", "/_cat/indices?format=json&h=index&expand_wildcards=all")
            names = [entry["index"] for entry in answer] if status == 200 else []
            for name in names:
                if not any(actor.may_exist(name) for actor in self.actors):
                    self.findings.add("invented", f"index {name} exists, nobody created it")
            return len(self.findings) == before
        except Broken as error:
            kind = "stuck" if server.is_alive() else "dead"
            self.findings.add(kind, f"while everything was read: {error}; log: {server.log_tail(600)}")
            return False
        finally:
            client.close()


class Place:
    """A temporary folder for data folders, snapshots and logs; kept when something was found in it."""

    def __init__(self, options, name):
        self.options = options
        self.root = pathlib.Path(tempfile.mkdtemp(prefix=f"limber-{name}-", dir=options.tmp))
        self.fresh_count = 0
        self.keep = False

    def fresh(self):
        self.fresh_count += 1
        return self.root / f"data{self.fresh_count}"

    def remove(self, data):
        shutil.rmtree(data, ignore_errors=True)
        for suffix in (".log", ".out"):
            data.with_name(data.name + suffix).unlink(missing_ok=True)

    def keep_copy(self, data):
        """Sets a data folder aside in which something was found."""
        if len(list(self.root.glob("kept*"))) < 20:
            copy = self.root / f"kept{self.fresh_count}"
            shutil.copytree(data, copy, dirs_exist_ok=True)
            shutil.copy(data.with_name(data.name + ".log"), copy.with_name(copy.name + ".log"))
            self.keep = True
            print(f"kept {copy}", flush=True)

    def close(self):
        if not self.keep:
            shutil.rmtree(self.root, ignore_errors=True)


def settings_for(binary, place, wanted):
    """Those of the settings that the server knows; an older one refuses to start with one it does not know."""
    taken = []
    for setting in wanted:
        data = place.fresh()
        try:
            Server(binary, data, [setting]).kill()
            taken.append(setting)
        except StartRefused:
            print(f"skipped the setting {setting.split('=')[0]}: the server does not know it", flush=True)
        place.remove(data)
    return taken
