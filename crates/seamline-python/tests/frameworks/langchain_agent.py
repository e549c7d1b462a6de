"""LangChain's agent with a middleware."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from damage import IMAGE, Call, Look, Result, Text, User
from seamline.langchain import SeamlineMiddleware

FIX = "create_agent(model, tools, middleware=[SeamlineMiddleware()])"


@tool
def read(path: str) -> str:
    """Reads a file."""
    return "from the tool"


def messages(steps: list[Any]) -> list[Any]:
    """The steps as LangChain messages."""
    made: list[Any] = []
    for step in steps:
        match step:
            case User(text):
                made.append(HumanMessage(text))
            case Look(text):
                image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{IMAGE}"}}
                made.append(HumanMessage([{"type": "text", "text": text}, image]))
            case Text(text):
                made.append(AIMessage(text))
            case Call(id, '{"pa'):
                invalid = {"name": "read", "args": '{"pa', "id": id, "error": "cut", "type": "invalid_tool_call"}
                made.append(AIMessage("", invalid_tool_calls=[invalid]))
            case Call(id, _, times):
                call = {"name": "read", "args": {"path": "a"}, "id": id}
                made.append(AIMessage("", tool_calls=[call] * times))
            case Result(id, text):
                made.append(ToolMessage(text, tool_call_id=id))
    return made


def model(url: str) -> ChatOpenAI:
    """The model behind the fake provider."""
    return ChatOpenAI(model="gpt-5", base_url=f"{url}/v1", api_key="dummy", max_retries=0)


def run(url: str, steps: list[Any], fixed: bool, persist: bool = False) -> None:
    """Runs the agent on the history."""
    middleware = [SeamlineMiddleware(persist=persist)] if fixed else []
    agent = create_agent(model(url), [read], middleware=middleware)
    agent.invoke({"messages": messages(steps)})


def run_persistent(url: str, steps: list[Any], fixed: bool) -> None:
    """Runs the agent with a middleware that rewrites the state."""
    run(url, steps, fixed, persist=True)
