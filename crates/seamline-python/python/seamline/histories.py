"""Histories with fewer messages: trimmed ones, and those of untrusted clients."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

from seamline import _native, _options
from seamline.errors import OptionError
from seamline.results import Repaired, _Reported, messages_of


class Trimmed(_Reported):
    """The outcome of a trim."""

    def __init__(self, given: Any, new: Any, raw: bytes) -> None:
        self._raw = raw
        #: Whether a message was removed.
        self.changed: bool = new is not None
        #: The history in the form of the given one; the given object itself if nothing was removed.
        self.body: Any = given if new is None else new

    @cached_property
    def messages(self) -> list[Any]:
        """The messages that are left."""
        return messages_of(self.body, self.dialect)

    @property
    def removed(self) -> list[int]:
        """The indices of the removed messages in the given history."""
        return self.report["removed"]

    @property
    def tokens(self) -> int:
        """The tokens of the messages that are left."""
        return self.report["tokens"]

    @property
    def fits(self) -> bool:
        """Whether they are within the limits. The last cycle stays even where it is too large."""
        return self.report["fits"]

    def __repr__(self) -> str:
        state = "fits" if self.fits else "does not fit"
        return f"<Trimmed {self.dialect}: {self.report['messages']} messages, {len(self.removed)} removed, {state}>"


def safe_trim(
    given: Any,
    *,
    max_messages: int | None = None,
    max_tokens: int | None = None,
    count: Callable[[Any], int] | None = None,
    dialect: str | None = None,
    provider: str | None = None,
) -> Trimmed:
    """Removes the oldest messages of a history until it is within the limits, and never splits a cycle.

    A history is cut only before a message of the user. `count` gives the tokens of a message; without it a token is
    estimated as four bytes.
    """
    choices = _options.choices(dialect, provider, None, None, True)
    _limit("max_messages", max_messages)
    _limit("max_tokens", max_tokens)
    sizes: list[int] = []
    if count is not None:
        checked = _native.check(given, choices)
        sizes = [_limit("the outcome of count", count(one), False) for one in messages_of(given, _dialect_of(checked))]
    return Trimmed(given, *_native.trim(given, choices, max_messages, max_tokens, sizes))


def _limit(name: str, value: Any, may_be_absent: bool = True) -> Any:
    """A number of messages or tokens, as it is given."""
    if may_be_absent and value is None:
        return value
    if not isinstance(value, int) or value < 0 or value >= 1 << 63:
        raise OptionError(f"{name} must be a whole number that is not negative")
    return value


def _dialect_of(checked: bytes) -> str:
    from seamline.results import Checked

    return Checked(checked).dialect


class Sanitized(Repaired):
    """The outcome of a sanitizing: what is left is repaired, too."""

    def __init__(self, given: Any, new: Any, raw: bytes, removed: list[dict[str, Any]]) -> None:
        super().__init__(given, new, raw)
        #: The removed parts: `what`, `pointer` and `call_id` in the given history.
        self.removed = removed

    def __repr__(self) -> str:
        parts = [f"\n  removed: {one['what']} {one['pointer']}" for one in self.removed]
        return super().__repr__() + "".join(parts)


def sanitize(
    given: Any,
    *,
    instructions: str = "drop",
    calls: str | Iterable[str] = "answered",
    dialect: str | None = None,
    provider: str | None = None,
    policy: str | dict[str, Any] | None = None,
) -> Sanitized:
    """Removes what an untrusted client must not say from a history, then repairs it.

    `instructions` is `drop` or `keep`: system and developer messages, and the members of a request such as `system`. Only
    messages and blocks of known kinds stay. `calls` says which tool calls stay: those with a
    result (`answered`), none (`none`), or those with the given ids, because the server knows that the model made them. A
    result stays only if it is the first one of a call that stays.
    """
    if instructions not in ("drop", "keep"):
        raise OptionError(f"instructions cannot be `{instructions}`", "use `drop` or `keep`")
    if isinstance(calls, str) and calls not in ("answered", "none"):
        raise OptionError(f"calls cannot be `{calls}`", "use `answered`, `none`, or a list of ids")
    known = None if isinstance(calls, str) else list(calls)
    if known is not None and not all(isinstance(id, str) for id in known):
        raise OptionError("calls must be `answered`, `none`, or a list of ids", "give ids as texts")
    choices = _options.choices(dialect, provider, None, None, True)
    left, raw = _native.sanitize(given, choices, instructions == "keep", known, calls == "answered")
    report = json.loads(raw)
    body = given if left is None else left
    mending = _options.choices(report["dialect"], provider, None, policy, True)
    new, repaired = _native.repair(body, mending)
    return Sanitized(given, new if new is not None else left, repaired, report["removed"])
