"""Transports for `httpx` and `httpx2` that repair requests to language models on their way.

One transport protects every SDK that takes an HTTP client: OpenAI, Anthropic, Mistral, Groq, google-genai, LiteLLM.

    client = OpenAI(http_client=seamline.httpx.install(DefaultHttpxClient()))
"""

from __future__ import annotations

import importlib
import logging
from types import ModuleType
from typing import Any

from seamline._passing import async_error_text, error_text, library_of, watched
from seamline._wire import Exchange, Repairer, split
from seamline.errors import SeamlineError

_log = logging.getLogger("seamline")

#: Headers of a body that belong to the old one.
_OF_BODY = (b"content-length", b"transfer-encoding")


class _Repairing:
    def __init__(self, inner: Any = None, **options: Any) -> None:
        """`inner` sends the requests; without it the library's own transport. Takes the options of `client`."""
        self._inner = inner
        self._repairer = Repairer(**options)

    def _exchange(self, request: Any) -> Exchange | None:
        return self._repairer.exchange(request.method, str(request.url), request.headers)


def _with_body(request: Any, before: bytes, body: bytes) -> Any:
    """The request with another body."""
    if body is before:
        return request
    headers = [(name, value) for name, value in request.headers.raw if name.lower() not in _OF_BODY]
    return type(request)(request.method, request.url, headers=headers, content=body, extensions=request.extensions)


class Transport(_Repairing):
    """A transport for the clients of `httpx` and `httpx2`."""

    def handle_request(self, request: Any) -> Any:
        """Repairs a request and sends it. The response is passed on as it comes.

        A request that the provider rejects as a broken conversation is repaired harder and sent once more.
        """
        if self._inner is None:
            self._inner = library_of(request).HTTPTransport()
        exchange = self._exchange(request)
        if exchange is None:
            return self._inner.handle_request(request)
        body = request.read()
        sent = exchange.outgoing(body)
        response = self._inner.handle_request(_with_body(request, body, sent))
        if not exchange.may_repair_after(response.status_code):
            return watched(exchange, response)
        text = error_text(response)
        harder = None if text is None else exchange.after_rejection(sent, response.status_code, text)
        return response if harder is None else self._again(exchange, _with_body(request, body, harder), response)

    def _again(self, exchange: Exchange, request: Any, first: Any) -> Any:
        """Sends the second request. The first error tells more about the history that the caller has."""
        try:
            second = self._inner.handle_request(request)
        except Exception as error:
            _log.info("the second try of a rejected request failed: %s", type(error).__name__)
            return first
        if exchange.may_repair_after(second.status_code):
            second.close()
            return first
        first.close()
        return watched(exchange, second)

    def close(self) -> None:
        """Closes the inner transport."""
        if self._inner is not None:
            self._inner.close()

    def __enter__(self) -> Transport:
        if self._inner is not None:
            self._inner.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._inner is not None:
            self._inner.__exit__(*error)


class AsyncTransport(_Repairing):
    """A transport for the asynchronous clients of `httpx` and `httpx2`."""

    async def handle_async_request(self, request: Any) -> Any:
        """Repairs a request and sends it, as `Transport.handle_request` does."""
        if self._inner is None:
            self._inner = library_of(request).AsyncHTTPTransport()
        exchange = self._exchange(request)
        if exchange is None:
            return await self._inner.handle_async_request(request)
        body = await request.aread()
        sent = exchange.outgoing(body)
        response = await self._inner.handle_async_request(_with_body(request, body, sent))
        if not exchange.may_repair_after(response.status_code):
            return watched(exchange, response)
        text = await async_error_text(response)
        harder = None if text is None else exchange.after_rejection(sent, response.status_code, text)
        return response if harder is None else await self._again(exchange, _with_body(request, body, harder), response)

    async def _again(self, exchange: Exchange, request: Any, first: Any) -> Any:
        try:
            second = await self._inner.handle_async_request(request)
        except Exception as error:
            _log.info("the second try of a rejected request failed: %s", type(error).__name__)
            return first
        if exchange.may_repair_after(second.status_code):
            await second.aclose()
            return first
        await first.aclose()
        return watched(exchange, second)

    async def aclose(self) -> None:
        """Closes the inner transport."""
        if self._inner is not None:
            await self._inner.aclose()

    async def __aenter__(self) -> AsyncTransport:
        if self._inner is not None:
            await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        if self._inner is not None:
            await self._inner.__aexit__(*error)


def install(client: Any, **options: Any) -> Any:
    """Repairs the requests of a client from now on, and returns it. Its transports and those of its proxies stay.

    Takes the options of `client`.
    """
    if not hasattr(client, "_transport") or not isinstance(getattr(client, "_mounts", None), dict):
        raise SeamlineError(
            f"a `{type(client).__name__}` has no transports of `httpx`", "give a client of `httpx` or `httpx2`"
        )
    wrapping = AsyncTransport if hasattr(client, "aclose") else Transport

    def wrapped(inner: Any) -> Any:
        return inner if inner is None or isinstance(inner, _Repairing) else wrapping(inner, **options)

    client._transport = wrapped(client._transport)
    # A mount without a transport sends by the client's own.
    client._mounts = {pattern: wrapped(inner) for pattern, inner in client._mounts.items()}
    return client


def client(*, library: str | None = None, **options: Any) -> Any:
    """A client of `httpx2` if it is installed, else of `httpx`, that repairs its requests.

    It follows redirects and opens up to 1000 connections, as the clients of the SDKs of OpenAI, Anthropic and Groq do.
    Takes what the client of the library takes (`proxy`, `verify`, `timeout` and so on), and of Seamline:

    - `provider`, `policy`;
    - `mode`: `repair`, or `report` to send every request as it is;
    - `on_repair` is called with each repair, `on_response` with each assembled response of a stream;
    - `on_failure`: what happens when Seamline itself fails: `pass` sends the request as it is, `raise` raises.
    """
    own = split(options)
    kind = _installed(library)
    return install(kind.Client(**(_defaults(kind) | options)), **own)


def async_client(*, library: str | None = None, **options: Any) -> Any:
    """The asynchronous form of `client`."""
    own = split(options)
    kind = _installed(library)
    return install(kind.AsyncClient(**(_defaults(kind) | options)), **own)


def _defaults(library: ModuleType) -> dict[str, Any]:
    """The options of clients as the SDKs of providers have them. Their timeout is one that an SDK sets."""
    limits = library.Limits(max_connections=1000, max_keepalive_connections=100)
    return {"follow_redirects": True, "limits": limits}


def _installed(library: str | None) -> ModuleType:
    if library is not None:
        return importlib.import_module(library)
    try:
        return importlib.import_module("httpx2")
    except ModuleNotFoundError:
        return importlib.import_module("httpx")
