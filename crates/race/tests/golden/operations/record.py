"""Records what esrally 2.13 sends and returns for each operation, as `recorded.json` beside this file.

    <python with esrally 2.13> record.py

Every case of `cases.json` runs once through Rally's own parameter source, runner and client against a server in this
process that answers what the case says. `crates/race/src/drive/tests/recorded.rs` runs the same cases here and compares.
"""

import asyncio
import copy
import json
import pathlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from esrally import client, track
from esrally.driver import driver, runner
from esrally.track import params as track_params

HERE = pathlib.Path(__file__).parent


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    case = None
    requests = []
    lock = threading.Lock()

    def log_message(self, *args):
        pass

    def answer(self):
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length).decode()
        parts = urlsplit(self.path)
        on = f"{self.command} {parts.path}"
        with Handler.lock:
            Handler.requests.append(
                {
                    "line": on,
                    "query": dict(sorted(parse_qsl(parts.query, keep_blank_values=True))),
                    "body": json.loads(body) if body else None,
                }
            )
            matching = [r for r in Handler.case["responses"] if r["on"] == on]
            response = matching[0] if matching else {"status": 200, "body": {}}
            if len(matching) > 1:
                Handler.case["responses"].remove(response)
        payload = b"" if self.command == "HEAD" else json.dumps(response["body"], separators=(",", ":")).encode()
        self.send_response(response["status"])
        self.send_header("content-type", "application/json")
        self.send_header("x-elastic-product", "Elasticsearch")
        self.send_header("content-length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = answer


def make_track(given):
    return track.Track(
        name="recorded",
        indices=[track.Index(name=name, body=None, types=[]) for name in given.get("indices", [])],
        data_streams=[track.DataStream(name=name) for name in given.get("data-streams", [])],
    )


async def run(case, es, rally_track):
    operation = copy.deepcopy(case["operation"])
    name, kind = operation["name"], operation["operation-type"]
    try:
        source = track_params.param_source_for_operation(kind, rally_track, operation, name)
        given = source.partition(0, 1).params()
        given["operation-type"] = kind  # as driver.ScheduleHandle does
        with es.new_request_context():
            weight, unit, meta = await driver.execute_single(
                runner.runner_for(kind), {"default": es}, given, driver.OnErrorBehavior.CONTINUE
            )
    except BaseException as error:  # whatever ends the race
        return {"aborts": str(error)}
    for timing in meta.get("dependent_timing") or []:
        if timing:
            for key in ["absolute_time", "request_start", "request_end", "service_time"]:
                timing["dependent_timing"].pop(key)
    return {"weight": weight, "unit": unit, "meta": meta}


def main():
    cases = json.loads((HERE / "cases.json").read_text())
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    runner.register_default_runners()
    runner.enable_assertions(True)
    recorded = []

    async def all_cases():
        factory = client.EsClientFactory(
            hosts=[{"host": "127.0.0.1", "port": server.server_port}],
            client_options={"timeout": 5},
            distribution_version="8.14.0",
        )
        es = factory.create_async(client_id=0)
        for case in cases:
            Handler.case, Handler.requests = copy.deepcopy(case), []
            result = await run(case, es, make_track(case.get("track", {})))
            recorded.append({**case, "requests": Handler.requests, "result": result})
        await es.close()

    asyncio.run(all_cases())
    (HERE / "recorded.json").write_text(json.dumps(recorded, indent=1, sort_keys=False) + "\n")


main()
