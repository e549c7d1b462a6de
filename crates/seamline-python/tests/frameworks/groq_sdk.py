"""The Groq SDK with its own HTTP client, which repairs."""

from __future__ import annotations

from typing import Any

import groq

import seamline.httpx
from openai_messages import TOOL, messages

FIX = "Groq(http_client=seamline.httpx.install(DefaultHttpxClient()))"


def run(url: str, steps: list[Any], fixed: bool) -> None:
    """Sends the history."""
    options = {"http_client": seamline.httpx.install(groq.DefaultHttpxClient())} if fixed else {}
    client = groq.Groq(base_url=url, api_key="dummy", max_retries=0, **options)
    client.chat.completions.create(model="openai/gpt-oss-120b", messages=messages(steps), tools=[TOOL])
