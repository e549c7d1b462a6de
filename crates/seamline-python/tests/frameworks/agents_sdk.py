"""OpenAI Agents with a filter, and with a session on the durable store."""

from __future__ import annotations

import asyncio
import tempfile
from typing import Any

import agents
import openai
from agents import Agent, RunConfig, Runner, function_tool

from responses_items import items
from seamline.openai_agents import SeamlineSession, repair_input

FIX = "RunConfig(call_model_input_filter=repair_input)"

agents.set_tracing_disabled(True)


@function_tool
def read(path: str) -> str:
    """Reads a file."""
    return "from the tool"


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
