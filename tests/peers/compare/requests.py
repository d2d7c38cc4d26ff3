"""A request of the comparison, and the words in which the lists are written."""
import dataclasses, json


@dataclasses.dataclass(frozen=True)
class Request:
    """`POST /index/path?params` with `body`. `pages`: `scroll`, `search_after` or `pit` read up to `page_count` pages, compared as one."""
    index: str
    body: object
    path: str = "_search"
    params: str = ""
    pages: str = ""
    page_count: int = 6

    def url(self):
        return f"/{self.index}/{self.path}" + (f"?{self.params}" if self.params else "")

    def text(self):
        return f"{self.pages + ' of ' if self.pages else ''}POST {self.url()} {json.dumps(self.body)}"


class List:
    """Collects requests."""

    def __init__(self):
        self.requests = []

    def ask(self, index, body, path="_search", **rest):
        self.requests.append(Request(index, body, path, **rest))

    def query(self, index, query, **rest):
        self.ask(index, {"query": query, **rest})

    def aggs(self, index, aggs, query=None, **rest):
        self.ask(index, {"size": 0, "aggs": {"a": aggs}, **({"query": query} if query else {}), **rest})
