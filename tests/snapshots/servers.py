"""Servers for the tests of snapshots: Limber, and an S3 service from the package `moto`."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
ACCESS, SECRET = "access-of-the-test", "secret-of-the-test-7f3a"


class Failed(Exception):
    """An answer that was not expected."""


class Limber:
    """`limber serve` on a free port of loopback; ended by its process id."""

    def __init__(self, folder, *settings):
        program = os.environ.get("LIMBER", str(ROOT / "target/debug/limber"))
        self.log = open(f"{folder}.log", "ab")
        command = [program, "serve", "--data", str(folder), "--http", "127.0.0.1:0", "--memory-limit", "1gb",
                   "-E", "cluster.routing.allocation.disk.threshold_enabled=false"]
        for setting in settings:
            command += ["-E", setting]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("listening on "):
            raise Failed(f"the server says {line!r}; see {folder}.log")
        self.url = "http://" + line.split()[-1]

    def call(self, method, path, body=None, status=200):
        """The answer, which must have this status."""
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        data = None if body is None else body.encode() if isinstance(body, str) else body
        kind = "application/x-ndjson" if path.split("?")[0].endswith("_bulk") else "application/json"
        request = urllib.request.Request(self.url + path, data, {"Content-Type": kind}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=3600) as answer:
                found, text = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            found, text = error.code, error.read()
        if found != status:
            raise Failed(f"{method} {path}: {found} instead of {status}: {text[:600]!r}")
        return json.loads(text) if text.startswith((b"{", b"[")) else text.decode()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)
        self.log.close()


class Moto:
    """An S3 service in memory, in a virtual environment of its own."""

    def __init__(self, work):
        venv = pathlib.Path(os.environ.get("MOTO_VENV", work / "moto"))
        if not (venv / "bin/moto_server").exists():
            subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
            subprocess.run([str(venv / "bin/pip"), "--quiet", "install", "moto[server]"], check=True)
        self.path = work / "moto.log"
        self.log = open(self.path, "wb")
        # Unbuffered: where it listens is in its log.
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        command = [str(venv / "bin/moto_server"), "-H", "127.0.0.1", "-p", "0"]
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, env=environment)
        self.url = None
        for _ in range(600):
            found = re.search(rb"http://127\.0\.0\.1:\d+", self.path.read_bytes())
            if found:
                self.url = found.group().decode()
                break
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        if self.url is None:
            raise Failed(f"moto does not start: {self.path.read_bytes()[-500:]!r}")

    def bucket(self, name):
        request = urllib.request.Request(f"{self.url}/{name}", method="PUT")
        request.add_header("Authorization", "AWS4-HMAC-SHA256 Credential=x/20240101/us-east-1/s3/aws4_request")
        urllib.request.urlopen(request, timeout=30).close()

    def settings(self):
        """Of a node that may use it."""
        return (
            f"s3.client.default.access_key={ACCESS}",
            f"s3.client.default.secret_key={SECRET}",
            f"s3.client.default.endpoint={self.url}",
            "s3.client.default.path_style_access=true",
        )

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(30)
        self.log.close()
