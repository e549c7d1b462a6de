"""Options of calls, read once for equal arguments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from seamline import _native, _text
from seamline.errors import OptionError

Policy = "str | dict[str, Any]"


@lru_cache(maxsize=256)
def _read(text: str) -> _native.Choices:
    return _native.Choices(text)


@lru_cache(maxsize=256)
def _plain(
    dialect: str | None, provider: str | None, model: str | None, policy: str | None, kept: bool
) -> _native.Choices:
    return _native.Choices(text(dialect=dialect, provider=provider, model=model, policy=policy, kept=kept))


def text(**options: Any) -> str:
    """The JSON text of the options that are given."""
    given = {name: value for name, value in options.items() if value is not None and value is not False}
    try:
        return json.dumps(given)
    except (TypeError, ValueError, RecursionError) as error:
        raise OptionError(f"the options cannot be written as JSON: {type(error).__name__}") from error


def choices(
    dialect: str | None,
    provider: str | None,
    model: str | None,
    policy: str | dict[str, Any] | None,
    kept: bool,
    signatures: dict[str, str] | None = None,
) -> _native.Choices:
    """The options of a check or a repair."""
    for name, value in (("dialect", dialect), ("provider", provider), ("model", model)):
        if value is not None and not isinstance(value, str):
            raise OptionError(f"{name} cannot be a `{type(value).__name__}`", "give its name")
    if signatures is None and (policy is None or isinstance(policy, str)):
        return _plain(dialect, provider, model, policy, kept)
    return _read(
        text(dialect=dialect, provider=provider, model=model, policy=policy, kept=kept, signatures=signatures)
    )


def require(provider: str | None, policy: str | dict[str, Any] | None) -> None:
    """Raises an error for the name of a provider or a policy that does not exist.

    Code that repairs on the way calls it first, so that a wrong name raises an error before a request is sent without a check.
    """
    _native.check([], choices("openai_chat", provider, None, policy, True))


def failure(
    error: str | BaseException,
    status: int | None = None,
    headers: Mapping[str, str] | None = None,
    provider: str | None = None,
    dialect: str | None = None,
) -> str:
    """An error of a provider. An exception of an SDK has the status and the headers of the response."""
    if isinstance(error, BaseException):
        response = getattr(error, "response", None)
        found = getattr(error, "status_code", None) or getattr(response, "status_code", None)
        status = found if status is None and isinstance(found, int) else status
        given = getattr(response, "headers", None)
        headers = given if headers is None and isinstance(given, Mapping) else headers
        error = str(error)
    error = _text.whole(error)
    pairs = {str(name): _text.whole(str(value)) for name, value in headers.items()} if headers else None
    return text(text=error, status=status, headers=pairs, provider=provider, dialect=dialect)
