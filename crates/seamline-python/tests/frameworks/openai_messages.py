"""The steps of a history as chat messages."""

from __future__ import annotations

from typing import Any

from damage import IMAGE, Call, Look, Result, Text, User


def messages(steps: list[Any]) -> list[dict]:
    """The steps as chat messages."""
    made: list[dict] = []
    for step in steps:
        match step:
            case User(text):
                made.append({"role": "user", "content": text})
            case Look(text):
                image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{IMAGE}"}}
                made.append({"role": "user", "content": [{"type": "text", "text": text}, image]})
            case Text(text):
                made.append({"role": "assistant", "content": text})
            case Call(id, arguments, times):
                call = {"id": id, "type": "function", "function": {"name": "read", "arguments": arguments}}
                made.append({"role": "assistant", "content": None, "tool_calls": [call] * times})
            case Result(id, text):
                made.append({"role": "tool", "tool_call_id": id, "content": text})
    return made


TOOL = {
    "type": "function",
    "function": {"name": "read", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}},
}
