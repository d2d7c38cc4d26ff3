from esrally.utils import io, net  # noqa: F401
