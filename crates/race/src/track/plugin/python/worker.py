"""The Python side of `limber race`: runs a Rally track's `track.py` in a process of its own.

Limber starts this file with the folder of the shims as its only argument and talks to it over standard input and output in
frames: header length and payload length (4 bytes each, little endian), a JSON header, the payload's bytes. A request has a
`seq`; its answers repeat it. `track/plugin/process.rs` is the other side and `track/plugin/mod.rs` lists the requests.

What the plugin prints goes to standard error. Requests are answered in order, except runners, which are asyncio tasks.
"""

import asyncio
import json
import os
import struct
import sys
import threading
import time
import traceback
import warnings

import limber_clients
import limber_loading
import limber_runners
import limber_schedulers
import limber_sources
import limber_tracks
from limber_errors import PluginError

FRAME = struct.Struct("<II")
# How often the event loop says that it is not stuck, in seconds.
HEARTBEAT_S = 0.25


class Link:
    """The two pipes to Limber."""

    def __init__(self):
        self.reading = os.fdopen(os.dup(0), "rb", buffering=0)
        self.writing = os.fdopen(os.dup(1), "wb", buffering=0)
        # Nothing that a plugin does with its standard input and output may disturb the frames.
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        self._lock = threading.Lock()

    def send(self, header, payload=b""):
        head = json.dumps(header).encode("utf-8")
        parts = memoryview(FRAME.pack(len(head), len(payload)) + head + bytes(payload))
        with self._lock:
            while parts:
                parts = parts[self.writing.write(parts) :]


class Watch:
    """Ends the process when the plugin keeps the event loop for longer than the time limit, or when Limber is gone."""

    def __init__(self, link):
        self.link = link
        self.limit_s = None
        self.alive = time.monotonic()
        self.activity = "starting"
        self._parent = os.getppid()
        self._main = threading.main_thread().ident
        threading.Thread(target=self._run, daemon=True, name="limber-watch").start()

    def beat(self):
        self.alive = time.monotonic()

    def _run(self):
        while True:
            time.sleep(HEARTBEAT_S)
            if os.getppid() != self._parent:
                os._exit(0)
            limit_s = self.limit_s
            if limit_s is not None and time.monotonic() - self.alive > limit_s:
                frame = sys._current_frames().get(self._main)
                where = "".join(traceback.format_stack(frame)) if frame else ""
                reason = f"{self.activity} has not come to an end within {limit_s:g} s. It is here:\n{where}"
                self.link.send({"fatal": reason})
                os._exit(70)


class Worker:
    """What one process knows: the plugin, the track, and the open sources, runners and schedulers by their number."""

    def __init__(self, link, watch, shims):
        self.link = link
        self.watch = watch
        self.shims = shims
        self.registry = None
        self.track = None
        self.protocol = {}
        self.open = {}

    # Requests that are answered at once: each gives (header, payload).

    def on_load(self, header, payload):
        self.watch.limit_s = header["limit_s"]
        self.registry = limber_loading.load(header["folder"], self.shims)
        return self.registry.described(), b""

    def on_track(self, header, payload):
        self.track = limber_tracks.unpickled(payload) if header["pickled"] else limber_tracks.from_json(json.loads(payload))
        limber_tracks.select(self.track, header.get("challenge"))
        self.protocol = header.get("protocol") or self.protocol
        return {}, b""

    def on_process_track(self, header, payload):
        for processor in self.registry.track_processors:
            processor.on_after_load_track(self.track)
        return {}, json.dumps(limber_tracks.to_json(self.track), default=limber_sources.plain).encode("utf-8")

    def on_used_corpora(self, header, payload):
        return {"corpora": limber_sources.used_corpora(self.registry, self.track)}, b""

    def on_files(self, header, payload):
        limber_tracks.set_files(self.track, json.loads(payload))
        return {}, b""

    def on_prepare_track(self, header, payload):
        # Generating and fetching data takes as long as it takes.
        self.watch.limit_s, limit_s = None, self.watch.limit_s
        limber_tracks.prepare(self.track, self.registry.track_processors, header["data_root"])
        self.watch.beat()
        self.watch.limit_s = limit_s
        return {}, limber_tracks.pickled(self.track)

    def on_open(self, header, payload):
        opened = limber_runners.Opened(self.registry, self.track, header)
        self.open[header["id"]] = opened
        return opened.described(), b""

    def on_next(self, header, payload):
        return self.open[header["id"]].source.batch(header["count"], header["bytes_max"], header["body_apart"])

    def on_due(self, header, payload):
        return {"due": self.open[header["id"]].scheduler.due(header)}, b""

    def on_close(self, header, payload):
        self.open.pop(header["id"], None)
        return {}, b""

    # Requests that go on.

    async def run(self, header):
        seq = header["seq"]
        opened = self.open[header["id"]]
        calls = limber_clients.Calls(self.link, seq)
        self.calls[seq] = calls
        try:
            answer = await limber_runners.execute(opened, limber_clients.client(calls, self.protocol))
        except BaseException as error:
            answer = failure(error)
        finally:
            del self.calls[seq]
        try:
            self.link.send({"seq": seq, "done": True, **answer})
        except (TypeError, ValueError) as error:
            self.link.send({"seq": seq, "done": True, **failure(error)})

    async def serve(self):
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=2**30)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), self.link.reading)
        self.calls = {}
        running = set()
        beating = asyncio.ensure_future(self.beat())
        while True:
            try:
                head_bytes, payload_bytes = FRAME.unpack(await reader.readexactly(FRAME.size))
                header = json.loads(await reader.readexactly(head_bytes))
                payload = await reader.readexactly(payload_bytes) if payload_bytes else b""
            except asyncio.IncompleteReadError:
                beating.cancel()
                return
            request = header["request"]
            if request == "run":
                task = asyncio.ensure_future(self.run(header))
                running.add(task)
                task.add_done_callback(running.discard)
            elif request == "answer":
                if header["seq"] in self.calls:
                    self.calls[header["seq"]].answered(header, payload)
            else:
                self.answer(request, header, payload)

    def answer(self, request, header, payload):
        self.watch.activity = f"the plugin (request [{request}] for [{header.get('task', self.registry and self.registry.folder)}])"
        self.watch.beat()
        try:
            answer, content = getattr(self, "on_" + request)(header, payload)
        except BaseException as error:
            answer, content = failure(error), b""
        self.watch.beat()
        self.watch.activity = "a runner of the plugin"
        self.link.send({"seq": header["seq"], "done": True, **answer}, content)

    async def beat(self):
        while True:
            self.watch.beat()
            await asyncio.sleep(HEARTBEAT_S)


def failure(error):
    """What went wrong, with the plugin's own part of the traceback."""
    if isinstance(error, PluginError):
        return {"error": str(error)}
    here = os.path.dirname(os.path.abspath(__file__))
    entries = traceback.extract_tb(error.__traceback__)
    own = [entry for entry in entries if os.path.dirname(os.path.abspath(entry.filename)) != here]
    text = "".join(traceback.format_list(own)).rstrip()
    last = "".join(traceback.format_exception_only(type(error), error)).strip()
    return {"error": last, "traceback": text}


def main():
    # Rally's own tracks use what newer clients call deprecated, in every request.
    warnings.simplefilter("ignore", DeprecationWarning)
    link = Link()
    watch = Watch(link)
    worker = Worker(link, watch, sys.argv[1])
    try:
        asyncio.run(worker.serve())
    except (BrokenPipeError, KeyboardInterrupt):
        pass


if __name__ == "__main__":
    main()
