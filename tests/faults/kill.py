"""`kill -9` at random moments of a full run, sometimes again while the next server recovers."""
import random
import time

from crew import Crew, Place, settings_for
from server import Broken, Server, StartRefused, check_offline

ROUNDS = 50


def run(options, findings):
    place = Place(options, "kill")
    settings = settings_for(options.binary, place, [f"path.repo={place.root / 'repo'}"])
    try:
        done = 0
        while done < options.rounds and not options.is_over() and (options.keep_going or not len(findings)):
            done = until_something_is_found(options, findings, place, settings, done)
    finally:
        place.close()


def until_something_is_found(options, findings, place, settings, done):
    """Rounds over one data folder; the number of the round after the last one."""
    data = place.fresh()
    crew = Crew(findings, options.seed, writers=3, location=place.root / "repo" / data.name)
    server = None
    try:
        for round in range(done, options.rounds + 1):
            findings.context = f"round {round} seed {options.seed}"
            rng = random.Random(f"{options.seed}/{round}")
            before = len(findings)
            try:
                server = Server(options.binary, data, settings)
            except StartRefused as refused:
                findings.add("dead", f"the server does not start: {refused}")
            else:
                if round == done:
                    crew.prepare(server)
                else:
                    crew.check(server)
            if len(findings) > before or round == options.rounds or options.is_over():
                break
            crew.start(server, round)
            time.sleep(rng.choice((0.02, 0.1, 0.3, 0.6)) * (0.5 + rng.random()))
            if not server.is_alive():
                findings.add("dead", f"the server ended by itself: {server.log_tail()}")
            server.kill()
            crew.stop()
            findings.count("rounds")
            findings.count("kills")
            kill_recoveries(options, findings, data, settings, rng)
            if round % 5 == 0:
                check_offline(options.binary, data, findings)
            if len(findings) > before:
                break
    except Broken as error:
        findings.add("dead", f"{error}; log: {server.log_tail()}")
    finally:
        if server:
            server.kill()
        crew.stop()
    if len(findings) > before:
        place.keep_copy(data)
    place.remove(data)
    return round + 1


def kill_recoveries(options, findings, data, settings, rng):
    while rng.random() < 0.25:
        server = Server(options.binary, data, settings, wait=False)
        time.sleep(rng.random() * 0.06)
        if not server.is_alive():
            findings.add("dead", f"the server ended while it recovered: {server.log_tail()}")
        server.kill()
        findings.count("kills")
