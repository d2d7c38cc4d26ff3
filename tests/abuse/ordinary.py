"""The client whose requests must not suffer: it searches and writes all the time, and notes the longest wait."""

import threading
import time


class Ordinary(threading.Thread):
    """Runs until `stop`; `worst()` tells and forgets the longest answer since the last call."""

    INDEX = "ordinary"

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server = server
        self.lock = threading.Lock()
        self.longest = 0.0
        self.faults = []
        self.running = True
        server.send("PUT", f"/{self.INDEX}", {"settings": {"number_of_shards": 1, "number_of_replicas": 0}})
        for number in range(100):
            server.send("PUT", f"/{self.INDEX}/_doc/{number}", {"t": f"hello world {number}", "n": number})
        server.send("POST", f"/{self.INDEX}/_refresh")

    def run(self):
        number = 0
        while self.running:
            number += 1
            self.one("POST", f"/{self.INDEX}/_search", {"query": {"match": {"t": "hello"}}, "size": 3})
            self.one("PUT", f"/{self.INDEX}/_doc/{number % 100}", {"t": f"hello world {number}", "n": number})
            self.one("GET", f"/{self.INDEX}/_doc/{number % 100}")
            if number % 5 == 0:
                self.one("GET", "/_cluster/health")
            time.sleep(0.05)

    def one(self, method, path, body=None):
        started = time.monotonic()
        try:
            status, answer = self.server.send(method, path, body, timeout=10)
        except OSError as error:
            status, answer = 0, str(error).encode()
        seconds = time.monotonic() - started
        with self.lock:
            self.longest = max(self.longest, seconds)
            # Being told to come back later is right where memory is short.
            if status not in (200, 201, 429):
                self.faults.append(f"{method} {path}: {status} {answer[:200]!r}")

    def worst(self):
        with self.lock:
            found = (self.longest, self.faults)
            self.longest, self.faults = 0.0, []
            return found

    def stop(self):
        self.running = False
        self.join(60)
