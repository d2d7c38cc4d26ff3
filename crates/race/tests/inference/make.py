#!/usr/bin/env python3
"""Writes fixtures.json: samples, and what scipy and numpy say about them.

Needs scipy (recorded with 1.17). Ties: scipy counts out all arrangements (PermutationMethod without a limit).
"""
import json
import pathlib

import numpy as np
from scipy import stats

random = np.random.default_rng(5)


def case(a, b):
    a, b = [float(x) for x in a], [float(x) for x in b]
    pooled = a + b
    has_ties = len(set(pooled)) < len(pooled)
    if len(pooled) > 100:
        method = "asymptotic"
    elif has_ties:
        method = stats.PermutationMethod(n_resamples=np.inf)
    else:
        method = "exact"
    differences = np.subtract.outer(b, a)
    return {
        "a": a,
        "b": b,
        "p": stats.mannwhitneyu(a, b, alternative="two-sided", method=method).pvalue,
        "shift": float(np.median(differences)),
        "delta": float(np.mean(np.sign(differences))),
    }


cases = [
    # Hollander and Wolfe 1973, example 4.1: permeability of the membrane at term and earlier.
    case([0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46], [1.15, 0.88, 0.90, 0.74, 1.21]),
    case([1, 2, 3], [4, 5, 6]),
    case([1, 1, 2, 3, 3], [2, 3, 3, 4, 5]),
    case([0, 0, 0, 0, 1], [0, 1, 1, 1, 1]),
    *[case(np.round(random.normal(10, 1, n), 3), np.round(random.normal(10 + d, 1, m), 3))
      for n, m, d in [(4, 4, 1), (5, 5, 2), (6, 9, 0.5), (10, 10, 0), (20, 25, 0.7)]],
    *[case(random.integers(0, 5, n), random.integers(0 + d, 5 + d, n)) for n, d in [(6, 0), (8, 1), (9, 2)]],
    case(np.round(random.normal(0, 1, 60), 3), np.round(random.normal(0.4, 1, 70), 3)),
    case(random.integers(0, 9, 80), random.integers(1, 10, 60)),
]
p = [float(x) for x in np.round(random.uniform(0, 0.2, 12) ** 2, 6)]
fixtures = {
    "cases": cases,
    "correction": {"p": p, "benjamini_hochberg": [float(x) for x in stats.false_discovery_control(p)]},
}
target = pathlib.Path(__file__).with_name("fixtures.json")
target.write_text(json.dumps(fixtures, indent=1) + "\n")
