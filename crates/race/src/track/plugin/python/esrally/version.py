"""The version of Rally whose names these are."""


def release_version():
    return "2.13.0"
