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

from seamline import _carried, _failure, _options, _providers
from seamline._failure import OnFailure, OnRepair
from seamline.results import Repaired


def _text_of(part: Any) -> str | None:
    if isinstance(part, str):
        return part
    text = part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None
    return text if isinstance(text, str) else None


_FORM = _carried.Form(
    text_of=_text_of,
    with_text=lambda part, text: text if isinstance(part, str) else {**part, "text": text},
    made=lambda text: {"type": "text", "text": text},
)


def repair_messages(
    messages: Sequence[BaseMessage],
    *,
    provider: str | None = None,
    policy: str | dict[str, Any] | None = None,
    on_repair: OnRepair | None = None,
    on_failure: OnFailure = "pass",
) -> list[BaseMessage]:
    """Repairs LangChain messages. Unchanged messages are the given objects; a list without damage is returned itself.

    `provider` is the one whose demands apply, OpenAI without it. If the repair itself fails, the messages are returned as
    they are and the log says so; with `on_failure="raise"` the exception reaches the caller.
    """
    _options.require(provider, policy)
    given = messages if isinstance(messages, list) else list(messages)
    return _failure.guarded(
        "a history of LangChain",
        given,
        lambda: _repaired(given, provider, policy),
        on_failure=_failure.checked(on_failure),
        on_repair=on_repair,
    )


def _repaired(
    messages: list[BaseMessage], provider: str | None, policy: str | dict[str, Any] | None
) -> tuple[list[BaseMessage], Repaired | None]:
    marks = _carried.Marks(_FORM, (message.content for message in messages))
    carried = [_carry(message, marks) for message in messages]
    returned, repaired = _carried.repair(carried, provider=provider, policy=policy)
    if returned is None:
        return messages, None
    made = []
    for one in returned:
        origin = None if one.origin is None else messages[one.origin]
        if not one.changed and origin is not None:
            made.append(origin)
            continue
        before = None if one.origin is None else carried[one.origin]
        # A repair that leaves the content leaves the content's object, too.
        is_kept = before is not None and before["content"] == one.message.get("content")
        content = origin.content if is_kept else marks.restored(one.message.get("content"), origin and origin.content)
        content = [part for part in content if part is not _OLD_CALL] if isinstance(content, list) else content
        made.append(_made(one.message, origin, content))
    return made, repaired


#: A call of the old kind in a message without content. Without it the message looks empty.
_OLD_CALL = {"type": "function_call"}


def _carry(message: BaseMessage, marks: _carried.Marks) -> dict[str, Any]:
    content = marks.carried(message.content)
    if isinstance(message, ToolMessage):
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": content}
    if isinstance(message, AIMessage):
        calls = [_carried.call(one["id"], one["name"], json.dumps(one["args"])) for one in message.tool_calls]
        calls += [
            _carried.call(one.get("id"), one.get("name") or "", one.get("args") or "")
            for one in message.invalid_tool_calls
        ]
        if calls:
            return {"role": "assistant", "content": content or None, "tool_calls": calls}
        refusal = message.additional_kwargs.get("refusal")
        if not content and message.additional_kwargs.get("function_call"):
            content = marks.carried([_OLD_CALL])
        return {"role": "assistant", "content": content, **({"refusal": refusal} if refusal else {})}
    if isinstance(message, SystemMessage):
        return {"role": "system", "content": content}
    return {"role": "user", "content": content}


def _made(carried: dict[str, Any], origin: BaseMessage | None, content: Any) -> BaseMessage:
    role = carried["role"]
    if role == "tool":
        id = carried["tool_call_id"]
        if isinstance(origin, ToolMessage):
            return origin.model_copy(update={"tool_call_id": id, "content": content})
        return ToolMessage(content=content, tool_call_id=id, status="error")
    if role == "assistant":
        calls = [_call(one) for one in carried.get("tool_calls") or ()]
        if not isinstance(origin, AIMessage):
            return AIMessage(content=content, tool_calls=calls)
        is_refusal_gone = "refusal" not in carried and not (origin.tool_calls or origin.invalid_tool_calls)
        gone = ("tool_calls", "refusal") if is_refusal_gone else ("tool_calls",)
        others = {name: value for name, value in origin.additional_kwargs.items() if name not in gone}
        changes = {"tool_calls": calls, "invalid_tool_calls": [], "additional_kwargs": others}
        return origin.model_copy(update={**changes, "content": _with_calls(content, origin, calls)})
    kind = SystemMessage if role == "system" else HumanMessage
    return origin.model_copy(update={"content": content}) if isinstance(origin, kind) else kind(content=content)


def _call(carried: dict[str, Any]) -> dict[str, Any]:
    function = carried["function"]
    try:
        arguments = json.loads(function["arguments"] or "{}")
    except ValueError:
        arguments = {"raw": function["arguments"]}
    arguments = arguments if isinstance(arguments, dict) else {"value": arguments}
    return {"id": carried["id"], "name": function["name"], "args": arguments, "type": "tool_call"}


def _with_calls(content: Any, origin: AIMessage, calls: list[dict[str, Any]]) -> Any:
    """The content whose blocks of calls have the new ids, and without the blocks of calls that are gone."""
    if not isinstance(content, list):
        return content
    before = [one.get("id") for one in (*origin.tool_calls, *origin.invalid_tool_calls)]
    # Calls with the same id are told apart by their order.
    renamed: dict[Any, list[Any]] = {}
    if len(before) == len(calls):
        for old, call in zip(before, calls):
            renamed.setdefault(old, []).append(call["id"])
    ids = {call["id"] for call in calls}
    blocks = []
    for block in content:
        if isinstance(block, dict) and block.get("type") in ("tool_use", "tool_call"):
            others = renamed.get(block.get("id"))
            id = others.pop(0) if others else block.get("id")
            if id not in ids:
                continue
            block = block if id == block.get("id") else {**block, "id": id}
        blocks.append(block)
    return blocks


class SeamlineMiddleware(AgentMiddleware):
    """Repairs the messages of an agent: those of each request, or with `persist=True` those of its state, too."""

    def __init__(
        self,
        *,
        persist: bool = False,
        provider: str | None = None,
        policy: str | dict[str, Any] | None = None,
        on_repair: OnRepair | None = None,
        on_failure: OnFailure = "pass",
    ) -> None:
        """Without `provider` that of the request's model is meant."""
        super().__init__()
        _options.require(provider, policy)
        self._persist = persist
        self._provider = provider
        self._options = {"policy": policy, "on_repair": on_repair, "on_failure": _failure.checked(on_failure)}

    def _repaired(self, messages: Sequence[AnyMessage], model: Any) -> list[BaseMessage]:
        provider = self._provider or _failure.attempted(lambda: _providers.of_langchain(model))
        return repair_messages(messages, provider=provider, **self._options)

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        """Repairs the messages of a request; the state keeps its own."""
        return handler(request.override(messages=self._repaired(request.messages, request.model)))

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        """Repairs the messages of a request; the state keeps its own."""
        return await handler(request.override(messages=self._repaired(request.messages, request.model)))

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Rewrites the state once, before the agent starts, if `persist` says so."""
        if not self._persist:
            return None
        messages = state["messages"]
        # No model is known here, and each request gets what its model demands.
        repaired = repair_messages(messages, provider=self._provider or _providers.SHARED, **self._options)
        if repaired is messages:
            return None
        return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *repaired]}

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Rewrites the state once, before the agent starts, if `persist` says so."""
        return self.before_agent(state, runtime)
