"""Options of calls, read once for equal arguments."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from seamline import _native

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
    return json.dumps({name: value for name, value in options.items() if value is not None and value is not False})


def choices(
    dialect: str | None,
    provider: str | None,
    model: str | None,
    policy: str | dict[str, Any] | None,
    kept: bool,
    signatures: dict[str, str] | None = None,
) -> _native.Choices:
    """The options of a check or a repair."""
    if signatures is None and (policy is None or isinstance(policy, str)):
        return _plain(dialect, provider, model, policy, kept)
    return _read(
        text(dialect=dialect, provider=provider, model=model, policy=policy, kept=kept, signatures=signatures)
    )
