"""For Rally: the parameter source of `query`, which `limber race` has built in."""


class Searches:
    """Takes the operation's `searches` ({"index": ..., "body": ...}) in turn; every client starts at another place."""

    def __init__(self, track, params, **kwargs):
        self.searches = params["searches"]
        self.infinite = True
        self.cache = params.get("cache")
        self.position = 0

    def partition(self, partition_index, total_partitions):
        own = Searches(None, {"searches": self.searches, "cache": self.cache})
        own.position = partition_index * len(self.searches) // total_partitions
        return own

    def params(self):
        search = self.searches[self.position]
        self.position = (self.position + 1) % len(self.searches)
        params = {"index": search["index"], "body": search["body"]}
        if self.cache is not None:
            params["cache"] = self.cache
        return params


def register(registry):
    registry.register_param_source("limber-searches", Searches)
