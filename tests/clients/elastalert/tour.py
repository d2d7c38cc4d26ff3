"""ElastAlert 2 makes its own indices and runs rules over made log lines."""
import datetime
import json
import pathlib
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

from checks import check, equal

url = urllib.parse.urlsplit(sys.argv[1])
programs = pathlib.Path(sys.executable).parent
work = pathlib.Path(tempfile.mkdtemp())
(work / "rules").mkdir()
(work / "config.yaml").write_text(f"rules_folder: {work / 'rules'}\nrun_every: {{minutes: 1}}\nbuffer_time: {{minutes: 15}}\nes_host: {url.hostname}\n"
                                  f"es_port: {url.port}\nwriteback_index: elastalert\nalert_time_limit: {{days: 2}}\n")
RULES = {
    "any": "type: any\nfilter: [{query: {query_string: {query: 'status: 500 AND host: web1'}}}]",
    "frequency": "type: frequency\nnum_events: 5\ntimeframe: {minutes: 10}\nfilter: [{term: {host.keyword: web1}}]",
    "terms": "type: new_term\nfields: [user.keyword]\nterms_window_size: {days: 1}",
    "cardinality": "type: cardinality\ncardinality_field: user.keyword\nmax_cardinality: 3\ntimeframe: {minutes: 20}",
    "spike": "type: spike\nspike_height: 2\nspike_type: up\ntimeframe: {minutes: 5}\nthreshold_cur: 1",
}


def ask(method, path, body=None):
    request = urllib.request.Request(sys.argv[1] + path, body and body.encode(), {"Content-Type": "application/json"}, method=method)
    return json.load(urllib.request.urlopen(request, timeout=30))


@check
def indices_of_its_own():
    done = subprocess.run([programs / "elastalert-create-index", "--config", work / "config.yaml", "--index", "elastalert"],
                          capture_output=True, text=True, cwd=work, input="")
    equal((done.returncode, "Done!" in done.stdout or done.stdout + done.stderr), (0, True))


now = datetime.datetime.now(datetime.timezone.utc)
lines = [{"@timestamp": (now - datetime.timedelta(seconds=30 * n + 60)).isoformat(), "status": 500, "host": "web1", "user": f"u{n}", "took": n * 9} for n in range(12)]
ask("POST", "/logs/_bulk?refresh=true", "".join('{"index":{}}\n' + json.dumps(line) + "\n" for line in lines))


def rule_alerts(kind):
    def alerts():
        path = work / "rules" / f"{kind}.yaml"
        path.write_text(f"name: {kind}\nindex: logs\nalert: [debug]\n{RULES[kind]}\n")
        done = subprocess.run([programs / "elastalert-test-rule", "--config", work / "config.yaml", "--start", (now - datetime.timedelta(minutes=12)).isoformat(), "--end",
                               now.isoformat(), "--formatted-output", path], capture_output=True, text=True, cwd=work, timeout=120)
        told = done.stdout + done.stderr
        equal((done.returncode, "Traceback" in told and told), (0, False))
        outcome = json.loads(done.stdout[done.stdout.index("{"):])
        # Every term was seen before, and nothing is more than usual: these two rules find lines and no matches.
        is_quiet = kind in ("terms", "spike")
        assert outcome["hits"] == 12 and (outcome["writeback"]["elastalert_status"]["matches"] == 0) == is_quiet, told
    alerts.__name__ = f"rule {kind}"
    check(alerts)


for kind in RULES:
    rule_alerts(kind)
