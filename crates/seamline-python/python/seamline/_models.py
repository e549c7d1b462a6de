"""The classes of SDKs, which are pydantic models, as the values that the SDKs send."""

from __future__ import annotations

from typing import Any

#: The members that tell what an object is. A class often has them as defaults, and SDKs send only what was set.
_KINDS = ("role", "type")


def dumped(value: Any) -> Any:
    """The members that were set, and those that tell what an object is."""
    given = value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if not _lacks_kind(given):
        return given
    return _with_kinds(given, value.model_dump(mode="json", by_alias=True, exclude_none=True))


def _lacks_kind(given: Any) -> bool:
    if not isinstance(given, dict):
        return False
    content = given.get("content")
    blocks = content if isinstance(content, list) else ()
    return not any(name in given for name in _KINDS) or any(isinstance(one, dict) and "type" not in one for one in blocks)


def _with_kinds(given: Any, full: Any) -> Any:
    if isinstance(given, dict) and isinstance(full, dict):
        kinds = {name: full[name] for name in _KINDS if name in full and name not in given}
        return {**kinds, **{name: _with_kinds(one, full.get(name)) for name, one in given.items()}}
    if isinstance(given, list) and isinstance(full, list) and len(given) == len(full):
        return [_with_kinds(one, whole) for one, whole in zip(given, full)]
    return given
