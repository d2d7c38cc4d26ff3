"""Imports a track's `track.py` and collects what it registers.

The modules of `esrally` that plugins import come from the shim beside this file. A plugin that needs more of it gets the
installed package, if there is one: then its modules are imported instead and the plugin is loaded anew.
"""

import importlib
import importlib.util
import inspect
import os
import sys

from limber_errors import PluginError

RALLY_VERSION = "2.13.0"


class Registry:
    """What Rally hands to `register(registry)`."""

    def __init__(self, folder):
        self.folder = folder
        self.param_sources = {}
        self.runners = {}
        self.schedulers = {}
        self.track_processors = []
        self.is_esrally_installed = False

    @property
    def meta_data(self):
        return {"rally_version": RALLY_VERSION, "async_runner": True}

    def register_param_source(self, name, param_source):
        if not inspect.isfunction(param_source) and not inspect.isclass(param_source):
            raise PluginError(f"the parameter source [{name}] must be a function or a class, not [{param_source!r}]")
        self.param_sources[name] = param_source

    def register_runner(self, name, runner, **kwargs):
        if not kwargs.get("async_runner", False):
            raise PluginError(
                f"the runner [{name}] is not registered with async_runner=True, which Rally has asked for since its version 2"
            )
        self.runners[getattr(name, "to_hyphenated_string", lambda: name)()] = runner

    def register_scheduler(self, name, scheduler):
        if name in self.schedulers or name in ("deterministic", "poisson"):
            raise PluginError(f"a scheduler with the name [{name}] is registered already")
        self.schedulers[name] = scheduler

    def register_track_processor(self, processor):
        self.track_processors.append(processor)

    def register_validator(self, challenge, validator):
        """Validators of Rally's main branch look at results; Limber keeps none of them."""

    def described(self):
        return {
            "param_sources": sorted(self.param_sources),
            "runners": sorted(self.runners),
            "schedulers": sorted(self.schedulers),
            "track_processors": len(self.track_processors),
            "esrally": "installed" if self.is_esrally_installed else "shim",
        }


def load(folder, shims):
    """Loads the plugin of the track in `folder` and returns its registry."""
    use_elasticsearch(shims)
    sys.path.insert(0, shims)
    # Plugins import their neighbours by the track's name.
    parent = os.path.dirname(os.path.abspath(folder))
    sys.path.insert(0, parent)
    before = set(sys.modules)
    try:
        return registered(folder)
    except PluginError:
        raise
    except (ImportError, AttributeError) as error:
        if not is_about_esrally(error):
            raise missing(error, folder) from error
        first = error
    for name in set(sys.modules) - before:
        del sys.modules[name]
    sys.path.remove(shims)
    importlib.invalidate_caches()
    if importlib.util.find_spec("esrally") is None:
        raise PluginError(
            f"the plugin [{os.path.join(folder, 'track.py')}] needs more of esrally than Limber brings: {first}. "
            f"Install it with [{sys.executable} -m pip install esrally]."
        ) from first
    try:
        registry = registered(folder)
    except (ImportError, AttributeError) as error:
        raise missing(error, folder) from error
    registry.is_esrally_installed = True
    return registry


def use_elasticsearch(shims):
    """The installed client of a version that has a transport of its own, or else the shim's few names of it."""
    try:
        import elasticsearch

        if elasticsearch.__version__[0] >= 8:
            return
    except Exception:
        pass
    for name in [name for name in sys.modules if name.split(".")[0] == "elasticsearch"]:
        del sys.modules[name]
    sys.path.insert(0, os.path.join(os.path.dirname(shims), "elasticsearch_shim"))


def registered(folder):
    name = os.path.basename(os.path.abspath(folder)) + ".track"
    spec = importlib.util.spec_from_file_location(name, os.path.join(folder, "track.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    if not hasattr(module, "register"):
        raise PluginError(f"the plugin [{module.__file__}] has no function register(registry)")
    registry = Registry(folder)
    module.register(registry)
    return registry


def is_about_esrally(error):
    return "esrally" in (getattr(error, "name", None) or "") or "esrally" in str(error)


def missing(error, folder):
    """A module that the plugin imports and that is not there, in words that say what to do."""
    name = getattr(error, "name", None)
    if not isinstance(error, ModuleNotFoundError) or name is None:
        return error
    return PluginError(
        f"the plugin [{os.path.join(folder, 'track.py')}] imports [{name}], which [{sys.executable}] does not have. "
        f"Install it with [{sys.executable} -m pip install {PACKAGES.get(name.split('.')[0], name.split('.')[0])}], "
        "or name a Python that has it with --python."
    )


# Packages whose name is not that of their module.
PACKAGES = {"yaml": "pyyaml", "bs4": "beautifulsoup4", "pytrec_eval": "pytrec_eval-terrier", "sklearn": "scikit-learn"}
