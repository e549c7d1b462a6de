"""The Google Gen AI SDK with a repairing HTTP client."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

from google import genai
from google.genai import types

import seamline.httpx
from damage import IMAGE, Call, Look, Result, Text, User

FIX = "genai.Client(http_options=types.HttpOptions(httpx_client=seamline.httpx.client()))"


def contents(steps: list[Any]) -> list[types.Content]:
    """The steps as contents of Gemini."""
    made = []
    for step in steps:
        match step:
            case User(text):
                role, parts = "user", [types.Part(text=text)]
            case Look(text):
                image = types.Blob(data=base64.b64decode(IMAGE), mime_type="image/png")
                role, parts = "user", [types.Part(text=text), types.Part(inline_data=image)]
            case Text(text):
                role, parts = "model", [types.Part(text=text)]
            case Call(id, arguments, times):
                try:
                    given = json.loads(arguments)
                except ValueError:
                    given = {"cut": arguments}
                role = "model"
                parts = [types.Part(function_call=types.FunctionCall(id=id, name="read", args=given))] * times
            case Result(id, text):
                response = types.FunctionResponse(id=id, name="read", response={"result": text})
                role, parts = "user", [types.Part(function_response=response)]
        made.append(types.Content(role=role, parts=parts))
    return made


def _config() -> types.GenerateContentConfig:
    read = types.FunctionDeclaration(name="read", parameters_json_schema={"type": "object", "properties": {}})
    return types.GenerateContentConfig(tools=[types.Tool(function_declarations=[read])])


def run(url: str, steps: list[Any], fixed: bool) -> None:
    """Sends the history."""
    options = {"httpx_client": seamline.httpx.client()} if fixed else {}
    client = genai.Client(api_key="dummy", http_options=types.HttpOptions(base_url=url, **options))
    client.models.generate_content(model="gemini-2.5-pro", contents=contents(steps), config=_config())


def run_async(url: str, steps: list[Any], fixed: bool) -> None:
    """Sends the history with the asynchronous client, and reads a streamed response."""

    async def main() -> None:
        options = {"httpx_async_client": seamline.httpx.async_client()} if fixed else {}
        client = genai.Client(api_key="dummy", http_options=types.HttpOptions(base_url=url, **options))
        given = {"model": "gemini-2.5-pro", "contents": contents(steps), "config": _config()}
        async for _ in await client.aio.models.generate_content_stream(**given):
            pass

    asyncio.run(main())
