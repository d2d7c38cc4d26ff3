"""For Rally: the parameter sources of the tasks `large_*`, which `limber race` has built in."""

import pathlib
import random


def terms_source(query_around):
    """Searches for all names of terms.txt; a changing last term keeps caches out."""

    class TermsSource:
        infinite = True

        def __init__(self, track, params, **kwargs):
            self.cache = params.get("cache")
            self.terms = pathlib.Path(__file__).with_name("terms.txt").read_text(encoding="utf-8").splitlines()

        def partition(self, partition_index, total_partitions):
            return self

        def params(self):
            terms = {"terms": {"name.raw": [*self.terms, str(random.randint(1, 100))]}}
            search = {"body": {"query": query_around(terms)}, "index": None}
            if self.cache is not None:
                search["cache"] = self.cache
            return search

    return TermsSource


def register(registry):
    def feature(name):
        return [{"term": {"feature_class.raw": name}}]

    registry.register_param_source("pure-terms-query-source", terms_source(lambda terms: terms))
    registry.register_param_source(
        "filtered-terms-query-source",
        terms_source(lambda terms: {"bool": {"must": feature("T"), "filter": [terms]}}))
    registry.register_param_source(
        "prohibited-terms-query-source",
        terms_source(lambda terms: {"bool": {"must": feature("A"), "must_not": [terms]}}))
