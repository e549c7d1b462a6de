"""OpenAI Agents with a filter, and with a session on the durable store."""

from __future__ import annotations

import asyncio
import tempfile
from typing import Any

import agents
import openai
from agents import Agent, RunConfig, Runner, function_tool

from damage import IMAGE, Call, Look, Result, Text, User
from seamline.openai_agents import SeamlineSession, repair_input

FIX = "RunConfig(call_model_input_filter=repair_input)"

agents.set_tracing_disabled(True)


@function_tool
def read(path: str) -> str:
    """Reads a file."""
    return "from the tool"


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


def agent(url: str) -> Agent:
    """An agent of the fake provider."""
    client = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="dummy", max_retries=0)
    model = agents.OpenAIResponsesModel(model="gpt-5", openai_client=client)
    return Agent(name="reader", tools=[read], model=model)


def run(url: str, steps: list[Any], fixed: bool) -> None:
    """Runs the agent on the history."""
    config = RunConfig(call_model_input_filter=repair_input if fixed else None)
    asyncio.run(Runner.run(agent(url), items(steps), run_config=config, max_turns=4))


def run_session(url: str, steps: list[Any], fixed: bool) -> None:
    """Runs the agent with the history in a session."""

    async def main() -> None:
        with tempfile.TemporaryDirectory() as folder:
            if fixed:
                session: Any = SeamlineSession("user-7", f"sqlite:{folder}/agents.db")
            else:
                session = agents.SQLiteSession("user-7", f"{folder}/agents.db")
            await session.add_items(items(steps[:-1]))
            await Runner.run(agent(url), steps[-1].text, session=session, max_turns=4)
            closed = session.close()
            if asyncio.iscoroutine(closed):
                await closed

    asyncio.run(main())
