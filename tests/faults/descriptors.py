"""A low limit of file descriptors and more idle connections than it allows: shards do not pay for them."""
import resource
import socket
import time

from actors import Documents, Swaps
from crew import Crew, Place
from server import Broken, Server, StartRefused, check_offline

ROUNDS = 5
LIMIT = 128
CONNECTIONS = 300
RECOVER_SECONDS_MAX = 15


def lower_limit():
    resource.setrlimit(resource.RLIMIT_NOFILE, (LIMIT, LIMIT))


def run(options, findings):
    place = Place(options, "descriptors")
    data = place.fresh()
    crew = Crew(findings, options.seed, actors=[Documents(findings), Swaps(findings)])
    server = None
    try:
        findings.context = f"seed {options.seed}"
        server = Server(options.binary, data, before_exec=lower_limit)
        crew.prepare(server)
        for round in range(options.rounds):
            findings.context = f"round {round} seed {options.seed} limit {LIMIT}, {CONNECTIONS} idle connections"
            one_round(findings, crew, server)
            findings.count("rounds")
            if not server.is_alive():
                findings.add("dead", f"the server ended: {server.log_tail()}")
            if len(findings) or options.is_over():
                break
        server.kill()
        check_offline(options.binary, data, findings)
        server = Server(options.binary, data)
        crew.check(server)
    except (Broken, StartRefused) as error:
        findings.add("dead", f"{error}")
    finally:
        if server:
            server.kill()
        crew.stop()
        if len(findings):
            place.keep_copy(data)
        place.close()


def one_round(findings, crew, server):
    """Clients that are connected go on while others take what they can get and say nothing."""
    crew.start(server, findings.context, strict=False, forbidden=b"os error 24")
    time.sleep(0.2)
    idle = []
    host, port = server.address.rsplit(":", 1)
    for _ in range(CONNECTIONS):
        try:
            idle.append(socket.create_connection((host, int(port)), timeout=0.5))
        except OSError:
            break
    findings.count("idle connections", len(idle))
    crew.successes = {name: 0 for name in crew.successes}
    time.sleep(1.5)
    without = crew.those_without_success()
    if without:
        findings.add("stuck", f"{without} do not write while {len(idle)} connections are idle")
    for connection in idle:
        connection.close()
    crew.recover(server, RECOVER_SECONDS_MAX)
    crew.stop()
    crew.check(server, settle=False)
