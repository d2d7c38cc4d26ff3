"""The names that the server's own source tables have: what can be asked, and which words its parsers know."""

import functools
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
CRATES = os.path.join(ROOT, "crates")
WORD = re.compile(r'"([a-z_][a-z_.]{1,40})"')


def source(*path):
    with open(os.path.join(CRATES, *path)) as file:
        return file.read().split("#[cfg(test)]\nmod tests {")[0]


def sources(*folder):
    for base, _, files in sorted(os.walk(os.path.join(CRATES, *folder))):
        for file in sorted(files):
            if file.endswith(".rs") and file != "tests.rs":
                with open(os.path.join(base, file)) as opened:
                    yield opened.read().split("#[cfg(test)]\nmod tests {")[0]


def table(text, start):
    """First strings of the rows of the table that begins with `start`."""
    rows = text.split(start, 1)[1].split("\n];", 1)[0]
    return re.findall(r'^\s+(?:\w+\()?\(?"([a-z_]+)"', rows, re.M)


@functools.cache
def queries():
    return table(source("search", "src", "query", "table.rs"), "QUERIES: ")


@functools.cache
def aggregations():
    return table(source("search", "src", "aggregation", "table.rs"), "AGGREGATIONS: ")


@functools.cache
def processors():
    return table(source("engine", "src", "ingest", "processor", "mod.rs"), "[")


@functools.cache
def filters():
    return table(source("mapping", "src", "analysis", "filter", "mod.rs"), "FILTERS: ")


@functools.cache
def tokenizers():
    return re.findall(r'name: "([a-z_]+)"|^\s+\w+\("([a-z_]+)"', source("mapping", "src", "analysis", "tokenizer", "mod.rs"), re.M)


@functools.cache
def field_types():
    found = []
    for text in sources("mapping", "src", "field_type"):
        found += re.findall(r"fn name\(&self\) -> &'static str \{\s+\"([a-z_]+)\"", text)
    return sorted(set(found)) + ["long", "integer", "short", "byte", "double", "float", "half_float", "long_range", "date_range", "ip_range", "nested", "object", "alias"]


@functools.cache
def index_settings():
    return re.findall(r'row\(\s*"(index\.[a-z_.]+\*?)"', source("engine", "src", "settings", "index_table.rs"))


@functools.cache
def cluster_settings():
    return re.findall(r'row\(\s*"([a-z_.]+)"', source("engine", "src", "settings", "cluster.rs"))


@functools.cache
def routes():
    """Paths of all endpoints."""
    found = set()
    for text in sources("limber", "src", "rest"):
        found.update(re.findall(r'"(/[_{][^"? ]*)"', text))
    return sorted(found)


@functools.cache
def words(*folder):
    """Words that the parsers of a folder know: names of parameters, mostly."""
    found = set()
    for text in sources(*folder):
        found.update(WORD.findall(text))
    return sorted(word for word in found if "exception" not in word)


def show():
    """Prints how many names each table has. Returns 1 if one has none, because the code has moved, otherwise 0."""
    all_tables = (queries, aggregations, processors, filters, tokenizers, field_types, index_settings, cluster_settings, routes)
    counts = {names.__name__: len(names()) for names in all_tables}
    print("grammar:", ", ".join(f"{count} {name}" for name, count in counts.items()))
    return 0 if all(counts.values()) else 1
