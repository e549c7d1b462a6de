"""Texts that the library can take."""

from __future__ import annotations

import hashlib
import re
from typing import Any

#: The names of sessions that every store takes.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")


def whole(text: str) -> str:
    """A text without halves of characters, which JSON in UTF-8 cannot hold: each becomes the replacement character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def shown(value: Any) -> str:
    """The text of any value, whatever its own methods do."""
    try:
        return whole(repr(value))
    except Exception:
        return f"<{type(value).__name__}>"


def session_name(name: str) -> str:
    """The name of a session in a store: the given one, or a hash of it where a store would refuse its characters."""
    if _NAME.fullmatch(name):
        return name
    return "seamline-" + hashlib.sha256(whole(name).encode()).hexdigest()[:40]
