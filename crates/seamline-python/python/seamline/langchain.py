"""LangChain and deepagents: a middleware that repairs the messages of an agent.

    agent = create_agent(model, tools, middleware=[SeamlineMiddleware()])
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from seamline import _carried
from seamline._wire import OnRepair


def repair_messages(
    messages: Sequence[BaseMessage],
    *,
    policy: str | dict[str, Any] | None = None,
    on_repair: OnRepair | None = None,
) -> list[BaseMessage]:
    """Repairs LangChain messages. Unchanged messages are the given objects; a list without damage is returned itself."""
    returned = _carried.repair([_carry(message) for message in messages], policy=policy, on_repair=on_repair)
    if returned is None:
        return messages if isinstance(messages, list) else list(messages)
    return [
        messages[one.origin]
        if not one.changed and one.origin is not None
        else _made(one.message, messages[one.origin] if one.origin is not None else None)
        for one in returned
    ]


def _carry(message: BaseMessage) -> dict[str, Any]:
    text = _carried.text_of(message.content)
    if isinstance(message, ToolMessage):
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": text}
    if isinstance(message, AIMessage):
        calls = [_carried.call(one["id"], one["name"], json.dumps(one["args"])) for one in message.tool_calls]
        calls += [
            _carried.call(one.get("id"), one.get("name") or "", one.get("args") or "")
            for one in message.invalid_tool_calls
        ]
        if calls:
            return {"role": "assistant", "content": text or None, "tool_calls": calls}
        return {"role": "assistant", "content": text}
    if isinstance(message, SystemMessage):
        return {"role": "system", "content": text}
    return {"role": "user", "content": text}


def _made(carried: dict[str, Any], origin: BaseMessage | None) -> BaseMessage:
    role, content = carried["role"], carried.get("content") or ""
    if role == "tool":
        id = carried["tool_call_id"]
        if isinstance(origin, ToolMessage):
            return origin.model_copy(update={"tool_call_id": id})
        return ToolMessage(content=_carried.text_of(content), tool_call_id=id, status="error")
    if role == "assistant":
        calls = [_call(one) for one in carried.get("tool_calls") or ()]
        if not isinstance(origin, AIMessage):
            return AIMessage(content=_carried.text_of(content), tool_calls=calls)
        others = {name: value for name, value in origin.additional_kwargs.items() if name != "tool_calls"}
        changes = {"tool_calls": calls, "invalid_tool_calls": [], "additional_kwargs": others}
        return origin.model_copy(update={**changes, "content": _without(origin.content, calls)})
    if role == "system":
        return SystemMessage(content=content)
    return HumanMessage(content=_carried.text_of(content))


def _call(carried: dict[str, Any]) -> dict[str, Any]:
    function = carried["function"]
    try:
        arguments = json.loads(function["arguments"] or "{}")
    except ValueError:
        arguments = {}
    arguments = arguments if isinstance(arguments, dict) else {"value": arguments}
    return {"id": carried["id"], "name": function["name"], "args": arguments, "type": "tool_call"}


def _without(content: Any, calls: list[dict[str, Any]]) -> Any:
    """The content without the blocks of calls that are gone."""
    if not isinstance(content, list):
        return content
    ids = {call["id"] for call in calls}
    is_gone = lambda block: (  # noqa: E731
        isinstance(block, dict) and block.get("type") in ("tool_use", "tool_call") and block.get("id") not in ids
    )
    return [block for block in content if not is_gone(block)]


class SeamlineMiddleware(AgentMiddleware):
    """Repairs the messages of an agent: those of each request, or with `persist=True` those of its state, too."""

    def __init__(
        self,
        *,
        persist: bool = False,
        policy: str | dict[str, Any] | None = None,
        on_repair: OnRepair | None = None,
    ) -> None:
        super().__init__()
        self._persist = persist
        self._policy = policy
        self._on_repair = on_repair

    def _repaired(self, messages: Sequence[AnyMessage]) -> list[BaseMessage]:
        return repair_messages(messages, policy=self._policy, on_repair=self._on_repair)

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        """Repairs the messages of a request; the state keeps its own."""
        return handler(request.override(messages=self._repaired(request.messages)))

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        """Repairs the messages of a request; the state keeps its own."""
        return await handler(request.override(messages=self._repaired(request.messages)))

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Rewrites the state once, before the agent starts, if `persist` says so."""
        if not self._persist:
            return None
        messages = state["messages"]
        repaired = self._repaired(messages)
        if repaired is messages:
            return None
        return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *repaired]}

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Rewrites the state once, before the agent starts, if `persist` says so."""
        return self.before_agent(state, runtime)
