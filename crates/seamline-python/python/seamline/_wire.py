"""Requests on their way to a provider: which ones are conversations, and their repaired bodies."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, Literal

from seamline import _failure, _native, _options
from seamline._failure import OnFailure, OnRepair
from seamline.errors import OptionError, SeamlineError
from seamline.results import Repaired, Response
from seamline.stream import ResponseStream

_log = logging.getLogger("seamline")

#: What a program may do with each streamed response, when its last byte has passed.
OnResponse = Callable[[Response], object]

#: The largest body that is checked: providers take no larger ones.
BODY_BYTES_MAX = 64 << 20
#: The largest error that is read before it is passed on.
ERROR_BYTES_MAX = 256 << 10

#: The statuses of an error that can be about a broken conversation.
_REJECTED = (400, 422)
_STREAMS = ("event-stream", "eventstream", "ndjson")


@dataclass(frozen=True)
class Repairer:
    """Repairs the bodies of requests by their URL."""

    provider: str | None = None
    policy: str | dict[str, Any] | None = None
    on_repair: OnRepair | None = None
    on_response: OnResponse | None = None
    #: `report` sends each request as it is; `on_repair` gets the repair that `repair` would make.
    mode: Literal["repair", "report"] = "repair"
    on_failure: OnFailure = "pass"

    def __post_init__(self) -> None:
        _failure.checked(self.on_failure)
        if self.mode not in ("repair", "report"):
            raise OptionError(f"mode cannot be `{self.mode}`", "use `repair` or `report`")
        _options.require(self.provider, self.policy)

    def exchange(self, method: str, url: str, headers: Mapping[Any, Any]) -> Exchange | None:
        """The exchange that a request begins; `None` where its body is not to be read."""
        dialect, model, provider = _native.endpoint(method.upper(), url)
        if dialect is None or "content-encoding" in headers:
            return None
        if _is_signed(url, headers):
            _warn_of_signature()
            return None
        return Exchange(self, dialect, model, self.provider or provider)


def split(options: dict[str, Any]) -> dict[str, Any]:
    """Takes the options of a repairer out of others."""
    return {field.name: options.pop(field.name) for field in fields(Repairer) if field.name in options}


def _is_signed(url: str, headers: Mapping[Any, Any]) -> bool:
    """Whether the bytes of the body are signed already, as Amazon's servers want it."""
    value = headers.get("authorization") or ""
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    return text.startswith("AWS4-") or "X-Amz-Signature=" in url


@lru_cache(maxsize=1)
def _warn_of_signature() -> None:
    _log.warning(
        "signed requests are sent without repair: another body would not match the signature; "
        "hint: `seamline.botocore.install(session)` repairs them before they are signed"
    )


@dataclass(frozen=True)
class Exchange:
    """One request to a provider and its response."""

    repairer: Repairer
    dialect: str
    model: str | None
    #: The provider, where the caller or the host names one.
    provider: str | None

    def outgoing(self, body: Any) -> Any:
        """The body to send: the given object where nothing is to be repaired.

        A body that Seamline cannot read is sent unchanged: the provider judges it.
        """
        if not body or (isinstance(body, (bytes, bytearray)) and len(body) > BODY_BYTES_MAX):
            return body

        def work() -> tuple[Any, Repaired | None]:
            try:
                new, raw = _native.repair(body, self._choices())
            except SeamlineError as error:
                if self.provider is not None:
                    raise
                # Other services have paths like `/messages`, too, and their bodies are not defects.
                _log.debug("a request to an unknown server is sent without a check: %s", error.message)
                return body, None
            return (body, None) if new is None else (new, Repaired(body, new, raw))

        return self._told(body, work)

    def after_rejection(self, sent: Any, status: int, text: str) -> Any | None:
        """Another body for a request that the provider rejected; `None` where a second try is of no use."""
        if not sent:
            return None
        failure = _options.text(text=text, status=status, provider=self.provider, dialect=self.dialect)

        def work() -> tuple[Any, Repaired | None]:
            harder = _native.after_rejection(sent, self._choices(), failure)
            return (None, None) if harder is None else (harder[0], Repaired(sent, *harder))

        return self._told(None, work)

    def may_repair_after(self, status: int) -> bool:
        """Whether a response can be about a broken conversation, and the mode allows a second try."""
        return self.repairer.mode == "repair" and status in _REJECTED

    def watch(self, status: int, headers: Mapping[Any, Any]) -> Watch | None:
        """The assembly of a streamed response, if the caller wants it."""
        content_type = headers.get("content-type") or ""
        if self.repairer.on_response is None or not 200 <= status < 300 or "content-encoding" in headers:
            return None
        if not any(word in content_type for word in _STREAMS):
            return None
        try:
            stream = ResponseStream(self.dialect, provider=self.provider, content_type=content_type)
        except SeamlineError:
            return None
        return Watch(stream, self.repairer.on_response)

    def _choices(self) -> _native.Choices:
        return _options.choices(self.dialect, self.provider, self.model, self.repairer.policy, False)

    def _told(self, original: Any, work: Callable[[], tuple[Any, Repaired | None]]) -> Any:
        made = _failure.guarded(
            f"a request in the dialect {self.dialect}",
            original,
            work,
            on_failure=self.repairer.on_failure,
            on_repair=self.repairer.on_repair,
        )
        return original if self.repairer.mode == "report" else made


class Watch:
    """Assembles a streamed response while it passes."""

    def __init__(self, stream: ResponseStream, on_response: OnResponse) -> None:
        self._stream: ResponseStream | None = stream
        self._on_response = on_response

    def feed(self, piece: bytes | str) -> None:
        """Takes a piece that passes."""
        if self._stream is not None:
            self._stream.feed(piece)

    def finish(self) -> None:
        """Gives the assembled response to the caller, once."""
        stream, self._stream = self._stream, None
        if stream is None:
            return
        try:
            response = stream.finish()
        except SeamlineError as error:
            _log.warning("cannot assemble a response: %s", error.message)
            return
        self._on_response(response)
