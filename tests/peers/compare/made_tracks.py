"""The tasks of those standard tracks whose documents tests/tracks/corpora.py makes, over these documents."""
import importlib.util, itertools, json, os, pathlib, random, subprocess, sys

from . import documents, fixed_tracks
from .requests import Request
from .servers import LIMBER, ROOT

sys.path.insert(0, os.path.join(ROOT, "tests", "tracks"))
import corpora

DOCUMENTS = 3_000
# Requests of a task whose parameters a track's plugin draws.
DRAWN = 12
# The index that the documents of a corpus go to, where it is not the track's only one.
TARGETS = {"default-linestrings": "osmlinestrings", "default-multilinestrings": "osmmultilinestrings", "default-polygons": "osmpolygons"}
# What is asked of which servers only: the peer lacks it, or it is paid for.
LEFT_OUT = {"geoGrid_aggs", "mvt-", "frequent_items", "centroid", "rule", "retriever", "pinned", "application"}


class Track:
    """A track of a checkout, rendered with its own defaults."""

    def __init__(self, checkout, name):
        import jinja2
        self.name, self.folder = name, pathlib.Path(checkout) / name
        shown = subprocess.run([LIMBER, "render-track", "--track-path", str(self.folder)], capture_output=True, text=True, check=True)
        self.track = json.loads(shown.stdout)
        environment = jinja2.Environment(loader=jinja2.FileSystemLoader(self.folder))
        self.bodies = {index["name"]: json.loads(environment.get_template(index["body"]).render()) for index in self.track.get("indices", [])}
        if not self.bodies:
            # A data stream: an index of its template, which both sides have without it.
            template = next(one for one in self.track["operations"] if "create-index-template" == one["name"])["body"]["template"]
            self.bodies = {self.track["data-streams"][0]["name"]: {"mappings": template["mappings"]}}

    def load(self, base, peer, shards):
        lines = corpora.lines(self.name, DOCUMENTS)
        for index, body in self.bodies.items():
            settings = {key.removeprefix("index."): value for key, value in body.get("settings", {}).get("index", body.get("settings", {})).items()}
            body = {"mappings": documents.stood_in(body["mappings"], peer), "settings": {**settings, **documents.sharded(shards), "refresh_interval": -1}}
            if peer.startswith("opensearch"):
                strip(body["mappings"])
            made = [documents for (corpus, _), documents in lines.items() if TARGETS.get(corpus, index) == index and (len(self.bodies) == 1 or corpus in TARGETS)]
            made = list(itertools.chain.from_iterable(made))[:DOCUMENTS * 2]
            documents.fill(base, index, body, made[1::2] if self.name == "wikipedia" else made)

    def requests(self):
        found = {}
        for operation in self.track["operations"]:
            if operation.get("operation-type") != "search" or any(word in operation["name"] for word in LEFT_OUT):
                continue
            for drawn in self.drawn(operation) if "param-source" in operation else [operation]:
                params = {**drawn, "index": drawn.get("index") or ",".join(self.bodies)}
                for request in fixed_tracks.of_task(self.name, params, {}):
                    found.setdefault(json.dumps([request.body, request.params], sort_keys=True), request)
        return list(found.values())

    def drawn(self, operation):
        """What the plugin's parameter source gives for its first requests."""
        source = importlib.util.spec_from_file_location("track_plugin", self.folder / "track.py")
        plugin = importlib.util.module_from_spec(source)
        source.loader.exec_module(plugin)
        sources = {}
        registry = type("Registry", (), {"register_param_source": lambda _, name, made: sources.update({name: made}),
                                         "__getattr__": lambda _, name: lambda *ignored, **given: None})()
        plugin.register(registry)
        random.seed(7)
        made = sources[operation["param-source"]](type("Track", (), {"indices": [], "index_names": lambda _: []})(), operation)
        return [{**made.params(), "operation-type": "search"} for _ in range(DRAWN)]


def strip(mapping):
    """Without what another product does not take: scripts and metric kinds of fields."""
    if isinstance(mapping, dict):
        for key in ("script", "time_series_dimension", "time_series_metric"):
            mapping.pop(key, None)
        list(map(strip, mapping.values()))
