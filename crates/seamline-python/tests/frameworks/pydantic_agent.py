"""pydantic-ai with a capability."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import (
    BinaryContent,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from damage import IMAGE, Call, Look, Result, Text, User
from seamline.pydantic_ai import SeamlineHistory

FIX = "Agent(model, capabilities=[SeamlineHistory()])"


def history(steps: list[Any]) -> list[Any]:
    """The steps as messages of pydantic-ai."""
    made: list[Any] = []
    for step in steps:
        match step:
            case User(text):
                made.append(ModelRequest(parts=[UserPromptPart(text)]))
            case Look(text):
                image = BinaryContent(base64.b64decode(IMAGE), media_type="image/png")
                made.append(ModelRequest(parts=[UserPromptPart([text, image])]))
            case Text(text):
                made.append(ModelResponse(parts=[TextPart(text)]))
            case Call(id, arguments, times):
                made.append(ModelResponse(parts=[ToolCallPart("read", arguments, tool_call_id=id)] * times))
            case Result(id, text):
                made.append(ModelRequest(parts=[ToolReturnPart("read", text, tool_call_id=id)]))
    return made


def run(url: str, steps: list[Any], fixed: bool) -> None:
    """Runs the agent on the history."""
    import openai

    client = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="dummy", max_retries=0)
    model = OpenAIChatModel("gpt-5", provider=OpenAIProvider(openai_client=client))
    agent = Agent(model, capabilities=[SeamlineHistory()] if fixed else [])

    @agent.tool_plain
    def read(path: str) -> str:
        """Reads a file."""
        return "from the tool"

    asyncio.run(agent.run(steps[-1].text, message_history=history(steps[:-1])))
