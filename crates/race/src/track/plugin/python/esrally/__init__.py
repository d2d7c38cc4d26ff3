"""The modules of Rally that track plugins import, as far as Limber has them: written for Limber, with Rally's names.

What a plugin needs beyond them is taken from the package esrally, if that is installed (`limber_loading.py`).
"""

from esrally import exceptions, utils  # noqa: F401
