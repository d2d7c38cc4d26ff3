"""Rally's exceptions."""


class RallyError(Exception):
    def __init__(self, message=None, cause=None):
        super().__init__(message, cause)
        self.message = message
        self.cause = cause

    def __str__(self):
        return str(self.message)

    @property
    def full_message(self):
        return str(self.message) if self.cause is None else f"{self.message}: {self.cause}"


class LaunchError(RallyError):
    pass


class SystemSetupError(RallyError):
    pass


class RallyAssertionError(RallyError):
    pass


class RallyTaskAssertionError(RallyAssertionError):
    pass


class ConfigError(RallyError):
    pass


class DataError(RallyError):
    pass


class SupplyError(RallyError):
    pass


class BuildError(RallyError):
    pass


class InvalidSyntax(RallyError):
    pass


class InvalidName(RallyError):
    pass


class TrackConfigError(RallyError):
    pass


class NotFound(RallyError):
    pass


class UserInterrupted(RallyError):
    pass
