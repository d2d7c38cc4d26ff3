"""Runs the plugin's runners as Rally's driver does, and says what came of it in Rally's words."""

import inspect
import io
import json
import types

import limber_schedulers
import limber_sources
from limber_errors import PluginError


class Opened:
    """One client's part in one task: its parameters, its scheduler, and the runner if the plugin has it."""

    def __init__(self, registry, track, header):
        self.task = find_task(track, header["task"])
        made = registry.__dict__.setdefault("made", {})
        # One source a task and process, as in Rally; its partitions may share what they want.
        if self.task.name not in made:
            made[self.task.name] = limber_sources.source_of(registry, track, self.task)
        partition = made[self.task.name].partition(header["client"], header["clients"])
        self.source = limber_sources.Source(partition, self.task)
        self.scheduler = limber_schedulers.scheduler_of(registry, self.task, partition)
        self.runner = None
        if header["runs"]:
            self.runner = registry.runners.get(self.task.operation.type) or core_runner(registry, self.task.operation.type)

    def described(self):
        described = {"infinite": self.source.is_infinite, "completes": False}
        if self.scheduler is not None:
            described["scheduler"] = "simple" if self.scheduler.is_simple else "regular"
        if self.runner is not None:
            described["completes"] = completion(self.runner)[0] is not None
        return described


def find_task(track, name):
    for element in track.selected_challenge_or_default.schedule:
        for task in element:
            if task.name == name:
                return task
    raise PluginError(f"the track has no task [{name}] any more")


def core_runner(registry, operation_type):
    """Rally's own runner for an operation type whose parameters come from the plugin."""
    from esrally.driver import runner

    if registry.is_esrally_installed and not registry.__dict__.get("has_core_runners"):
        runner.register_default_runners()
        registry.has_core_runners = True
    return runner.runner_for(operation_type)


def unwrapped(runner):
    delegate = getattr(runner, "delegate", None)
    return unwrapped(delegate) if delegate else runner


def completion(runner):
    """(completed, percent_completed) of runners that have both, else two times `None`."""
    inner = unwrapped(runner)
    if hasattr(inner, "completed") and hasattr(inner, "percent_completed"):
        return inner.completed, inner.percent_completed
    return None, None


async def execute(opened, clients):
    """Calls the runner once. The answer holds weight, unit and meta data, or how the request failed."""
    import elasticsearch

    runner, params = opened.runner, opened.source.kept
    is_multi_cluster = getattr(unwrapped(runner), "multi_cluster", None) is not None
    es = clients if is_multi_cluster or is_rallys(runner) else clients["default"]
    try:
        returned = await called(runner, es, params)
    except elasticsearch.TransportError as error:
        answer = {"failure": transport_failure(error, elasticsearch)}
    except elasticsearch.ApiError as error:
        answer = {"failure": api_failure(error)}
    except KeyError as error:
        raise PluginError(
            f"Cannot execute [{described(runner)}]. Provided parameters are: {list(params)}. Error: [{error}]."
        ) from error
    else:
        answer = counted(returned)
    completed, percent = completion(runner)
    answer["completed"] = bool(completed)
    answer["progress"] = percent if isinstance(percent, (int, float)) else None
    return answer


def is_rallys(runner):
    """Whether the runner is one of Rally's registered ones, which picks its client itself."""
    return hasattr(runner, "client_extractor") or type(runner).__name__ in ("NoCompletion", "WithCompletion")


async def called(runner, es, params):
    if isinstance(runner, types.FunctionType) or not (hasattr(runner, "__aenter__") and hasattr(runner, "__aexit__")):
        return await awaited(runner(es, params))
    async with runner:
        return await awaited(runner(es, params))


async def awaited(value):
    return await value if inspect.isawaitable(value) else value


def described(runner):
    name = getattr(runner, "__name__", None) or str(runner)
    kind = "context-manager enabled " if hasattr(runner, "__aenter__") else ""
    return f"user-defined {kind}runner for [{name}]"


def counted(returned):
    if isinstance(returned, tuple) and len(returned) == 2:
        weight, unit, meta = returned[0], returned[1], {}
    elif isinstance(returned, dict):
        meta = dict(returned)
        weight, unit = meta.pop("weight", 1), meta.pop("unit", "ops")
    else:
        weight, unit, meta = 1, "ops", {}
    if weight is None or isinstance(weight, bool) or not isinstance(weight, (int, float)) or weight < 0:
        raise PluginError(f"the runner gave the weight [{weight!r}], which is no number")
    took, throughput = meta.get("took"), meta.get("throughput")
    # What an error says, and what Limber counts itself, is no meta data of the sample.
    told = ("success", "throughput", "error-type", "error-description", "http-status", "dependent_timing")
    return {
        "meta": {name: shown(value) for name, value in meta.items() if name not in told},
        "throughput": throughput if isinstance(throughput, (int, float)) else None,
        "weight": int(weight),
        "unit": str(unit),
        "success": bool(meta.get("success", True)),
        "took_ms": took if isinstance(took, (int, float)) else None,
        "error_type": text(meta.get("error-type")),
        "error_description": text(meta.get("error-description")),
        "http_status": meta.get("http-status") if isinstance(meta.get("http-status"), int) else None,
    }


def shown(value):
    """A value of the meta data as JSON; what has no form there as its text."""
    try:
        return json.loads(json.dumps(value, default=limber_sources.plain))
    except (TypeError, ValueError):
        return str(value)


def text(value):
    return None if value is None else str(value)


def transport_failure(error, elasticsearch):
    if isinstance(error, elasticsearch.ConnectionTimeout):
        return {"kind": "timeout"}
    # Only a lost connection itself, none of the kinds derived from it.
    kind = "connection" if type(error) is elasticsearch.ConnectionError else "transport"
    return {"kind": kind, "description": str(error.message)}


def api_failure(error):
    message = readable(error.body) if isinstance(error.body, (bytes, io.BytesIO)) else readable(error.error)
    info = readable(error.info)
    description = f"{message} ({info})" if info else message
    return {"kind": "api", "status": error.status_code, "description": description}


def readable(value):
    if isinstance(value, io.BytesIO):
        value = value.getvalue()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace") or "None"
    return "" if value in (None, {}, "") else str(value)
