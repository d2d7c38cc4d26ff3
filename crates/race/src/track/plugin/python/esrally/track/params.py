"""Base classes of parameter sources."""

from enum import Enum

from esrally import exceptions
from esrally.utils import io


class ParamSource:
    """Gives the operation's own parameters, to every client the same, for ever."""

    def __init__(self, track, params, **kwargs):
        self.track = track
        self._params = params
        self.kwargs = kwargs

    def partition(self, partition_index, total_partitions):
        return self

    @property
    def infinite(self):
        return self.size() is None

    def size(self):
        return None

    def params(self):
        return self._params

    def _client_params(self):
        """Parameters that concern the client and not the operation."""
        return {name: self._params.get(name) for name in ("request-timeout", "headers", "opaque-id")}


class IndexIdConflict(Enum):
    NoConflicts = 0
    SequentialConflicts = 1
    RandomConflicts = 2


class CreateTemplateParamSource(ParamSource):
    """The track's templates of one kind, or the operation's own `template` and `body`."""

    def __init__(self, track, params, templates, **kwargs):
        super().__init__(track, params, **kwargs)
        self.request_params = params.get("request-params", {})
        self.template_definitions = []
        if templates:
            wanted, settings = params.get("template"), params.get("settings")
            for template in templates:
                if wanted and template.name != wanted:
                    continue
                body = template.content
                if body and "template" in body and settings:
                    merged(body["template"].setdefault("settings", {}), settings)
                self.template_definitions.append((template.name, body))
        elif "template" in params and "body" in params:
            self.template_definitions.append((params["template"], params["body"]))
        else:
            raise exceptions.InvalidSyntax(
                "Please set the properties 'template' and 'body' for the operation or declare templates in the track"
            )

    def params(self):
        return {**self._client_params(), "templates": self.template_definitions, "request-params": self.request_params}


def merged(into, other):
    for name, value in other.items():
        if isinstance(value, dict) and isinstance(into.get(name), dict):
            merged(into[name], value)
        else:
            into[name] = value


class CreateComposableTemplateParamSource(CreateTemplateParamSource):
    def __init__(self, track, params, **kwargs):
        super().__init__(track, params, track.composable_templates, **kwargs)


class CreateComponentTemplateParamSource(CreateTemplateParamSource):
    def __init__(self, track, params, **kwargs):
        super().__init__(track, params, track.component_templates, **kwargs)


class Slice:
    """A range of lines of a file, read in pieces of `bulk_size` lines."""

    def __init__(self, source_class, offset, number_of_lines):
        self.source_class = source_class
        self.source = None
        self.offset = offset
        self.number_of_lines = number_of_lines
        self.current_line = 0
        self.bulk_size = None

    def open(self, file_name, mode, bulk_size):
        self.bulk_size = bulk_size
        self.source = self.source_class(file_name, mode).open()
        io.skip_lines(file_name, self.source, self.offset)
        return self

    def close(self):
        self.source.close()
        self.source = None

    def __iter__(self):
        return self

    def __next__(self):
        left = self.number_of_lines - self.current_line
        lines = self.source.readlines(min(self.bulk_size, left)) if left > 0 else []
        if not lines:
            raise StopIteration
        self.current_line += len(lines)
        return lines
