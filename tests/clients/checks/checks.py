"""Checks of Python clients: each decorated function is run at once and told as `ok` or `not ok`."""
import asyncio
import inspect
import traceback


def check(function):
    title = function.__name__.replace("_", " ")
    try:
        if inspect.iscoroutinefunction(function):
            asyncio.run(function())
        else:
            function()
        print(f"ok {title}", flush=True)
    except Exception:
        print(f"not ok {title}\n{traceback.format_exc()}", flush=True)
    return function


def equal(found, expected):
    assert found == expected, f"{found!r} is not {expected!r}"
