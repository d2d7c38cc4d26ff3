"""A track's objects as parameter sources, schedulers and track processors see them."""

import collections
import re

from esrally import exceptions

__all__ = [
    "Challenge", "ComponentTemplate", "DataStream", "DocumentCorpus", "Documents", "Index", "IndexTemplate", "Operation",
    "Parallel", "Task", "Throughput", "Track",
]  # fmt: skip


class Named:
    """Equal and shown by name."""

    def __eq__(self, other):
        return isinstance(other, type(self)) and self.name == other.name

    def __hash__(self):
        return hash(self.name)

    def __str__(self):
        return self.name

    def __repr__(self):
        return ", ".join(f"{name} = [{value!r}]" for name, value in vars(self).items())


class Target(Named):
    def matches(self, pattern):
        return pattern in (None, "_all", "*", self.name)


class Index(Target):
    def __init__(self, name, body=None, types=None):
        self.name = name
        self.body = {} if body is None else body
        self.types = [] if types is None else types


class DataStream(Target):
    def __init__(self, name):
        self.name = name


class IndexTemplate(Named):
    def __init__(self, name, pattern, content, delete_matching_indices=False):
        self.name = name
        self.pattern = pattern
        self.content = content
        self.delete_matching_indices = delete_matching_indices


class ComponentTemplate(Named):
    def __init__(self, name, content):
        self.name = name
        self.content = content


class Documents:
    SOURCE_FORMAT_BULK = "bulk"

    def __init__(
        self,
        source_format,
        document_file=None,
        document_archive=None,
        base_url=None,
        includes_action_and_meta_data=False,
        number_of_documents=0,
        compressed_size_in_bytes=0,
        uncompressed_size_in_bytes=0,
        target_index=None,
        target_data_stream=None,
        target_type=None,
        meta_data=None,
    ):
        given = {name: value for name, value in locals().items() if name not in ("self", "meta_data", "__class__")}
        for name, value in given.items():
            try:
                setattr(self, name, value)
            except AttributeError:
                # A plugin's own kind of documents, which works the value out.
                pass
        self.meta_data = meta_data or {}

    @property
    def is_bulk(self):
        return self.source_format == self.SOURCE_FORMAT_BULK

    @property
    def number_of_lines(self):
        return self.number_of_documents * 2 if self.includes_action_and_meta_data else self.number_of_documents

    def has_compressed_corpus(self):
        return self.document_archive is not None

    def has_uncompressed_corpus(self):
        return self.document_file is not None

    def __hash__(self):
        return hash((self.document_file, self.target_index, self.target_data_stream))

    def __eq__(self, other):
        return isinstance(other, type(self)) and vars(self) == vars(other)


class DocumentCorpus(Named):
    def __init__(self, name, documents=None, meta_data=None):
        self.name = name
        self.documents = documents or []
        self.meta_data = meta_data or {}

    def number_of_documents(self, source_format):
        return sum(one.number_of_documents for one in self.documents if one.source_format == source_format)

    def filter(self, source_format=None, target_indices=None, target_data_streams=None):
        def is_wanted(documents):
            return (
                (not source_format or documents.source_format == source_format)
                and (not target_indices or documents.target_index in target_indices)
                and (not target_data_streams or documents.target_data_stream in target_data_streams)
            )

        return DocumentCorpus(self.name, list(filter(is_wanted, self.documents)), dict(self.meta_data))

    def union(self, other):
        if self.name != other.name or self.meta_data != other.meta_data:
            raise exceptions.RallyAssertionError(f"Corpora differ: [{self.name}] and [{other.name}].")
        if self is other:
            return self
        return DocumentCorpus(self.name, list(set(self.documents) | set(other.documents)), dict(self.meta_data))


class Track(Named):
    def __init__(
        self,
        name,
        description=None,
        meta_data=None,
        challenges=None,
        indices=None,
        data_streams=None,
        templates=None,
        composable_templates=None,
        component_templates=None,
        corpora=None,
        dependencies=None,
        has_plugins=False,
        root=None,
    ):
        self.name = name
        self.description = description or ""
        self.meta_data = meta_data or {}
        self.challenges = challenges or []
        self.indices = indices or []
        self.data_streams = data_streams or []
        self.templates = templates or []
        self.composable_templates = composable_templates or []
        self.component_templates = component_templates or []
        self.corpora = corpora or []
        self.dependencies = dependencies or []
        self.has_plugins = has_plugins
        self.root = root

    @property
    def default_challenge(self):
        return next((one for one in self.challenges if one.default), None)

    @property
    def selected_challenge(self):
        return next((one for one in self.challenges if one.selected), None)

    @property
    def selected_challenge_or_default(self):
        return self.selected_challenge or self.default_challenge

    def find_challenge_or_default(self, name):
        return self.find_challenge(name) if name else self.default_challenge

    def find_challenge(self, name):
        for challenge in self.challenges:
            if challenge.name == name:
                return challenge
        raise exceptions.InvalidName(f"Unknown challenge [{name}] for track [{self.name}]")

    @property
    def number_of_documents(self):
        return sum(corpus.number_of_documents(Documents.SOURCE_FORMAT_BULK) for corpus in self.corpora)

    def index_names(self):
        return [index.name for index in self.indices]

    def data_stream_names(self):
        return [stream.name for stream in self.data_streams]


class Challenge(Named):
    def __init__(
        self,
        name,
        description=None,
        user_info=None,
        default=False,
        selected=False,
        auto_generated=False,
        parameters=None,
        meta_data=None,
        schedule=None,
    ):
        self.name = name
        self.description = description
        self.user_info = user_info
        self.default = default
        self.selected = selected
        self.auto_generated = auto_generated
        self.parameters = parameters if parameters else {}
        self.meta_data = meta_data if meta_data else {}
        self.schedule = schedule if schedule else []

    def prepend_tasks(self, tasks):
        self.schedule = tasks + self.schedule

    def remove_task(self, task):
        self.schedule.remove(task)


class Parallel:
    def __init__(self, tasks, clients=None):
        self.tasks = tasks
        self._clients = clients
        self.nested = True

    @property
    def clients(self):
        return self._clients if self._clients is not None else sum(task.clients for task in self.tasks)

    def remove_task(self, task):
        self.tasks.remove(task)

    def __iter__(self):
        return iter(self.tasks)


Throughput = collections.namedtuple("Throughput", ["value", "unit"])


class Task(Named):
    THROUGHPUT_PATTERN = re.compile(r"(?P<value>(\d*\.)?\d+)\s(?P<unit>\w+/s)")

    def __init__(
        self,
        name,
        operation,
        tags=None,
        meta_data=None,
        warmup_iterations=None,
        iterations=None,
        warmup_time_period=None,
        time_period=None,
        ramp_up_time_period=None,
        clients=1,
        completes_parent=False,
        any_completes_parent=False,
        schedule=None,
        params=None,
    ):
        self.name = name
        self.operation = operation
        self.tags = [tags] if isinstance(tags, str) else tags or []
        self.meta_data = meta_data or {}
        self.warmup_iterations = warmup_iterations
        self.iterations = iterations
        self.warmup_time_period = warmup_time_period
        self.time_period = time_period
        self.ramp_up_time_period = ramp_up_time_period
        self.clients = clients
        self.completes_parent = completes_parent
        self.any_completes_parent = any_completes_parent
        self.schedule = schedule
        self.params = params or {}
        self.nested = False

    @property
    def target_throughput(self):
        throughput, interval = self.params.get("target-throughput"), self.params.get("target-interval")
        if interval:
            return Throughput(1 / float(interval), "ops/s")
        if isinstance(throughput, str):
            found = self.THROUGHPUT_PATTERN.match(throughput)
            if not found:
                raise exceptions.InvalidSyntax(f"Task [{self}] specifies invalid target throughput [{throughput}].")
            return Throughput(float(found.group("value")), found.group("unit"))
        return Throughput(float(throughput), "ops/s") if throughput else None

    def __iter__(self):
        return iter([self])


class Operation(Named):
    def __init__(self, name, operation_type, meta_data=None, params=None, param_source=None):
        self.name = name
        self.type = operation_type
        self.meta_data = meta_data or {}
        self.params = {} if params is None else params
        self.param_source = param_source

    @property
    def include_in_reporting(self):
        return self.params.get("include-in-reporting", True)

    @property
    def run_on_serverless(self):
        return self.params.get("run-on-serverless")
