"""The SDK of Mistral with a repairing HTTP client."""

from __future__ import annotations

import asyncio
from typing import Any

from mistralai.client import Mistral

import seamline.httpx
from openai_messages import TOOL, messages

FIX = "Mistral(client=seamline.httpx.client())"


def run(url: str, steps: list[Any], fixed: bool) -> None:
    """Sends the history."""
    options = {"client": seamline.httpx.client()} if fixed else {}
    client = Mistral(api_key="dummy", server_url=url, **options)
    client.chat.complete(model="mistral-large-latest", messages=messages(steps), tools=[TOOL])


def run_async(url: str, steps: list[Any], fixed: bool) -> None:
    """Sends the history with the asynchronous client, and reads a streamed response."""

    async def main() -> None:
        options = {"async_client": seamline.httpx.async_client()} if fixed else {}
        client = Mistral(api_key="dummy", server_url=url, **options)
        stream = await client.chat.stream_async(model="mistral-large-latest", messages=messages(steps), tools=[TOOL])
        async for _ in stream:
            pass

    asyncio.run(main())
