"""Histories of frameworks whose messages are objects: each is carried as a chat message, and its repair goes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import seamline
from seamline.results import Repaired


@dataclass(frozen=True, slots=True)
class Returned:
    """A message after a repair."""

    #: The index of the carried message that it was; `None` for a new one.
    origin: int | None
    #: The message as a chat message.
    message: dict[str, Any]
    #: Whether the repair changed or made it.
    changed: bool


def call(id: str | None, name: str, arguments: str) -> dict[str, Any]:
    """A tool call of a chat message."""
    carried: dict[str, Any] = {"type": "function", "function": {"name": name, "arguments": arguments}}
    return {"id": id, **carried} if id is not None else carried


def repair(
    carried: list[dict[str, Any]], *, policy: str | dict[str, Any] | None, on_repair: Any = None
) -> list[Returned] | None:
    """Repairs carried messages; `None` where nothing needs a repair."""
    repaired: Repaired = seamline.repair(carried, dialect="openai_chat", provider="openai", policy=policy, kept=True)
    if not repaired.changed:
        return None
    if on_repair is not None:
        on_repair(repaired)
    known = {id(message): index for index, message in enumerate(carried)}
    origins = repaired.origins
    returned = []
    for index, message in enumerate(repaired.messages):
        same = known.get(id(message))
        origin = same if same is not None else (origins[index] if index < len(origins) else None)
        returned.append(Returned(origin, message, same is None))
    return returned


def text_of(content: Any) -> str:
    """The text of a content that may be a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part if isinstance(part, str) else part.get("text", "") for part in content if isinstance(part, (str, dict))]
        # A part that is not a text counts as content, too.
        return "\n".join(part if isinstance(part, str) and part else "[content]" for part in parts)
    return "" if content is None else str(content)
