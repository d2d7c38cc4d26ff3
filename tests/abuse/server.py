"""A Limber server under test: started on a free port with little memory, watched through /proc."""

import http.client
import os
import re
import socket
import subprocess
import tempfile
import threading

from case import encoded


# What a release build and the mapped segments of a few small indices take of files.
RELEASE_FILE_MB = 24


class Server:
    """A server of its own in a temporary folder. Use as a context manager."""

    def __init__(self, program, memory_mb, settings=()):
        self.folder = tempfile.TemporaryDirectory(prefix="limber-abuse-")
        self.log = open(os.path.join(self.folder.name, "log"), "w+b")
        self.process = subprocess.Popen(
            [program, "serve", "--http", "127.0.0.1:0", "--memory-limit", f"{memory_mb}mb",
             "--data", os.path.join(self.folder.name, "data"), "-E", "cluster.routing.allocation.disk.threshold_enabled=false",
             *[part for setting in settings for part in ("-E", setting)]],
            stdout=subprocess.PIPE, stderr=self.log)
        self.port = None
        for line in self.process.stdout:
            found = re.search(rb"127\.0\.0\.1:(\d+)", line)
            if found:
                self.port = int(found.group(1))
                break
        if self.port is None:
            raise RuntimeError("the server does not start")
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        self.folder.cleanup()

    def is_alive(self):
        return self.process.poll() is None

    def send(self, method, path, body=None, headers=None, timeout=60):
        """Status and body of the answer, over a connection of its own."""
        data, media = encoded(body)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            all_headers = {"Content-Type": media} if media else {}
            all_headers.update(headers or {})
            connection.request(method, path, body=data or None, headers=all_headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def tidy(self, method, path, body=None):
        """Sends a request that cleans up. A deletion of indices by a pattern, which the server refuses, deletes them by their names."""
        names = path.split("?")[0].strip("/")
        is_of_indices = method == "DELETE" and "/" not in names and not names.startswith("_")
        if not is_of_indices or not any(mark in names for mark in "*,"):
            return self.send(method, path, body)
        status, answer = 200, b""
        for name in names.split(","):
            if "*" in name:
                status, answer = self.send("GET", f"/_cat/indices/{name}?h=index&expand_wildcards=all")
                found = answer.decode().split() if status == 200 else []
            else:
                found = [name]
            for one in found:
                self.send("DELETE", f"/{one}")
        return status, answer

    def hang_up(self, method, path, body, after):
        """Sends a request and closes the connection after some seconds without reading."""
        data, media = encoded(body)
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            head = f"{method} {path} HTTP/1.1\r\nHost: a\r\nContent-Type: {media or 'application/json'}\r\nContent-Length: {len(data)}\r\n\r\n"
            connection.sendall(head.encode() + data)
            connection.settimeout(after)
            try:
                connection.recv(1)
            except TimeoutError:
                pass

    def cpu_seconds(self):
        """Time of processors that it has used, in seconds: on a busy machine it tells more than how long an answer took."""
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mb(self):
        """Resident memory now, and the most there was since the last `forget_peak`, both in MB."""
        with open(f"/proc/{self.process.pid}/status") as file:
            status = file.read()
        of = lambda name: int(re.search(rf"^{name}:\s+(\d+)", status, re.M).group(1)) / 1024
        return of("VmRSS"), of("VmHWM")

    def program_mb(self):
        """Pages of the program itself beyond those of a release build, in MB: unoptimised code touches far more of them."""
        with open(f"/proc/{self.process.pid}/status") as file:
            return max(0.0, int(re.search(r"^RssFile:\s+(\d+)", file.read(), re.M).group(1)) / 1024 - RELEASE_FILE_MB)

    def forget_peak(self):
        with open(f"/proc/{self.process.pid}/clear_refs", "w") as file:
            file.write("5")

    def log_tail(self):
        self.log.flush()
        with open(self.log.name, "rb") as file:
            return file.read()[-2000:].decode(errors="replace")
