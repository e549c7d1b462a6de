"""Strands Agents with a hook."""

from __future__ import annotations

from typing import Any

from strands import Agent, tool
from strands.models.openai import OpenAIModel

from converse import converse
from seamline.strands import SeamlineHook

FIX = "Agent(hooks=[SeamlineHook()])"


@tool
def read(path: str) -> str:
    """Reads a file."""
    return "from the tool"


def run(url: str, steps: list[Any], fixed: bool) -> None:
    """Runs the agent on the history."""
    model = OpenAIModel(client_args={"base_url": f"{url}/v1", "api_key": "dummy", "max_retries": 0}, model_id="gpt-5")
    hooks = [SeamlineHook()] if fixed else []
    agent = Agent(model=model, tools=[read], messages=converse(steps[:-1]), hooks=hooks, callback_handler=None)
    agent(steps[-1].text)
