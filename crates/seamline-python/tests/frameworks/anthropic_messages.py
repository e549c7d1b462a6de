"""The steps of a history as messages of Anthropic."""

from __future__ import annotations

import json
from typing import Any

from damage import IMAGE, Call, Look, Result, Text, User


def messages(steps: list[Any]) -> list[dict]:
    """The steps as Anthropic messages."""
    made: list[dict] = []
    for step in steps:
        match step:
            case User(text):
                made.append({"role": "user", "content": text})
            case Look(text):
                source = {"type": "base64", "media_type": "image/png", "data": IMAGE}
                made.append({"role": "user", "content": [{"type": "text", "text": text}, {"type": "image", "source": source}]})
            case Text(text):
                made.append({"role": "assistant", "content": text})
            case Call(id, arguments, times):
                try:
                    given = json.loads(arguments)
                except ValueError:
                    given = arguments
                block = {"type": "tool_use", "id": id, "name": "read", "input": given}
                made.append({"role": "assistant", "content": [block] * times})
            case Result(id, text):
                block = {"type": "tool_result", "tool_use_id": id, "content": text}
                made.append({"role": "user", "content": [block]})
    return made
