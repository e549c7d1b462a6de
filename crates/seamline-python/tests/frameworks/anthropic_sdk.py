"""The Anthropic SDK with a middleware."""

from __future__ import annotations

from typing import Any

import anthropic

from anthropic_messages import messages
from seamline.anthropic import SeamlineMiddleware

FIX = "Anthropic(middleware=[SeamlineMiddleware()])"


def run(url: str, steps: list[Any], fixed: bool) -> None:
    """Sends the history."""
    options = {"middleware": [SeamlineMiddleware()]} if fixed else {}
    client = anthropic.Anthropic(base_url=url, api_key="dummy", max_retries=0, **options)
    tool = {"name": "read", "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}}
    client.messages.create(model="claude-sonnet-4-5", max_tokens=64, messages=messages(steps), tools=[tool])
