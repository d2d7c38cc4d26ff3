#!/usr/bin/env python3
"""Holds a report of the REST test runner against the list of tests that must pass.

compare.py REPORT.json PASSING.txt [--update]
"""
import json
import sys


def main():
    report_path, list_path = sys.argv[1:3]
    update = "--update" in sys.argv[3:]
    with open(report_path, encoding="utf-8") as file:
        tests = {test["id"]: test["status"] for test in json.load(file)["tests"]}
    passed = sorted(name for name, status in tests.items() if status in ("pass", "passed", "ok"))
    if update:
        with open(list_path, "w", encoding="utf-8") as file:
            file.write("".join(f"{name}\n" for name in passed))
    with open(list_path, encoding="utf-8") as file:
        listed = {line.strip() for line in file if line.strip() and not line.startswith("#")}
    fallen = sorted(listed - set(passed))
    for name in fallen:
        print(f"conformance: no longer passes: {name} ({tests.get(name, 'did not run')})")
    risen = set(passed) - listed
    if risen:
        print(f"conformance: {len(risen)} more pass than are listed; add them with tests/conformance/run --update")
    print(f"conformance: {len(passed)} of {len(tests)} tests pass, {len(listed)} are required")
    print(f"{len(listed) - len(fallen)} passed, {len(fallen)} failed")
    sys.exit(1 if fallen else 0)


main()
