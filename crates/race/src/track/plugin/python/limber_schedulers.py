"""Schedulers of plugins: the two kinds that Rally knows, and its two older ones."""

import inspect
import time
import types

from limber_errors import PluginError


def scheduler_of(registry, task, source):
    """The scheduler that the task names, or `None` for built-in ones."""
    if task.schedule not in registry.schedulers:
        return None
    registered = registry.schedulers[task.schedule]
    if isinstance(registered, types.FunctionType):
        return Simple(lambda _task, _throughput: Delegate(registered), task)
    methods = [name for name, _ in inspect.getmembers(registered, inspect.isfunction)]
    parameters = inspect.signature(registered.__init__).parameters
    if len(parameters) >= 2 and "params" in parameters:
        return Regular(registered(task.params), source)
    if all(name in methods for name in ("before_request", "after_request", "next")):
        return Regular(registered(task), source)
    return Simple(registered, task)


class Delegate:
    def __init__(self, function):
        self.next = function


class Simple:
    """Made for a throughput in requests a second and a client; its due times can be told ahead."""

    is_simple = True
    wants_source = False

    def __init__(self, make, task):
        if task.target_throughput is None:
            raise PluginError(f"the scheduler [{task.schedule}] of task [{task.name}] needs a target-throughput")
        self.make = make
        self.task = task
        self.scheduler = None

    def due(self, request):
        if request.get("throughput") is not None:
            self.scheduler = self.make(self.task, request["throughput"])
        due, current = [], request["current"]
        for _ in range(request["count"]):
            current = self.scheduler.next(current)
            due.append(float(current))
        return due


class Regular:
    """Hears of every request; what it does not want to hear it need not have."""

    is_simple = False

    def __init__(self, scheduler, source):
        self.scheduler = scheduler
        self.wants_source = hasattr(scheduler, "parameter_source")
        if self.wants_source:
            scheduler.parameter_source = source

    def due(self, request):
        now = time.perf_counter()
        after = request.get("after")
        if after is not None:
            if hasattr(self.scheduler, "before_request"):
                self.scheduler.before_request(now - after["started_ago_s"])
            if hasattr(self.scheduler, "after_request"):
                self.scheduler.after_request(now - after["ended_ago_s"], after["weight"], after["unit"], after["meta"])
        return [float(self.scheduler.next(request["current"]))]
