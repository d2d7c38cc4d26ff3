"""The names of the Elasticsearch client that plugins use beside `es`, where the package itself is not installed."""

__version__ = (8, 6, 1)


class ApiResponseMeta:
    def __init__(self, status):
        self.status = status
        self.headers = {}


class TransportError(Exception):
    """No answer came."""

    def __init__(self, message="", errors=()):
        super().__init__(message)
        self.message = message
        self.errors = tuple(errors)


class ConnectionError(TransportError):
    pass


class ConnectionTimeout(TransportError):
    pass


class SSLError(ConnectionError):
    pass


class SerializationError(TransportError):
    pass


class ApiError(Exception):
    """An answer with an error status."""

    def __init__(self, message, meta, body, errors=()):
        super().__init__(message)
        self.message = message
        self.meta = meta
        self.body = body
        self.errors = tuple(errors)

    @property
    def status_code(self):
        return self.meta.status

    @property
    def error(self):
        return self.message

    @property
    def info(self):
        return self.body

    def __str__(self):
        return f"{type(self).__name__}({self.status_code}, {self.message!r})"


class UnsupportedProductError(ApiError):
    pass


class BadRequestError(ApiError):
    pass


class AuthenticationException(ApiError):
    pass


class AuthorizationException(ApiError):
    pass


class NotFoundError(ApiError):
    pass


class ConflictError(ApiError):
    pass


RequestError = BadRequestError
HTTP_EXCEPTIONS = {
    400: BadRequestError,
    401: AuthenticationException,
    403: AuthorizationException,
    404: NotFoundError,
    409: ConflictError,
}


class ObjectApiResponse(dict):
    """A JSON object with the answer's status; `body` is the object itself."""

    def __init__(self, body, meta):
        super().__init__(body)
        self.meta = meta

    @property
    def body(self):
        return dict(self)

    raw = body


class ListApiResponse(list):
    def __init__(self, body, meta):
        super().__init__(body)
        self.meta = meta

    @property
    def body(self):
        return list(self)

    raw = body


class TextApiResponse(str):
    def __new__(cls, body, meta):
        made = super().__new__(cls, body)
        made.meta = meta
        return made

    @property
    def body(self):
        return str(self)

    raw = body


class HeadApiResponse:
    def __init__(self, meta):
        self.meta = meta

    def __bool__(self):
        return 200 <= self.meta.status < 300

    @property
    def body(self):
        return bool(self)


def response(body, meta):
    if isinstance(body, dict):
        return ObjectApiResponse(body, meta)
    if isinstance(body, list):
        return ListApiResponse(body, meta)
    return TextApiResponse(str(body), meta)


from elasticsearch import exceptions  # noqa: E402,F401  (after the names that it repeats)
