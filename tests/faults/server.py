"""One `limber serve` under test, a client for it, and the list of what was found wrong."""
import atexit
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import threading
import time

# A request that takes longer than this is a finding of its own: nothing here is slow on a healthy server.
ANSWER_SECONDS_MAX = 30
START_SECONDS_MAX = 60


# Processes that were started and not waited for.
RUNNING = set()


@atexit.register
def end_all():
    """However a script ends, no server stays behind."""
    for process in RUNNING:
        if process.poll() is None:
            process.kill()
            process.wait()


class Broken(Exception):
    """The connection broke: what the request did is unknown."""


class StartRefused(Exception):
    """The server ended before it listened; the text is the end of its log."""


class Findings:
    """What was found wrong, by kind, and what was counted on the way."""

    KINDS = ("lost", "duplicated", "invented", "wrong", "half", "red", "refused", "stuck", "dead", "check")

    def __init__(self, is_quiet=False):
        self.is_quiet = is_quiet
        self.found = []
        self.counts = {}
        self.context = ""
        self.lock = threading.Lock()

    def add(self, kind, text):
        assert kind in self.KINDS, kind
        with self.lock:
            self.found.append((kind, f"{self.context}: {text}"))
            shown = sum(1 for other, text in self.found if other == kind and text.startswith(self.context[:20]))
            if shown <= 3 and not self.is_quiet:
                print(f"FOUND {kind}: {self.context}: {text}"[:600], flush=True)

    def count(self, what, number=1):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + number

    def of(self, kind):
        return sum(1 for other, _ in self.found if other == kind)

    def __len__(self):
        return len(self.found)

    def summary(self):
        counted = [f"{number} {what}" for what, number in self.counts.items()]
        return ", ".join(counted + [f"{self.of(kind)} {kind}" for kind in self.KINDS])


class Server:
    """A server process over `data`. It listens on a free port; what it logs goes to `<data>.log`, or there in the folder `logs`.

    Unless `watermarks` are asked for, it does not matter how full the machine's own disk is.
    """

    def __init__(self, binary, data, settings=(), env=None, before_exec=None, launcher=(), memory="512mb", wait=True, logs=None,
                 watermarks=False):
        self.data = pathlib.Path(data)
        self.log = (logs or self.data.parent) / (self.data.name + ".log")
        out = self.log.with_suffix(".out")
        command = [*launcher, str(binary), "serve", "--http", "127.0.0.1:0", "--memory-limit", memory, "--data", str(data)]
        unwatched = [] if watermarks else ["cluster.routing.allocation.disk.threshold_enabled=false"]
        for setting in [*unwatched, *settings]:
            command += ["-E", setting]
        self.out = out
        with open(out, "wb") as stdout, open(self.log, "ab") as stderr:
            self.process = subprocess.Popen(command, stdout=stdout, stderr=stderr, stdin=subprocess.DEVNULL,
                                            env=dict(os.environ, NO_COLOR="1", **(env or {})), preexec_fn=before_exec)
        RUNNING.add(self.process)
        self.address = None
        if wait:
            self.wait_until_it_listens()

    @property
    def pid(self):
        return self.process.pid

    def wait_until_it_listens(self, seconds=START_SECONDS_MAX):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            line = self.out.read_bytes()
            if line.startswith(b"listening on ") and line.endswith(b"\n"):
                self.address = line.split()[2].decode()
                return
            if self.process.poll() is not None:
                raise StartRefused(self.log_tail())
            time.sleep(0.002)
        self.kill()
        raise StartRefused(f"it does not listen after {seconds} s")

    def log_tail(self, bytes_max=1500):
        with open(self.log, "rb") as log:
            log.seek(0, os.SEEK_END)
            log.seek(max(0, log.tell() - bytes_max))
            return log.read().decode(errors="replace").strip()

    def is_alive(self):
        return self.process.poll() is None

    def kill(self):
        """`kill -9`."""
        if self.is_alive():
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        RUNNING.discard(self.process)

    def stop(self, seconds=30):
        """As a service manager does; whether it ended by itself in time."""
        if self.is_alive():
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(seconds)
            return True
        except subprocess.TimeoutExpired:
            self.kill()
            return False

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Client:
    """One connection. With `strict`, an answer of 429 or from 500 on is a finding: nothing is broken that could excuse it.

    `forbidden`: bytes that no answer may contain.
    """

    def __init__(self, server, findings, strict=True, seconds=ANSWER_SECONDS_MAX, forbidden=None):
        self.server, self.findings, self.strict, self.seconds = server, findings, strict, seconds
        self.forbidden = forbidden
        self.connection = None

    def call(self, method, path, body=None):
        """Status and parsed answer. Raises [`Broken`] when no answer came."""
        data, kind = None, "application/json"
        if isinstance(body, bytes):
            data, kind = body, "application/x-ndjson"
        elif body is not None:
            data = json.dumps(body).encode()
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection(self.server.address, timeout=self.seconds)
                self.connection.connect()
                self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connection.request(method, path, data, {"Content-Type": kind} if data is not None else {})
            answer = self.connection.getresponse()
            content = answer.read()
        except socket.timeout:
            self.close()
            self.findings.add("stuck", f"{method} {path} was not answered in {self.seconds} s")
            raise Broken(f"{method} {path}") from None
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Broken(f"{method} {path}: {error!r}") from None
        if self.forbidden and self.forbidden in content:
            at = content.index(self.forbidden)
            self.findings.add("refused", f"{method} {path} answered {answer.status}: {content[max(0, at - 150):at + 50]}")
        try:
            parsed = json.loads(content) if content else {}
        except ValueError:
            parsed = {"text": content.decode(errors="replace")}
        if self.strict and (answer.status >= 500 or answer.status == 429):
            self.findings.add("refused", f"{method} {path} answered {answer.status}: {reason(parsed)}")
        return answer.status, parsed

    def close(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None


def is_unknown(status):
    """Whether an answer leaves open if the request was performed. 429 does: a full disk is answered with it, at any step."""
    return status >= 500 or status in (408, 429)


def reason(answer):
    """The sentence in an error of Elasticsearch's form."""
    error = answer.get("error", answer) if isinstance(answer, dict) else answer
    while isinstance(error, dict) and (error.get("failed_shards") or error.get("caused_by")):
        error = error["failed_shards"][0]["reason"] if error.get("failed_shards") else error["caused_by"]
    return str(error.get("reason", error) if isinstance(error, dict) else error)[:300]


def check_offline(binary, data, findings):
    """`limber check` says "no problems" of a folder whose server is gone."""
    done = subprocess.run([str(binary), "check", str(data)], capture_output=True, text=True, timeout=300, check=False)
    findings.count("offline checks")
    if done.returncode != 0 or "no problems found" not in done.stdout:
        problems = [line for line in done.stdout.splitlines() if "PROBLEM" in line] or [done.stderr.strip()]
        findings.add("check", f"limber check: {problems[0][:300]}")


def health_is_not_red(client, findings, seconds=10):
    """Waits until no shard is red; a finding if one stays so."""
    deadline = time.monotonic() + seconds
    while True:
        status, health = client.call("GET", "/_cluster/health?level=indices")
        if status == 200 and health["status"] != "red":
            return True
        if time.monotonic() > deadline:
            red = [name for name, index in health.get("indices", {}).items() if index["status"] == "red"]
            findings.add("red", f"health {status} {health.get('status')}, red: {red}; log: {client.server.log_tail(600)}")
            return False
        time.sleep(0.1)
