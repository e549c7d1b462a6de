"""The proxy of LiteLLM with a callback: what the proxy would send is sent by the library."""

from __future__ import annotations

import asyncio
import os
from typing import Any

# Without it the library looks for a list of prices in the network.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

import litellm

from openai_messages import messages, TOOL
from seamline.litellm import SeamlineCallback

FIX = "litellm_settings: callbacks: seamline.litellm.callback"


def run(url: str, steps: list[Any], fixed: bool) -> None:
    """Sends the history as the proxy does: the callback, then the call."""

    async def main() -> None:
        data: dict[str, Any] = {"model": "openai/gpt-5", "messages": messages(steps), "tools": [TOOL]}
        if fixed:
            data = await SeamlineCallback().async_pre_call_hook(None, None, data, "acompletion")
        await litellm.acompletion(**data, api_base=f"{url}/v1", api_key="dummy", num_retries=0)

    asyncio.run(main())


def run_messages(url: str, steps: list[Any], fixed: bool) -> None:
    """The same with the Messages API."""
    from anthropic_messages import messages as blocks

    async def main() -> None:
        data: dict[str, Any] = {"model": "anthropic/claude-sonnet-4-5", "max_tokens": 64, "messages": blocks(steps)}
        data["tools"] = [{"name": "read", "input_schema": {"type": "object", "properties": {}}}]
        if fixed:
            data = await SeamlineCallback().async_pre_call_hook(None, None, data, "anthropic_messages")
        await litellm.anthropic_messages(**data, api_base=url, api_key="dummy")

    asyncio.run(main())


def run_responses(url: str, steps: list[Any], fixed: bool) -> None:
    """The same with the Responses API."""
    from responses_items import items

    async def main() -> None:
        data: dict[str, Any] = {"model": "openai/gpt-5", "input": items(steps)}
        data["tools"] = [{"type": "function", **TOOL["function"]}]
        if fixed:
            data = await SeamlineCallback().async_pre_call_hook(None, None, data, "aresponses")
        await litellm.aresponses(**data, api_base=f"{url}/v1", api_key="dummy", num_retries=0)

    asyncio.run(main())
