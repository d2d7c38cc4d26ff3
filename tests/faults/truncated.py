"""Files of a running server are truncated or changed from outside: the process lives, and shows nothing that it was not given."""
import random

from actors import Documents
from crew import Crew, Place
from ledger import HITS_MAX, text
from server import Broken, Client, Server, StartRefused

ROUNDS = 20
QUERIES = ({"match_all": {}}, {"term": {"value": 5}}, {"match": {"text": "beta gamma"}}, {"range": {"value": {"gte": 100}}},
           {"prefix": {"t.keyword": "documents0-1"}})


def run(options, findings):
    place = Place(options, "truncated")
    try:
        for round in range(options.rounds):
            if options.is_over() or (len(findings) and not options.keep_going):
                break
            findings.context = f"round {round} seed {options.seed}"
            one_round(options, findings, place, random.Random(f"{options.seed}/{round}"))
            findings.count("rounds")
    finally:
        place.close()


def one_round(options, findings, place, rng):
    data = place.fresh()
    server = None
    try:
        server = Server(options.binary, data)
        actor = Documents(findings)
        crew = Crew(findings, options.seed, actors=[actor])
        crew.prepare(server)
        client = Client(server, findings)
        for _ in range(15):
            actor.step(client, rng)
        client.call("POST", "/_flush")
        files = [file for file in sorted(data.rglob("*.seg")) + sorted(data.rglob("*.live")) if file.stat().st_size]
        for file in rng.sample(files, min(len(files), 3)):
            damage(file, rng)
            findings.context += f", {file.relative_to(data)}"
        use(Client(server, findings, strict=False), findings, actor, rng)
        if not server.is_alive():
            findings.add("dead", f"the server ended with {server.process.poll()}: {server.log_tail(400)}")
    except (Broken, StartRefused) as error:
        code = server.process.poll() if server else None
        findings.add("dead", f"{error}, the server ended with {code}")
    finally:
        if server:
            server.kill()
        place.remove(data)


def damage(file, rng):
    size = file.stat().st_size
    with open(file, "r+b") as open_file:
        open_file.truncate(rng.choice((0, size // 2, rng.randrange(size))))


def use(client, findings, actor, rng):
    """Reads by every way, and a forced merge. Answers may be errors; documents that are answered were written."""
    for turn in range(2):
        for query in QUERIES:
            body = {"query": query, "size": HITS_MAX, "sort": ["value"], "aggs": {"values": {"terms": {"field": "value"}}}}
            status, answer = client.call("POST", "/ledger,second/_search", body)
            findings.count("reads")
            for hit in answer["hits"]["hits"] if status == 200 else []:
                known = actor.ledger.docs.get(hit["_id"])
                if known is None or text(hit["_source"]) not in [state.source for state in known.states]:
                    findings.add("wrong", f"a search shows {hit}, known is {known}")
                    return
        for index, id in actor.ledger.live_ids()[:50]:
            client.call("GET", f"/{index}/_doc/{id}")
            findings.count("reads")
        if turn == 0:
            client.call("POST", f"/{rng.choice(('ledger', 'second'))}/_forcemerge?max_num_segments=1")
