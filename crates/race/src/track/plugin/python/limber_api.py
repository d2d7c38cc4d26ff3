"""Elasticsearch's interfaces as calls, for plugins where the package `elasticsearch` is not installed.

One line an interface in `APIS`: its name as in the Elasticsearch client, what becomes of a body, method and paths. The
first path whose parts are all given is taken, the longest first. What is not in the table says so by name.
"""

import io
import re
import urllib.parse

import elasticsearch
import limber_sources
from limber_clients import Contexts, compatible, exchanged, parsed
from limber_errors import PluginError

# name | body | method | paths. Body: "-" none; "*" what is no query parameter; "=name" that argument is the body; "@" lines.
APIS = """
info|-|GET|/
ping|-|HEAD|/
bulk|@operations|PUT|/_bulk|/{index}/_bulk
count|*|POST|/_count|/{index}/_count
create|=document|PUT|/{index}/_create/{id}
delete|-|DELETE|/{index}/_doc/{id}
delete_by_query|*|POST|/{index}/_delete_by_query
exists|-|HEAD|/{index}/_doc/{id}
explain|*|POST|/{index}/_explain/{id}
field_caps|*|POST|/_field_caps|/{index}/_field_caps
get|-|GET|/{index}/_doc/{id}
get_source|-|GET|/{index}/_source/{id}
index|=document|PUT|/{index}/_doc/{id}
index|=document|POST|/{index}/_doc
mget|*|POST|/_mget|/{index}/_mget
msearch|@searches|POST|/_msearch|/{index}/_msearch
open_point_in_time|*|POST|/{index}/_pit
close_point_in_time|*|DELETE|/_pit
reindex|*|POST|/_reindex
scroll|*|POST|/_search/scroll
clear_scroll|*|DELETE|/_search/scroll
search|*|POST|/_search|/{index}/_search
terms_enum|*|POST|/{index}/_terms_enum
update|*|POST|/{index}/_update/{id}
update_by_query|*|POST|/{index}/_update_by_query
async_search.submit|*|POST|/_async_search|/{index}/_async_search
async_search.get|-|GET|/_async_search/{id}
async_search.delete|-|DELETE|/_async_search/{id}
cat.indices|-|GET|/_cat/indices|/_cat/indices/{index}
cat.shards|-|GET|/_cat/shards|/_cat/shards/{index}
ccr.follow|*|PUT|/{index}/_ccr/follow
ccr.follow_stats|-|GET|/{index}/_ccr/stats
cluster.get_component_template|-|GET|/_component_template|/_component_template/{name}
cluster.put_component_template|*|PUT|/_component_template/{name}
cluster.delete_component_template|-|DELETE|/_component_template/{name}
cluster.exists_component_template|-|HEAD|/_component_template/{name}
cluster.get_settings|-|GET|/_cluster/settings
cluster.put_settings|*|PUT|/_cluster/settings
cluster.health|-|GET|/_cluster/health|/_cluster/health/{index}
cluster.remote_info|-|GET|/_remote/info
cluster.state|-|GET|/_cluster/state|/_cluster/state/{metric}|/_cluster/state/{metric}/{index}
cluster.stats|-|GET|/_cluster/stats
enrich.put_policy|*|PUT|/_enrich/policy/{name}
enrich.execute_policy|-|PUT|/_enrich/policy/{name}/_execute
enrich.delete_policy|-|DELETE|/_enrich/policy/{name}
eql.search|*|POST|/{index}/_eql/search
esql.query|*|POST|/_query
ilm.put_lifecycle|*|PUT|/_ilm/policy/{name}
ilm.get_lifecycle|-|GET|/_ilm/policy|/_ilm/policy/{name}
ilm.delete_lifecycle|-|DELETE|/_ilm/policy/{name}
ilm.explain_lifecycle|-|GET|/{index}/_ilm/explain
indices.create|*|PUT|/{index}
indices.get|-|GET|/{index}
indices.delete|-|DELETE|/{index}
indices.exists|-|HEAD|/{index}
indices.open|-|POST|/{index}/_open
indices.close|-|POST|/{index}/_close
indices.refresh|-|POST|/_refresh|/{index}/_refresh
indices.flush|-|POST|/_flush|/{index}/_flush
indices.forcemerge|-|POST|/_forcemerge|/{index}/_forcemerge
indices.clear_cache|-|POST|/_cache/clear|/{index}/_cache/clear
indices.stats|-|GET|/_stats|/_stats/{metric}|/{index}/_stats|/{index}/_stats/{metric}
indices.segments|-|GET|/_segments|/{index}/_segments
indices.recovery|-|GET|/_recovery|/{index}/_recovery
indices.disk_usage|-|POST|/{index}/_disk_usage
indices.put_mapping|*|PUT|/{index}/_mapping
indices.get_mapping|-|GET|/_mapping|/{index}/_mapping
indices.put_settings|=settings|PUT|/_settings|/{index}/_settings
indices.get_settings|-|GET|/_settings|/{index}/_settings|/{index}/_settings/{name}
indices.put_alias|*|PUT|/{index}/_alias/{name}
indices.get_alias|-|GET|/_alias|/_alias/{name}|/{index}/_alias|/{index}/_alias/{name}
indices.delete_alias|-|DELETE|/{index}/_alias/{name}
indices.exists_alias|-|HEAD|/_alias/{name}|/{index}/_alias/{name}
indices.update_aliases|*|POST|/_aliases
indices.analyze|*|POST|/_analyze|/{index}/_analyze
indices.rollover|*|POST|/{alias}/_rollover|/{alias}/_rollover/{new_index}
indices.shrink|*|PUT|/{index}/_shrink/{target}
indices.split|*|PUT|/{index}/_split/{target}
indices.clone|*|PUT|/{index}/_clone/{target}
indices.add_block|-|PUT|/{index}/_block/{block}
indices.downsample|=config|POST|/{index}/_downsample/{target_index}
indices.put_template|*|PUT|/_template/{name}
indices.get_template|-|GET|/_template|/_template/{name}
indices.delete_template|-|DELETE|/_template/{name}
indices.exists_template|-|HEAD|/_template/{name}
indices.put_index_template|*|PUT|/_index_template/{name}
indices.get_index_template|-|GET|/_index_template|/_index_template/{name}
indices.delete_index_template|-|DELETE|/_index_template/{name}
indices.exists_index_template|-|HEAD|/_index_template/{name}
indices.create_data_stream|-|PUT|/_data_stream/{name}
indices.get_data_stream|-|GET|/_data_stream|/_data_stream/{name}
indices.delete_data_stream|-|DELETE|/_data_stream/{name}
indices.data_streams_stats|-|GET|/_data_stream/_stats|/_data_stream/{name}/_stats
indices.put_data_lifecycle|*|PUT|/_data_stream/{name}/_lifecycle
ingest.put_pipeline|*|PUT|/_ingest/pipeline/{id}
ingest.get_pipeline|-|GET|/_ingest/pipeline|/_ingest/pipeline/{id}
ingest.delete_pipeline|-|DELETE|/_ingest/pipeline/{id}
ingest.simulate|*|POST|/_ingest/pipeline/_simulate|/_ingest/pipeline/{id}/_simulate
license.get|-|GET|/_license
license.post_start_trial|-|POST|/_license/start_trial
ml.put_datafeed|*|PUT|/_ml/datafeeds/{datafeed_id}
ml.start_datafeed|*|POST|/_ml/datafeeds/{datafeed_id}/_start
ml.stop_datafeed|*|POST|/_ml/datafeeds/{datafeed_id}/_stop
ml.delete_datafeed|-|DELETE|/_ml/datafeeds/{datafeed_id}
ml.get_datafeed_stats|-|GET|/_ml/datafeeds/_stats|/_ml/datafeeds/{datafeed_id}/_stats
ml.put_job|*|PUT|/_ml/anomaly_detectors/{job_id}
ml.open_job|*|POST|/_ml/anomaly_detectors/{job_id}/_open
ml.close_job|*|POST|/_ml/anomaly_detectors/{job_id}/_close
ml.delete_job|-|DELETE|/_ml/anomaly_detectors/{job_id}
ml.get_job_stats|-|GET|/_ml/anomaly_detectors/_stats|/_ml/anomaly_detectors/{job_id}/_stats
ml.put_trained_model|*|PUT|/_ml/trained_models/{model_id}
ml.get_trained_models|-|GET|/_ml/trained_models|/_ml/trained_models/{model_id}
ml.get_trained_models_stats|-|GET|/_ml/trained_models/_stats|/_ml/trained_models/{model_id}/_stats
ml.delete_trained_model|-|DELETE|/_ml/trained_models/{model_id}
ml.start_trained_model_deployment|-|POST|/_ml/trained_models/{model_id}/deployment/_start
ml.stop_trained_model_deployment|*|POST|/_ml/trained_models/{model_id}/deployment/_stop
nodes.info|-|GET|/_nodes|/_nodes/{metric}|/_nodes/{node_id}|/_nodes/{node_id}/{metric}
nodes.stats|-|GET|/_nodes/stats|/_nodes/stats/{metric}|/_nodes/{node_id}/stats|/_nodes/{node_id}/stats/{metric}
nodes.hot_threads|-|GET|/_nodes/hot_threads|/_nodes/{node_id}/hot_threads
searchable_snapshots.mount|*|POST|/_snapshot/{repository}/{snapshot}/_mount
searchable_snapshots.clear_cache|-|POST|/_searchable_snapshots/cache/clear|/{index}/_searchable_snapshots/cache/clear
security.create_api_key|*|PUT|/_security/api_key
security.invalidate_api_key|*|DELETE|/_security/api_key
security.authenticate|-|GET|/_security/_authenticate
security.has_privileges|*|POST|/_security/user/_has_privileges|/_security/user/{user}/_has_privileges
security.put_privileges|=privileges|PUT|/_security/privilege
security.put_role|*|PUT|/_security/role/{name}
security.delete_role|-|DELETE|/_security/role/{name}
security.put_user|*|PUT|/_security/user/{username}
security.delete_user|-|DELETE|/_security/user/{username}
slm.put_lifecycle|*|PUT|/_slm/policy/{policy_id}
slm.execute_lifecycle|-|PUT|/_slm/policy/{policy_id}/_execute
slm.delete_lifecycle|-|DELETE|/_slm/policy/{policy_id}
snapshot.create_repository|=repository|PUT|/_snapshot/{name}
snapshot.delete_repository|-|DELETE|/_snapshot/{name}
snapshot.create|*|PUT|/_snapshot/{repository}/{snapshot}
snapshot.get|-|GET|/_snapshot/{repository}/{snapshot}
snapshot.delete|-|DELETE|/_snapshot/{repository}/{snapshot}
snapshot.restore|*|POST|/_snapshot/{repository}/{snapshot}/_restore
snapshot.status|-|GET|/_snapshot/_status|/_snapshot/{repository}/_status|/_snapshot/{repository}/{snapshot}/_status
sql.query|*|POST|/_sql
tasks.get|-|GET|/_tasks/{task_id}
tasks.list|-|GET|/_tasks
tasks.cancel|-|POST|/_tasks/_cancel|/_tasks/{task_id}/_cancel
transform.put_transform|*|PUT|/_transform/{transform_id}
transform.start_transform|-|POST|/_transform/{transform_id}/_start
transform.stop_transform|-|POST|/_transform/{transform_id}/_stop
transform.get_transform_stats|-|GET|/_transform/{transform_id}/_stats
transform.delete_transform|-|DELETE|/_transform/{transform_id}
"""

# Arguments that stay in the query string where an interface has a body, whatever the interface.
QUERY_PARAMETERS = set(
    """allow_no_indices allow_partial_search_results analyze_wildcard batched_reduce_size ccs_minimize_roundtrips conflicts
    create default_operator dry_run error_trace expand_wildcards filter_path force format human ignore_throttled
    ignore_unavailable include_global keep_alive keep_on_completion lazy lenient master_timeout max_concurrent_searches
    max_concurrent_shard_requests op_type pipeline pre_filter_shard_size preference pretty q refresh request_cache
    requests_per_second require_alias rest_total_hits_as_int routing scroll_size search_type slices storage timeout
    typed_keys wait_for wait_for_active_shards wait_for_completion wait_for_completion_timeout write_index_only""".split()
)
# Arguments of every call that are no part of the request.
TRANSPORT = ("params", "headers", "request_timeout", "ignore", "opaque_id", "api_key", "basic_auth", "bearer_auth")
PART = re.compile(r"\{(\w+)\}")


def table():
    apis = {}
    for line in APIS.strip().splitlines():
        name, body, method, *paths = line.split("|")
        paths.sort(key=lambda path: -len(PART.findall(path)))
        apis.setdefault(name, []).append((body, method, paths))
    return apis


TABLE = table()
NAMESPACES = {name.split(".")[0] for name in TABLE if "." in name}


class Namespace:
    """`es.indices` and the others; also what stands for `IndicesClient(es)`."""

    name = None

    def __init__(self, client, name=None):
        self._client = client
        self._name = name or self.name

    def __getattr__(self, name):
        return self._client._call(f"{self._name}.{name}")


class Elasticsearch(Contexts):
    def __init__(self, calls, protocol, options=None):
        self._calls = calls
        self._protocol = protocol
        self._options = options or {}
        self.is_serverless = False

    def options(self, *, request_timeout=None, ignore_status=None, headers=None, opaque_id=None, **others):
        """A client with other options; what is not given stays."""
        authorizations = {name: others.pop(name) for name in ("api_key", "basic_auth", "bearer_auth") if name in others}
        # Limber's client never repeats a request by itself.
        for name in ("max_retries", "retry_on_status", "retry_on_timeout"):
            others.pop(name, None)
        if others:
            raise TypeError(f"options() has no argument {sorted(others)}")
        options = dict(self._options)
        if request_timeout is not None:
            options["request_timeout"] = request_timeout
        if ignore_status is not None:
            options["ignore_status"] = [ignore_status] if isinstance(ignore_status, int) else list(ignore_status)
        options["headers"] = {**options.get("headers", {}), **(headers or {}), **authorization(authorizations)}
        if opaque_id is not None:
            options["headers"]["x-opaque-id"] = opaque_id
        return Elasticsearch(self._calls, self._protocol, options)

    @property
    def transport(self):
        return self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Namespace(self, name) if name in NAMESPACES else self._call(name)

    def _call(self, name):
        if name not in TABLE:
            raise PluginError(
                f"Limber's own client has no [{name}]: install the package elasticsearch for the Python that runs the plugin, or "
                "let the plugin use perform_request"
            )

        async def call(*args, **kwargs):
            return await self._request(name, args, kwargs)

        return call

    async def _request(self, name, args, kwargs):
        transport = {key: kwargs.pop(key) for key in TRANSPORT if key in kwargs}
        body = kwargs.pop("body", None)
        variants = TABLE[name]
        body_rule, method, paths = variants[0]
        # Positional arguments are the parts of the path.
        kwargs.update(zip(PART.findall(paths[0]), args))
        given = {key: value for key, value in kwargs.items() if value not in (None, "", [])}
        for body_rule, method, paths in variants:
            path = next((path for path in paths if all(part in given for part in PART.findall(path))), None)
            if path is not None:
                break
        else:
            raise TypeError(f"{name}() misses one of {PART.findall(paths[-1])}")
        for part in PART.findall(path):
            path = path.replace("{%s}" % part, urllib.parse.quote(escaped(kwargs.pop(part)), safe=",*-_.~"))
        query, body = divided(body_rule, body, {key.rstrip("_"): value for key, value in kwargs.items() if value is not None})
        query.update(transport.get("params") or {})
        client = self
        options = {key: transport[key] for key in ("request_timeout", "opaque_id", "api_key", "basic_auth") if transport.get(key)}
        if transport.get("ignore") is not None:
            options["ignore_status"] = transport["ignore"]
        if options:
            client = self.options(**options)
        return await client.perform_request(
            method, path, params=query, headers=transport.get("headers"), body=body, is_lines=body_rule.startswith("@")
        )

    async def perform_request(self, method, path, *, params=None, headers=None, body=None, is_lines=False):
        sent = {"accept": "application/json"}
        content = None
        if body is not None:
            is_lines = is_lines or isinstance(body, (list, tuple)) and path.split("?")[0].endswith(("_bulk", "_msearch"))
            sent["content-type"] = "application/x-ndjson" if is_lines else "application/json"
            content = limber_sources.lines(body) if is_lines and isinstance(body, (list, tuple)) else limber_sources.dumped(body)
        for given in (self._options.get("headers"), headers):
            sent.update({name.lower(): value for name, value in (given or {}).items() if value is not None})
        status, answer = await exchanged(
            self._calls, method, with_query(path, params), compatible(sent, self._protocol), content,
            self._options.get("request_timeout"),
        )  # fmt: skip
        if isinstance(status, dict):
            raise transport_error(status)
        return self._checked(method, status, answer)

    def _checked(self, method, status, answer):
        is_raw = Contexts.wants_raw()
        content = answer if is_raw else parsed(answer)
        meta = elasticsearch.ApiResponseMeta(status)
        if method == "HEAD" and status in (200, 404):
            return elasticsearch.HeadApiResponse(meta)
        if not 200 <= status < 299 and status not in self._options.get("ignore_status", ()):
            message = str(content)
            if isinstance(content, dict):
                error = content.get("error", message)
                message = error["type"] if isinstance(error, dict) and "type" in error else error
            raise elasticsearch.HTTP_EXCEPTIONS.get(status, elasticsearch.ApiError)(message, meta, content)
        if is_raw:
            return io.BytesIO(answer)
        return elasticsearch.response(content, meta)


def divided(rule, body, kwargs):
    """(query parameters, body) of a call's arguments."""
    if rule == "-":
        return kwargs, body
    if rule[0] in "=@":
        own = kwargs.pop(rule[1:], None)
        return kwargs, own if body is None else body
    fields = {key: kwargs.pop(key) for key in list(kwargs) if key not in QUERY_PARAMETERS}
    if isinstance(body, dict):
        return kwargs, {**body, **fields}
    if body is not None:
        return {**kwargs, **fields}, body
    return kwargs, fields or None


def with_query(path, params):
    if not params:
        return path
    pairs = (f"{name}={urllib.parse.quote(escaped(value), safe=',*-_.~')}" for name, value in params.items())
    return f"{path}{'&' if '?' in path else '?'}{'&'.join(pairs)}"


def escaped(value):
    if isinstance(value, (list, tuple)):
        return ",".join(escaped(item) for item in value)
    if isinstance(value, bool):
        return str(value).lower()
    return str(limber_sources.plain(value)) if hasattr(value, "isoformat") else str(value)


def authorization(given):
    import base64

    for name, value in given.items():
        if value is None:
            continue
        if name == "bearer_auth":
            return {"authorization": f"Bearer {value}"}
        text = ":".join(value) if isinstance(value, (list, tuple)) else value
        is_encoded = name == "api_key" and isinstance(value, str)
        encoded = text if is_encoded else base64.b64encode(text.encode("utf-8")).decode("ascii")
        return {"authorization": f"{'ApiKey' if name == 'api_key' else 'Basic'} {encoded}"}
    return {}


def transport_error(failure):
    kinds = {"timeout": elasticsearch.ConnectionTimeout, "connection": elasticsearch.ConnectionError}
    return kinds.get(failure["kind"], elasticsearch.TransportError)(failure.get("description", "Connection timed out"))
