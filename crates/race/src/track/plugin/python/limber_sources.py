"""Parameter sources: how they are made, split among clients, and asked for many sets of parameters at once."""

import datetime
import decimal
import inspect
import json
import struct
import time
import uuid

from limber_errors import PluginError

# An answer is sent after so many seconds at the latest, if it holds anything.
BATCH_S_MAX = 0.01
LENGTHS = struct.Struct("<II")
NO_BODY = 0xFFFFFFFF
# Types that Rally gives a parameter source of their own even without `param-source`.
OWN_SOURCES = {
    "bulk", "search", "sleep", "force-merge", "create-index", "delete-index", "create-data-stream", "delete-data-stream",
    "create-index-template", "delete-index-template", "create-composable-template", "delete-composable-template",
    "create-component-template", "delete-component-template", "open-point-in-time", "close-point-in-time", "downsample",
}  # fmt: skip


class Constant:
    """The operation's own parameters, every time."""

    infinite = True

    def __init__(self, params):
        self._params = params

    def partition(self, partition_index, total_partitions):
        return self

    def params(self):
        return self._params


class Function(Constant):
    def __init__(self, track, params, function):
        super().__init__(params)
        self._track = track
        self._function = function

    def params(self):
        return self._function(self._track, self._params)


def source_of(registry, track, task):
    operation = task.operation
    if operation.param_source:
        try:
            registered = registry.param_sources[operation.param_source]
        except KeyError:
            raise PluginError(f"the plugin registers no parameter source [{operation.param_source}]") from None
        if inspect.isfunction(registered):
            return Function(track, operation.params, registered)
        return registered(track, operation.params)
    if operation.type in registry.runners and operation.type in OWN_SOURCES:
        if not registry.is_esrally_installed:
            raise PluginError(
                f"the plugin's runner for [{operation.type}] gets its parameters from Rally's own source; for that the package "
                "esrally has to be installed"
            )
        from esrally.track import params

        return params.param_source_for_operation(operation.type, track, operation.params, task.name)
    return Constant(operation.params)


def used_corpora(registry, track):
    """Corpora that the plugin's sources of the selected challenge read: name and document files."""
    used = {}
    for element in track.selected_challenge_or_default.schedule:
        for task in element:
            if task.operation.param_source not in registry.param_sources:
                continue
            for corpus in getattr(source_of(registry, track, task), "corpora", None) or []:
                files = used.setdefault(corpus.name, [])
                files.extend(documents.document_file for documents in corpus.documents if documents.document_file not in files)
    return [{"name": name, "files": files} for name, files in used.items()]


class Source:
    """One client's parameters."""

    def __init__(self, source, task):
        self.source = source
        self.task = task
        self.knows_progress = hasattr(source, "percent_completed")
        self.next_error = None
        # For runners of the plugin: parameters stay here, whatever they hold.
        self.kept = None

    @property
    def is_infinite(self):
        infinite = getattr(self.source, "infinite", None)
        if infinite is None and hasattr(self.source, "size"):
            return self.source.size() is None
        if infinite is None:
            raise PluginError(f"the parameter source of task [{self.task.name}] has neither [infinite] nor [size()]")
        return bool(infinite)

    def progress(self):
        completed = self.source.percent_completed if self.knows_progress else None
        return completed if isinstance(completed, (int, float)) else None

    def one(self):
        params = self.source.params()
        if not hasattr(params, "update"):
            raise PluginError(f"the parameter source of task [{self.task.name}] gave [{params!r:.100}], which is no dict")
        params.update({"operation-type": self.task.operation.type})
        return params

    def batch(self, count, bytes_max, body_apart):
        """Up to `count` sets of parameters. A source that ends or fails does so after what it gave before."""
        if self.next_error is not None:
            raise self.next_error
        progress, parts, size = [], [], 0
        started = time.monotonic()
        while len(progress) < count:
            done = self.progress()
            try:
                params = self.one()
                if body_apart == "keep":
                    self.kept = params
                    return {"progress": [done], "end": False}, b""
                params, body = encoded(params, body_apart)
            except StopIteration:
                return {"progress": progress, "end": True}, b"".join(parts)
            except Exception as error:
                if not progress:
                    raise
                self.next_error = error
                break
            progress.append(done)
            parts.append(LENGTHS.pack(len(params), NO_BODY if body is None else len(body)))
            parts.append(params)
            if body is not None:
                parts.append(body)
            size += len(params) + len(body or b"")
            if size >= bytes_max or time.monotonic() - started >= BATCH_S_MAX:
                break
        return {"progress": progress, "end": False}, b"".join(parts)


# Parameters with which a search's body is looked into.
BODY_READERS = ("pages", "results-per-page", "with-point-in-time-from")


def encoded(params, body_apart):
    """Parameters and body as JSON; the body is apart where Limber sends it as it is."""
    body = params.get("body")
    is_apart = body_apart in ("always", "lines") or (
        body_apart == "search" and not any(params.get(name) is not None for name in BODY_READERS)
    )
    if body is None or not is_apart:
        return dumped(params), None
    rest = {name: value for name, value in params.items() if name != "body"}
    return dumped(rest), lines(body) if body_apart == "lines" and isinstance(body, (list, tuple)) else dumped(body)


def lines(items):
    """A list of lines, as a bulk or a multi search has them."""
    return b"".join(line if line.endswith(b"\n") else line + b"\n" for line in map(dumped, items))


def dumped(value):
    """JSON as the Elasticsearch client writes it; text goes as it is."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    return json.dumps(value, default=plain, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def plain(value):
    """What JSON does not know, as the Elasticsearch client writes it."""
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    if isinstance(value, (uuid.UUID, decimal.Decimal)):
        return str(value) if isinstance(value, uuid.UUID) else float(value)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8")
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    for name in ("tolist", "item", "to_dict"):
        if hasattr(value, name):
            return getattr(value, name)()
    raise TypeError(f"a parameter of the type [{type(value).__module__}.{type(value).__qualname__}] has no form in JSON")
