"""`from esrally.track import Track, Documents, loader, params, ...`"""

from esrally import exceptions  # noqa: F401  (some plugins look for it here)
from esrally.track.track import *  # noqa: F401,F403
from esrally.track import loader, params  # noqa: F401,E402
