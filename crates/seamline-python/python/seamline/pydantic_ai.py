"""pydantic-ai: a capability that repairs the history of an agent.

    agent = Agent(model, capabilities=[SeamlineHistory()])
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from seamline import _carried
from seamline._wire import OnRepair


def repair_messages(
    messages: Sequence[ModelMessage],
    *,
    policy: str | dict[str, Any] | None = None,
    on_repair: OnRepair | None = None,
) -> list[ModelMessage]:
    """Repairs a history. Unchanged messages are the given objects; a list without damage is returned itself."""
    carried: list[dict[str, Any]] = []
    sources: list[tuple[ModelMessage, Any]] = []
    for message in messages:
        parts = [None] if isinstance(message, ModelResponse) else message.parts
        for part in parts:
            carried.append(_response(message) if isinstance(message, ModelResponse) else _part(part))
            sources.append((message, part))
    returned = _carried.repair(carried, policy=policy, on_repair=on_repair)
    if returned is None:
        return messages if isinstance(messages, list) else list(messages)
    return _joined(returned, sources)


def _part(part: Any) -> dict[str, Any]:
    if isinstance(part, SystemPromptPart):
        return {"role": "system", "content": part.content}
    if isinstance(part, ToolReturnPart):
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": part.model_response_str()}
    if isinstance(part, RetryPromptPart) and part.tool_name is not None:
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": part.model_response()}
    content = part.content if isinstance(part, UserPromptPart) else getattr(part, "content", None)
    return {"role": "user", "content": content if isinstance(content, str) else "[content]"}


def _response(message: ModelResponse) -> dict[str, Any]:
    text = "\n".join(part.content for part in message.parts if isinstance(part, TextPart))
    others = any(not isinstance(part, (TextPart, ToolCallPart)) for part in message.parts)
    calls = [
        _carried.call(part.tool_call_id, part.tool_name, part.args_as_json_str())
        for part in message.parts
        if isinstance(part, ToolCallPart)
    ]
    if calls:
        return {"role": "assistant", "content": text or None, "tool_calls": calls}
    return {"role": "assistant", "content": text or ("[content]" if others else "")}


def _joined(returned: list[_carried.Returned], sources: list[tuple[ModelMessage, Any]]) -> list[ModelMessage]:
    """The history of the returned parts; a request whose parts are unchanged is the given object."""
    history: list[ModelMessage] = []
    names: dict[str, str] = {}
    pending: list[tuple[ModelMessage | None, Any]] = []

    def flush() -> None:
        while pending:
            origin = next((one for one, _ in pending if one is not None), None)
            of_origin = [index for index, (one, _) in enumerate(pending) if one is origin or one is None]
            end = next((index for index in range(len(pending)) if index not in of_origin), len(pending))
            parts = [part for _, part in pending[:end]]
            del pending[:end]
            is_same = origin is not None and len(parts) == len(origin.parts)
            if is_same and all(new is old for new, old in zip(parts, origin.parts)):
                history.append(origin)
            else:
                history.append(replace(origin, parts=parts) if origin is not None else ModelRequest(parts=parts))

    for one in returned:
        message, part = sources[one.origin] if one.origin is not None else (None, None)
        if one.message["role"] == "assistant":
            flush()
            history.append(message if not one.changed and message is not None else _made_response(one.message, message))
            for call in one.message.get("tool_calls") or ():
                names[call["id"]] = call["function"]["name"]
        elif not one.changed:
            pending.append((message, part))
        else:
            source = message if isinstance(message, ModelRequest) else None
            pending.append((source, _made_part(one.message, part, names)))
    flush()
    return history


def _made_part(carried: dict[str, Any], part: Any, names: dict[str, str]) -> Any:
    content = _carried.text_of(carried.get("content"))
    if carried["role"] == "tool":
        id = carried["tool_call_id"]
        if isinstance(part, (ToolReturnPart, RetryPromptPart)):
            return replace(part, tool_call_id=id)
        made = {"seamline": "synthetic"}
        return ToolReturnPart(tool_name=names.get(id, "unknown"), content=content, tool_call_id=id, metadata=made)
    return SystemPromptPart(content) if carried["role"] == "system" else UserPromptPart(content)


def _made_response(carried: dict[str, Any], origin: ModelMessage | None) -> ModelResponse:
    calls = carried.get("tool_calls") or []
    if not isinstance(origin, ModelResponse):
        text = _carried.text_of(carried.get("content"))
        parts: list[Any] = [TextPart(text)] if text else []
        return ModelResponse(parts=[*parts, *(_made_call(call, None) for call in calls)])
    old = [part for part in origin.parts if isinstance(part, ToolCallPart)]
    others = [part for part in origin.parts if not isinstance(part, ToolCallPart)]
    by_id = {part.tool_call_id: part for part in old}
    made = [_made_call(call, old[at] if len(old) == len(calls) else by_id.get(call["id"])) for at, call in enumerate(calls)]
    return replace(origin, parts=[*others, *made])


def _made_call(carried: dict[str, Any], part: ToolCallPart | None) -> ToolCallPart:
    function = carried["function"]
    if part is None:
        return ToolCallPart(tool_name=function["name"], args=function["arguments"], tool_call_id=carried["id"])
    changes: dict[str, Any] = {"tool_name": function["name"], "tool_call_id": carried["id"]}
    if function["arguments"] != part.args_as_json_str():
        changes["args"] = json.loads(function["arguments"])
    return replace(part, **changes)


@dataclass
class SeamlineHistory(AbstractCapability[Any]):
    """Repairs the history of an agent before its first step and before each request."""

    policy: str | dict[str, Any] | None = None
    on_repair: OnRepair | None = None

    def _repaired(self, messages: list[ModelMessage]) -> list[ModelMessage]:
        return repair_messages(messages, policy=self.policy, on_repair=self.on_repair)

    async def before_node_run(self, ctx: Any, *, node: Any) -> Any:
        """Repairs the history that a run begins with. Without a prompt the agent runs the open calls itself."""
        if getattr(node, "user_prompt", None) is not None and ctx.messages:
            repaired = self._repaired(list(ctx.messages))
            if repaired != ctx.messages:
                ctx.messages[:] = repaired
        return node

    async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
        """Repairs the history of a request."""
        given = list(request_context.messages)
        repaired = self._repaired(given)
        if repaired is not given:
            request_context.messages = repaired
            ctx.messages[:] = repaired
        return request_context
