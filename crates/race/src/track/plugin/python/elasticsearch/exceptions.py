"""The errors under the name of the module that the client has them in."""

from elasticsearch import (  # noqa: F401
    HTTP_EXCEPTIONS,
    ApiError,
    AuthenticationException,
    AuthorizationException,
    BadRequestError,
    ConflictError,
    ConnectionError,
    ConnectionTimeout,
    NotFoundError,
    RequestError,
    SerializationError,
    SSLError,
    TransportError,
    UnsupportedProductError,
)
