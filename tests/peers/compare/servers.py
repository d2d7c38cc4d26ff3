"""Starts Limber and peers, and sends them requests."""
import json, os, socket, subprocess, time, urllib.error, urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
SHARED = os.path.join(os.path.dirname(ROOT), "shared")
DATA = os.environ.get("DATA", os.path.join(SHARED, "data"))
PEERS = os.environ.get("PEERS", os.path.join(SHARED, "peers"))
TRACKS = os.environ.get("RALLY_TRACKS", os.path.join(SHARED, "research", "rally-tracks"))
LIMBER = os.environ.get("LIMBER", os.path.join(ROOT, "target/release/limber"))


def call(base, method, path, body=None):
    """Status and answer; the body as JSON, or bytes as NDJSON. An answer that is no JSON comes as `{"error": text}`."""
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    kind = "application/x-ndjson" if isinstance(body, bytes) else "application/json"
    request = urllib.request.Request(base + path, data=data, method=method, headers={"Content-Type": kind})
    try:
        with urllib.request.urlopen(request, timeout=120) as response:
            return response.status, json.loads(response.read() or b"{}")
    except urllib.error.HTTPError as error:
        text = error.read() or b"{}"
        try:
            return error.code, json.loads(text)
        except json.JSONDecodeError:
            return error.code, {"error": text.decode(errors="replace")}


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def start_peer(name, folder, heap):
    """(address, what stops it)"""
    if not os.path.exists(f"{PEERS}/start-peer"):
        raise SystemExit(f"there is no {PEERS}/start-peer: let PEERS name a folder that has it, or give --elasticsearch-url "
                         "(tests/peers/README.md)")
    port = free_port()
    subprocess.run([f"{PEERS}/start-peer", name, str(port), folder, heap], check=True, stdout=subprocess.DEVNULL)
    return f"http://127.0.0.1:{port}", lambda: subprocess.run([f"{PEERS}/stop-peer", folder], stdout=subprocess.DEVNULL)


def start_limber(folder):
    """(address, what stops it)"""
    port = free_port()
    server = subprocess.Popen([LIMBER, "serve", "--data", folder, "--http", f"127.0.0.1:{port}", "--memory-limit", "1gb",
                               "-E", "cluster.routing.allocation.disk.threshold_enabled=false"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    base = f"http://127.0.0.1:{port}"
    for _ in range(100):
        try:
            call(base, "GET", "/")
            break
        except OSError:
            time.sleep(0.1)
    return base, lambda: (server.terminate(), server.wait())
