"""An adapter for `requests` that repairs requests to language models on their way.

    seamline.requests.install(session)
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from requests.adapters import BaseAdapter, HTTPAdapter

from seamline._wire import ERROR_BYTES_MAX, Exchange, Repairer, Watch

_log = logging.getLogger("seamline")


class Adapter(BaseAdapter):
    """Repairs the bodies of requests before `inner` sends them; without it an `HTTPAdapter` does."""

    def __init__(self, inner: Any = None, **options: Any) -> None:
        """Takes `provider`, `policy`, `mode`, `on_repair`, `on_response` and `on_failure`."""
        super().__init__()
        self.inner = HTTPAdapter() if inner is None else inner
        self._repairer = Repairer(**options)

    def send(self, request: Any, *args: Any, **named: Any) -> Any:
        """Repairs a request and sends it; one that is rejected as a broken conversation is sent once more."""
        body = request.body.encode() if isinstance(request.body, str) else request.body
        exchange = self._repairer.exchange(request.method, request.url, request.headers)
        if exchange is None or not isinstance(body, bytes):
            return self.inner.send(request, *args, **named)
        sent = exchange.outgoing(body)
        response = self.inner.send(_with_body(request, body, sent), *args, **named)
        if not exchange.may_repair_after(response.status_code):
            return _watched(exchange, response)
        text = _error_text(response)
        harder = None if text is None else exchange.after_rejection(sent, response.status_code, text)
        if harder is None:
            return response
        try:
            second = self.inner.send(_with_body(request, body, harder), *args, **named)
        except Exception as error:
            _log.info("the second try of a rejected request failed: %s", type(error).__name__)
            return response
        # The first error tells more about the history that the caller has.
        if exchange.may_repair_after(second.status_code):
            second.close()
            return response
        response.close()
        return _watched(exchange, second)

    def close(self) -> None:
        """Closes the inner adapter."""
        self.inner.close()

    def __getattr__(self, name: str) -> Any:
        if name == "inner" or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.inner, name)


def _with_body(request: Any, before: bytes, body: bytes) -> Any:
    if body is before:
        return request
    request = request.copy()
    request.body = body
    request.headers["Content-Length"] = str(len(body))
    return request


def _error_text(response: Any) -> str | None:
    length = response.headers.get("content-length", "0")
    if not length.isdigit() or int(length) > ERROR_BYTES_MAX:
        return None
    try:
        return response.text
    except Exception as error:  # The connection broke; the caller reads as much as came.
        _log.info("an error of a provider cannot be read: %s", type(error).__name__)
        return None


def _watched(exchange: Exchange, response: Any) -> Any:
    """The response, assembled while its content is read, where the caller wants that."""
    watch = exchange.watch(response.status_code, response.headers)
    if watch is not None:
        response.iter_content = _fed(response.iter_content, watch)
    return response


def _fed(iter_content: Any, watch: Watch) -> Any:
    def passing(*args: Any, **named: Any) -> Iterator[Any]:
        try:
            for piece in iter_content(*args, **named):
                watch.feed(piece)
                yield piece
        finally:
            watch.finish()

    return passing


def install(session: Any, **options: Any) -> Any:
    """Repairs the requests of a session from now on, and returns it. Each mounted adapter still sends its requests, so
    that its settings for TLS and retries hold. Takes the options of `Adapter`."""
    for prefix, adapter in list(session.adapters.items()):
        if not isinstance(adapter, Adapter):
            session.adapters[prefix] = Adapter(adapter, **options)
    return session
