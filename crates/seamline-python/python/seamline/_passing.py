"""Bodies of responses of `httpx` and `httpx2` on their way to the caller."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Iterator
from functools import lru_cache
from types import ModuleType
from typing import Any

from seamline._wire import ERROR_BYTES_MAX, Exchange, Watch


def library_of(value: Any) -> ModuleType:
    """The library that made a request or a response."""
    for kind in type(value).__mro__:
        name = kind.__module__.partition(".")[0]
        if name in ("httpx", "httpx2"):
            return importlib.import_module(name)
    return importlib.import_module(type(value).__module__.partition(".")[0])


@lru_cache
def _streams(library: ModuleType) -> tuple[type, type]:
    """The classes of passing bodies. The clients of a library take only its own streams."""

    class Passing(library.SyncByteStream):  # type: ignore[name-defined]
        def __init__(self, begun: list[bytes], rest: Iterator[bytes], inner: Any, watch: Watch | None) -> None:
            self._begun, self._rest, self._inner, self._watch = begun, rest, inner, watch

        def __iter__(self) -> Iterator[bytes]:
            yield from self._begun
            for piece in self._rest:
                if self._watch is not None:
                    self._watch.feed(piece)
                yield piece
            self._finish()

        def close(self) -> None:
            self._inner.close()
            self._finish()

        def _finish(self) -> None:
            if self._watch is not None:
                self._watch.finish()

    class AsyncPassing(library.AsyncByteStream):  # type: ignore[name-defined]
        def __init__(self, begun: list[bytes], rest: AsyncIterator[bytes], inner: Any, watch: Watch | None) -> None:
            self._begun, self._rest, self._inner, self._watch = begun, rest, inner, watch

        async def __aiter__(self) -> AsyncIterator[bytes]:
            for piece in self._begun:
                yield piece
            async for piece in self._rest:
                if self._watch is not None:
                    self._watch.feed(piece)
                yield piece
            self._finish()

        async def aclose(self) -> None:
            await self._inner.aclose()
            self._finish()

        def _finish(self) -> None:
            if self._watch is not None:
                self._watch.finish()

    return Passing, AsyncPassing


def watched(exchange: Exchange, response: Any) -> Any:
    """The response, assembled while it passes, where the caller wants that."""
    watch = None if response.is_stream_consumed else exchange.watch(response.status_code, response.headers)
    if watch is not None:
        passing, async_passing = _streams(library_of(response))
        inner = response.stream
        if hasattr(inner, "__aiter__") and not hasattr(inner, "__iter__"):
            response.stream = async_passing([], aiter(inner), inner, watch)
        else:
            response.stream = passing([], iter(inner), inner, watch)
    return response


def error_text(response: Any) -> str | None:
    """Reads an error up to its end or the limit, and leaves a body that gives it again; the text if it is whole."""
    if response.is_stream_consumed:
        return response.text
    inner, begun, size = response.stream, [], 0
    rest = iter(inner)
    for piece in rest:
        begun.append(piece)
        size += len(piece)
        if size > ERROR_BYTES_MAX:
            break
    response.stream = _streams(library_of(response))[0](begun, rest, inner, None)
    return _decoded(response, begun, size)


async def async_error_text(response: Any) -> str | None:
    """The asynchronous form of `error_text`."""
    if response.is_stream_consumed:
        return response.text
    inner, begun, size = response.stream, [], 0
    rest = aiter(inner)
    async for piece in rest:
        begun.append(piece)
        size += len(piece)
        if size > ERROR_BYTES_MAX:
            break
    response.stream = _streams(library_of(response))[1](begun, rest, inner, None)
    return _decoded(response, begun, size)


def _decoded(response: Any, begun: list[bytes], size: int) -> str | None:
    if size > ERROR_BYTES_MAX:
        return None
    try:
        return library_of(response).Response(
            response.status_code, headers=response.headers, content=b"".join(begun)
        ).text
    except Exception:  # A body in an encoding that is not installed, or that is cut.
        return None
