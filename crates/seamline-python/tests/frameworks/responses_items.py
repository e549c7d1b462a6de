"""The steps of a history as items of the Responses API."""

from __future__ import annotations

from typing import Any

from damage import IMAGE, Call, Look, Result, Text, User


def items(steps: list[Any]) -> list[dict]:
    """The steps as items of the Responses API."""
    made: list[dict] = []
    for step in steps:
        match step:
            case User(text):
                made.append({"role": "user", "content": text})
            case Look(text):
                image = {"type": "input_image", "image_url": f"data:image/png;base64,{IMAGE}", "detail": "auto"}
                made.append({"role": "user", "content": [{"type": "input_text", "text": text}, image]})
            case Text(text):
                made.append({"role": "assistant", "content": text})
            case Call(id, arguments, times):
                call = {"type": "function_call", "call_id": id, "name": "read", "arguments": arguments}
                made.extend(dict(call) for _ in range(times))
            case Result(id, text):
                made.append({"type": "function_call_output", "call_id": id, "output": text})
    return made
