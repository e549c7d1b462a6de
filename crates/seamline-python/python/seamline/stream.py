"""Streamed responses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from seamline import _native, _options
from seamline.errors import InputError
from seamline.results import Response


class ResponseStream:
    """A streamed response while it arrives: takes its bytes in pieces of any size and assembles one message.

    A response is complete only when the provider said so; a call that may be incomplete is never executable.
    """

    def __init__(
        self,
        dialect: str | None = None,
        *,
        provider: str | None = None,
        framing: str | None = None,
        content_type: str | None = None,
        policy: str | dict[str, Any] | None = None,
    ) -> None:
        options = _options.text(
            dialect=dialect, provider=provider, framing=framing, content_type=content_type, policy=policy
        )
        self._stream = _native.ResponseStream(options)

    def head(self, status: int, headers: Mapping[str, str] | Iterable[tuple[str, str]] = ()) -> None:
        """Takes the status and the headers of the response."""
        pairs = headers.items() if isinstance(headers, Mapping) else headers
        self._stream.head(status, list(pairs))

    def feed(self, piece: bytes | bytearray | memoryview | str) -> bool:
        """Takes the next piece, cut anywhere. Returns whether it brought progress."""
        if isinstance(piece, str):
            piece = piece.encode(errors="surrogatepass")
        if not isinstance(piece, (bytes, bytearray, memoryview)):
            raise InputError(f"a piece of a stream cannot be a `{type(piece).__name__}`", "give bytes or a text")
        return self._stream.feed(piece if isinstance(piece, bytes) else bytes(piece))

    def abort(self) -> None:
        """Aborts the response: the caller does not want the rest."""
        self._stream.abort()

    def stall(self) -> None:
        """Ends the response because there was no progress for too long."""
        self._stream.stall()

    def fail(self, said: str) -> None:
        """Ends the response because the connection broke, with the connection's error text."""
        self._stream.fail(said)

    @property
    def is_over(self) -> bool:
        """Whether later bytes cannot change the response."""
        return self._stream.is_over()

    def finish(self) -> Response:
        """Ends the stream and returns the response."""
        return Response(self._stream.finish())
