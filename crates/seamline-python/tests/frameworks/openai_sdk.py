"""The OpenAI SDK with a repairing HTTP client."""

from __future__ import annotations

import asyncio
from typing import Any

import openai

import seamline.httpx
from openai_messages import TOOL, messages

FIX = "OpenAI(http_client=seamline.httpx.install(DefaultHttpxClient()))"


def run(url: str, steps: list[Any], fixed: bool) -> None:
    """Sends the history."""
    options = {"http_client": seamline.httpx.install(openai.DefaultHttpxClient())} if fixed else {}
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="dummy", max_retries=0, **options)
    client.chat.completions.create(model="gpt-5", messages=messages(steps), tools=[TOOL])


def run_async(url: str, steps: list[Any], fixed: bool) -> None:
    """Sends the history with the asynchronous client, and reads a streamed response."""

    async def main() -> None:
        options = {"http_client": seamline.httpx.async_client()} if fixed else {}
        client = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="dummy", max_retries=0, **options)
        stream = await client.chat.completions.create(
            model="gpt-5", messages=messages(steps), tools=[TOOL], stream=True
        )
        async for _ in stream:
            pass

    asyncio.run(main())
