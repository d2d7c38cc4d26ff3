"""Errors that are told to the user as they are, without a traceback."""


class PluginError(Exception):
    pass
