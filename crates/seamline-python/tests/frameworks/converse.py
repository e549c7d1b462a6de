"""The steps of a history as messages of Converse."""

from __future__ import annotations

import base64
import json
from typing import Any

from damage import IMAGE, Call, Look, Result, Text, User


def converse(steps: list[Any]) -> list[dict]:
    """The steps as messages of Converse."""
    made: list[dict] = []
    for step in steps:
        match step:
            case User(text):
                made.append({"role": "user", "content": [{"text": text}]})
            case Look(text):
                image = {"format": "png", "source": {"bytes": base64.b64decode(IMAGE)}}
                made.append({"role": "user", "content": [{"text": text}, {"image": image}]})
            case Text(text):
                made.append({"role": "assistant", "content": [{"text": text}]})
            case Call(id, arguments, times):
                try:
                    given = json.loads(arguments)
                except ValueError:
                    given = arguments
                block = {"toolUse": {"toolUseId": id, "name": "read", "input": given}}
                made.append({"role": "assistant", "content": [block] * times})
            case Result(id, text):
                block = {"toolResult": {"toolUseId": id, "status": "success", "content": [{"text": text}]}}
                made.append({"role": "user", "content": [block]})
    return made
