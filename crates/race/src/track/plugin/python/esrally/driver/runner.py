"""Base classes of runners, and Rally's runners for operation types whose parameters a plugin's source may give in lists."""

import asyncio
import logging
import sys

from esrally import exceptions


class Runner:
    def __init__(self, *args, config=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.logger = logging.getLogger(__name__)
        self.serverless_mode = False
        self.serverless_operator = False

    async def __aenter__(self):
        return self

    async def __call__(self, es, params):
        raise NotImplementedError("abstract operation")

    async def __aexit__(self, exc_type, exc_val, exc_tb):
        return False

    def _default_kw_params(self, params):
        """Arguments of a client's call among an operation's parameters."""
        names = {
            "body": "body",
            "headers": "headers",
            "index": "index",
            "opaque_id": "opaque-id",
            "params": "request-params",
            "request_timeout": "request-timeout",
        }
        return {argument: params[name] for argument, name in names.items() if params.get(name) is not None}

    @staticmethod
    def _transport_request_params(params):
        """(parameters, those of the query string, those of the transport, headers) of an operation."""
        request_params = params.get("request-params", {})
        transport_params = {}
        timeout = params.pop("request-timeout", None)
        if timeout:
            transport_params["request_timeout"] = timeout
        ignored = request_params.pop("ignore", None) or params.pop("ignore", None)
        if ignored:
            transport_params["ignore_status"] = ignored
        headers = params.pop("headers", None) or {}
        opaque_id = params.pop("opaque-id", None)
        if opaque_id:
            headers["x-opaque-id"] = opaque_id
        return params, request_params, transport_params, headers


class Delegator:
    def __init__(self, delegate, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.delegate = delegate


def unwrap(runner):
    delegate = getattr(runner, "delegate", None)
    return unwrap(delegate) if delegate else runner


def mandatory(params, key, op):
    try:
        return params[key]
    except KeyError:
        raise exceptions.DataError(
            f"Parameter source for operation '{op}' did not provide the mandatory parameter '{key}'. "
            f"Add it to your parameter source and try again."
        ) from None


class Retry(Runner, Delegator):
    """Repeats a runner as the parameters retries, retry-until-success, retry-wait-period, retry-on-timeout and
    retry-on-error say."""

    def __init__(self, delegate, retry_until_success=False):
        super().__init__(delegate=delegate)
        self.retry_until_success = retry_until_success

    async def __aenter__(self):
        await self.delegate.__aenter__()
        return self

    async def __call__(self, es, params):
        import elasticsearch

        until_success = params.get("retry-until-success", self.retry_until_success)
        attempts = sys.maxsize if until_success else params.get("retries", 0) + 1
        on_error = until_success or params.get("retry-on-error", False)
        on_timeout = params.get("retry-on-timeout", True)
        for attempt in range(1, attempts + 1):
            is_last = attempt == attempts
            try:
                returned = await self.delegate(es, params)
                is_failed = isinstance(returned, dict) and not returned.get("success", True)
                if is_last or not on_error or not is_failed:
                    return returned
            except elasticsearch.ApiError as error:
                if is_last or not on_timeout or error.status_code != 408:
                    raise
            except elasticsearch.TransportError:
                if is_last or not on_timeout:
                    raise
            await asyncio.sleep(params.get("retry-wait-period", 0.5))

    async def __aexit__(self, exc_type, exc_val, exc_tb):
        return await self.delegate.__aexit__(exc_type, exc_val, exc_tb)

    def __repr__(self):
        return f"retryable {self.delegate!r}"


class PutSettings(Runner):
    async def __call__(self, es, params):
        await es.cluster.put_settings(body=mandatory(params, "body", self))

    def __repr__(self):
        return "put-settings"


class Each(Runner):
    """One request for each item of a list among the parameters."""

    name = parameter = None

    async def __call__(self, es, params):
        items = mandatory(params, self.parameter, self)
        request_params = params.get("request-params") or {}
        for item in items:
            await self.one(es, item, request_params)
        return {"weight": len(items), "unit": "ops", "success": True}

    def __repr__(self):
        return self.name


class CreateIndex(Each):
    name, parameter = "create-index", "indices"

    async def one(self, es, item, params):
        await es.indices.create(index=item[0], body=item[1], params=params)


class CreateDataStream(Each):
    name, parameter = "create-data-stream", "data-streams"

    async def one(self, es, item, params):
        await es.indices.create_data_stream(name=item, params=params)


class CreateIndexTemplate(Each):
    name, parameter = "create-index-template", "templates"

    async def one(self, es, item, params):
        await es.indices.put_template(name=item[0], body=item[1], params=params)


class CreateComposableTemplate(Each):
    name, parameter = "create-composable-template", "templates"

    async def one(self, es, item, params):
        await es.indices.put_index_template(name=item[0], body=item[1], params=params)


class CreateComponentTemplate(Each):
    name, parameter = "create-component-template", "templates"

    async def one(self, es, item, params):
        await es.cluster.put_component_template(name=item[0], body=item[1], params=params)


CORE = {each.name: each() for each in Each.__subclasses__()}


def runner_for(operation_type):
    try:
        return CORE[operation_type]
    except KeyError:
        # In words that make the loader look for the installed package.
        raise exceptions.RallyError(
            f"Limber's own part of esrally has no runner for operation-type [{operation_type}]; install the package esrally "
            "for the Python that runs the plugin"
        ) from None
