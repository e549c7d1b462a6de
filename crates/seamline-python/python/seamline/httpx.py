"""Transports for `httpx` and `httpx2` that repair requests to language models on their way.

One transport protects every SDK that takes an HTTP client: OpenAI, Anthropic, Mistral, Groq, google-genai, LiteLLM.

    client = OpenAI(http_client=seamline.httpx.client())
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from seamline._wire import OnRepair, Repairer


def _library_of(request: Any) -> ModuleType:
    """The library that made a request."""
    return importlib.import_module(type(request).__module__.partition(".")[0])


def _installed(library: str | None) -> ModuleType:
    if library is not None:
        return importlib.import_module(library)
    try:
        return importlib.import_module("httpx2")
    except ModuleNotFoundError:
        return importlib.import_module("httpx")


class _Repairing:
    def __init__(
        self,
        inner: Any = None,
        *,
        provider: str | None = None,
        policy: str | dict[str, Any] | None = None,
        on_repair: OnRepair | None = None,
    ) -> None:
        self._inner = inner
        self._repairer = Repairer(provider, policy, on_repair)

    def _repaired(self, request: Any, body: bytes) -> Any:
        if "content-encoding" in request.headers:
            return request
        new = self._repairer.repaired(request.method, str(request.url), body)
        if new is None:
            return request
        headers = [
            (name, value) for name, value in request.headers.raw if name.lower() not in (b"content-length", b"transfer-encoding")
        ]
        return type(request)(
            request.method, request.url, headers=headers, content=new, extensions=request.extensions
        )


class Transport(_Repairing):
    """A transport for the clients of `httpx` and `httpx2`. `inner` sends the requests; the default is the library's own."""

    def handle_request(self, request: Any) -> Any:
        """Repairs a request and sends it. The response is passed on as it comes."""
        if self._inner is None:
            self._inner = _library_of(request).HTTPTransport()
        return self._inner.handle_request(self._repaired(request, request.read()))

    def close(self) -> None:
        """Closes the inner transport."""
        if self._inner is not None:
            self._inner.close()

    def __enter__(self) -> Transport:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncTransport(_Repairing):
    """A transport for the asynchronous clients of `httpx` and `httpx2`."""

    async def handle_async_request(self, request: Any) -> Any:
        """Repairs a request and sends it. The response is passed on as it comes."""
        if self._inner is None:
            self._inner = _library_of(request).AsyncHTTPTransport()
        return await self._inner.handle_async_request(self._repaired(request, await request.aread()))

    async def aclose(self) -> None:
        """Closes the inner transport."""
        if self._inner is not None:
            await self._inner.aclose()

    async def __aenter__(self) -> AsyncTransport:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


_OPTIONS = ("provider", "policy", "on_repair")


def _split(options: dict[str, Any]) -> dict[str, Any]:
    return {name: options.pop(name) for name in _OPTIONS if name in options}


def client(*, library: str | None = None, **options: Any) -> Any:
    """A client of `httpx2` if it is installed, else of `httpx`, with a repairing transport.

    Takes `provider`, `policy` and `on_repair`, and everything that the client of the library takes.
    """
    module = _installed(library)
    own = _split(options)
    inner = options.pop("transport", None) or module.HTTPTransport()
    return module.Client(transport=Transport(inner, **own), **options)


def async_client(*, library: str | None = None, **options: Any) -> Any:
    """The asynchronous form of `client`."""
    module = _installed(library)
    own = _split(options)
    inner = options.pop("transport", None) or module.AsyncHTTPTransport()
    return module.AsyncClient(transport=AsyncTransport(inner, **own), **options)
