"""`IndicesClient(es)` and its like: the client's parts as classes."""

import limber_api


def __getattr__(name):
    part = name[: -len("Client")]
    if not name.endswith("Client") or part.lower() not in limber_api.NAMESPACES:
        raise AttributeError(f"module 'elasticsearch.client' has no attribute {name!r}")
    return type(name, (limber_api.Namespace,), {"name": part.lower()})
