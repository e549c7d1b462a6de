"""Histories of frameworks whose messages are objects: each is carried as a chat message, and its repair goes back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import seamline
from seamline import _providers
from seamline.results import Repaired

#: The dialect of carried messages.
DIALECT = "openai_chat"


def demands(provider: str | None) -> str:
    """The provider whose demands on chat messages apply: OpenAI's where no other is known."""
    return _providers.SHARED if _providers.speaks_responses(provider) else provider or "openai"


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
    carried: list[dict[str, Any]], *, provider: str | None, policy: str | dict[str, Any] | None
) -> tuple[list[Returned] | None, Repaired | None]:
    """Repairs carried messages; nothing where nothing needs a repair."""
    repaired = seamline.repair(carried, dialect=DIALECT, provider=demands(provider), policy=policy, kept=True)
    messages = with_taken_ids(repaired.messages, provider)
    if not repaired.changed and messages is repaired.messages:
        return None, None
    known = {id(message): index for index, message in enumerate(carried)}
    origins = repaired.origins if repaired.changed else list(range(len(messages)))
    returned = []
    for index, message in enumerate(messages):
        same = known.get(id(message))
        origin = same if same is not None else (origins[index] if index < len(origins) else None)
        returned.append(Returned(origin, message, same is None))
    return returned, repaired if repaired.changed else None


def with_taken_ids(messages: list[dict[str, Any]], provider: str | None) -> list[dict[str, Any]]:
    """Repaired messages whose ids the provider takes: each has its characters and belongs to one call."""
    if not _providers.has_id_pattern(provider):
        return messages
    taken: set[str] = set()
    own: dict[str, str] = {}
    new = []
    for message in messages:
        calls = message.get("tool_calls")
        if calls:
            # The results of a message follow its calls.
            own = {}
            for one in calls:
                if one.get("id"):
                    own[one["id"]] = _providers.taken_id(one["id"], provider, taken)
                    taken.add(own[one["id"]])
            if any(own.get(one.get("id"), one.get("id")) != one.get("id") for one in calls):
                renamed = [{**one, "id": own[one["id"]]} if one.get("id") else one for one in calls]
                message = {**message, "tool_calls": renamed}
        elif own.get(message.get("tool_call_id"), None) not in (None, message.get("tool_call_id")):
            message = {**message, "tool_call_id": own[message["tool_call_id"]]}
        new.append(message)
    return messages if all(one is message for one, message in zip(new, messages)) else new


@dataclass(frozen=True, slots=True)
class Form:
    """The texts among the parts of a framework's messages."""

    #: The text of a part; `None` for an image, reasoning and everything else.
    text_of: Callable[[Any], str | None]
    #: The part with another text.
    with_text: Callable[[Any, str], Any]
    #: A part for a text that has no part yet.
    made: Callable[[str], Any]


class Marks:
    """Carries lists of parts. A part without text is a mark in the text, and becomes the part again after the repair."""

    def __init__(self, form: Form, contents: Iterable[Any]) -> None:
        self._form = form
        self._kept: list[Any] = []
        self._prefix = "⟦seamline"
        texts = [text for content in contents for text in self._texts(content)]
        # A text of the history that looks like a mark must stay a text.
        while any(self._prefix in text for text in texts):
            self._prefix += "·"
        self._pattern = re.compile(f"({re.escape(self._prefix)}:[0-9]+⟧)")

    def carried(self, content: Any) -> str | list[dict[str, Any]]:
        """The content of a chat message."""
        if content is None or isinstance(content, str):
            return content or ""
        pieces = [self._piece(part) for part in content]
        if len(pieces) < 2:
            return pieces[0] if pieces else ""
        return [{"type": "text", "text": piece} for piece in pieces]

    def restored(self, content: Any, original: Any) -> Any:
        """The content of a repaired message: a text, or the parts of the original with the repaired texts in them."""
        if isinstance(original, str) or original is None:
            original = [original] if original else []
            if isinstance(content, str) and not self._pattern.search(content):
                return content
        pieces = list(self._pieces(content))
        sources = [part for part in original if self._form.text_of(part) is not None]
        is_in_place = len(sources) == sum(1 for is_text, _ in pieces if is_text)
        parts = []
        for is_text, piece in pieces:
            if not is_text:
                parts.append(piece)
                continue
            equal = (index for index, part in enumerate(sources) if self._form.text_of(part) == piece)
            index = 0 if is_in_place else next(equal, None)
            parts.append(self._form.made(piece) if index is None else self._patched(sources.pop(index), piece))
        return parts

    def _patched(self, part: Any, text: str) -> Any:
        return part if self._form.text_of(part) == text else self._form.with_text(part, text)

    def _piece(self, part: Any) -> str:
        text = self._form.text_of(part)
        if text is not None:
            return text
        self._kept.append(part)
        return f"{self._prefix}:{len(self._kept) - 1}⟧"

    def _pieces(self, content: Any) -> Iterator[tuple[bool, Any]]:
        """The texts and the kept parts of a carried content."""
        for text in texts_of(content):
            for piece in self._pattern.split(text):
                if self._pattern.fullmatch(piece):
                    number = int(piece[len(self._prefix) + 1 : -1])
                    if number < len(self._kept):
                        yield False, self._kept[number]
                elif piece == text or piece.strip("\n"):
                    # A line break alone comes from texts that the repair joined.
                    yield True, piece

    def _texts(self, content: Any) -> Iterator[str]:
        parts = [content] if isinstance(content, str) else content or ()
        for part in parts:
            text = part if isinstance(part, str) else self._form.text_of(part)
            if text is not None:
                yield text


def texts_of(content: Any) -> list[str]:
    """The texts of a carried content."""
    if isinstance(content, str):
        return [content]
    parts: Sequence[Any] = content if isinstance(content, list) else ()
    return [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]


def text_of(content: Any) -> str:
    """The text of a carried content."""
    return "\n".join(texts_of(content))
