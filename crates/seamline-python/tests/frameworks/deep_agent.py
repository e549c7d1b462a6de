"""deepagents with the middleware for LangChain."""

from __future__ import annotations

from typing import Any

from deepagents import create_deep_agent

from langchain_agent import messages, model, read
from seamline.langchain import SeamlineMiddleware

FIX = "create_deep_agent(model=model, tools=tools, middleware=[SeamlineMiddleware()])"


def run(url: str, steps: list[Any], fixed: bool) -> None:
    """Runs the agent on the history."""
    middleware = [SeamlineMiddleware()] if fixed else []
    agent = create_deep_agent(model=model(url), tools=[read], middleware=middleware)
    agent.invoke({"messages": messages(steps)}, {"recursion_limit": 12})
