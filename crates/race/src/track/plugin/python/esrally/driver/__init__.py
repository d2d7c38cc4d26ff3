from esrally.driver import runner, scheduler  # noqa: F401
