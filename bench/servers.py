"""Limber and real peers as processes on loopback, for the benches."""
import json
import os
import pathlib
import socket
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = pathlib.Path(os.environ.get("PEERS", ROOT.parent / "shared" / "peers"))
DATA = pathlib.Path(os.environ.get("DATA", ROOT.parent / "shared" / "data"))
LIMBER = pathlib.Path(os.environ.get("LIMBER", ROOT / "target" / "dist" / "limber"))


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def memory_mib(process_id):
    """Resident and peak resident memory of a process, MiB."""
    fields = {}
    for line in pathlib.Path(f"/proc/{process_id}/status").read_text().splitlines():
        name, _, value = line.partition(":")
        fields[name] = value
    return [int(fields[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM")]


def cpu_seconds(process_id):
    fields = pathlib.Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Limber:
    name = "limber"
    program = LIMBER
    client_options = []

    def __init__(self, work, memory, *more):
        self.process = subprocess.Popen(
            [self.program, "serve", "--http", "127.0.0.1:0", "--data", work / self.name, "--memory-limit", memory,
             "-E", "cluster.routing.allocation.disk.threshold_enabled=false", *more],
            stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip().removeprefix("listening on ")
        self.process_id = self.process.pid

    def stop(self):
        self.process.terminate()
        self.process.wait(30)


class SecureLimber(Limber):
    """With TLS and users: the client verifies the certificate and sends a password with every request."""
    name = "limber-secure"

    def __init__(self, work, memory):
        super().__init__(work, memory, "--secure")
        printed = {name: value for name, _, value in (self.process.stdout.readline().strip().partition(": ") for _ in range(3))}
        self.client_options = ["--client-options", json.dumps({
            "use_ssl": True, "ca_certs": printed["certificate authority"],
            "basic_auth_user": "elastic", "basic_auth_password": printed["password of the user elastic"]})]


class OtherLimber(Limber):
    """Another build, to compare with: the one before a change, for instance."""

    def __init__(self, program, work, memory):
        self.name, self.program = f"limber-{program.parent.name}", program
        super().__init__(work, memory)


def peer(name, work, heap):
    """A server of ../shared/peers, or another build of Limber where `name` is a path of its program."""
    return OtherLimber(pathlib.Path(name).absolute(), work, heap + "b") if os.sep in name else Peer(name, work, heap)


PEER_HELP = "a name of ../shared/peers, or the path of another build of Limber; repeatable"


class Peer:
    client_options = []

    def __init__(self, name, work, heap):
        if not (PEERS / "start-peer").exists():
            raise SystemExit(f"there is no {PEERS}/start-peer: let PEERS name a folder that has it (tests/peers/README.md)")
        self.name, self.folder = name, work / name
        port = free_port()
        self.address = f"127.0.0.1:{port}"
        printed = subprocess.run([PEERS / "start-peer", name, str(port), self.folder, heap], check=True,
                                 stdout=subprocess.PIPE, text=True).stdout
        self.process_id = int(printed.split()[-1])

    def stop(self):
        subprocess.run([PEERS / "stop-peer", self.folder], check=False)
