"""pydantic-ai: a capability that repairs the history of an agent.

    agent = Agent(model, capabilities=[SeamlineHistory()])
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    MULTI_MODAL_CONTENT_TYPES,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    SystemPromptPart,
    TextContent,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from seamline import _carried, _failure, _options, _providers
from seamline._failure import OnFailure, OnRepair
from seamline.results import Repaired


def _text_of_content(item: Any) -> str | None:
    if isinstance(item, str):
        return item
    return item.content if isinstance(item, TextContent) else None


_CONTENT = _carried.Form(
    text_of=_text_of_content,
    with_text=lambda item, text: text if isinstance(item, str) else TextContent(text, metadata=item.metadata),
    made=lambda text: text,
)
_RESPONSE = _carried.Form(
    text_of=lambda part: part.content if isinstance(part, TextPart) else None,
    with_text=lambda part, text: replace(part, content=text),
    made=TextPart,
)

#: Parts that hold no content: they stay beside the part before them.
_BESIDE = ("tool-availability-delta", "model-settings-delta", "instruction-delta", "instruction-baseline")


def repair_messages(
    messages: Sequence[ModelMessage],
    *,
    provider: str | None = None,
    policy: str | dict[str, Any] | None = None,
    on_repair: OnRepair | None = None,
    on_failure: OnFailure = "pass",
) -> list[ModelMessage]:
    """Repairs a history. Unchanged messages are the given objects; a list without damage is returned itself.

    `provider` is the one whose demands apply, OpenAI without it. If the repair itself fails, the messages are returned as
    they are and the log says so; with `on_failure="raise"` the exception reaches the caller.
    """
    _options.require(provider, policy)
    given = messages if isinstance(messages, list) else list(messages)
    return _failure.guarded(
        "a history of pydantic-ai",
        given,
        lambda: _repaired(given, provider, policy),
        on_failure=_failure.checked(on_failure),
        on_repair=on_repair,
    )


def _repaired(
    messages: list[ModelMessage], provider: str | None, policy: str | dict[str, Any] | None
) -> tuple[list[ModelMessage], Repaired | None]:
    history = _History(messages)
    returned, repaired = _carried.repair(history.carried, provider=provider, policy=policy)
    return (messages, None) if returned is None else (history.joined(returned), repaired)


@dataclass(frozen=True, slots=True)
class _Source:
    """The parts that a carried message was made of."""

    #: The index of the message in the history.
    position: int
    #: The part of a request; nothing for a response, which is carried as a whole.
    part: Any = None
    #: The parts beside it that hold no content, before and behind it.
    before: tuple[Any, ...] = ()
    behind: list[Any] = field(default_factory=list)


class _History:
    """A history as chat messages: one for each response, and one for each part of a request."""

    def __init__(self, messages: list[ModelMessage]) -> None:
        self._messages = messages
        self._sources: list[_Source] = []
        #: Requests without content, such as those with instructions only. They stay where they are.
        self._bare: list[int] = []
        parts = [part for message in messages if isinstance(message, ModelRequest) for part in message.parts]
        self._contents = _carried.Marks(_CONTENT, (getattr(part, "content", None) or "" for part in parts if _is_listed(part)))
        responses = [message.parts for message in messages if isinstance(message, ModelResponse)]
        self._responses = _carried.Marks(_RESPONSE, responses)
        self.carried: list[dict[str, Any]] = []
        for position, message in enumerate(messages):
            if isinstance(message, ModelResponse):
                self._carry(_Source(position), self._response(message))
            else:
                self._request(position, message)

    def _carry(self, source: _Source, carried: dict[str, Any]) -> None:
        self._sources.append(source)
        self.carried.append(carried)

    def _request(self, position: int, message: ModelRequest) -> None:
        first = len(self._sources)
        before: list[Any] = []
        for part in message.parts:
            if part.part_kind not in _BESIDE:
                self._carry(_Source(position, part, tuple(before)), self._part(part))
                before = []
            elif len(self._sources) > first:
                self._sources[-1].behind.append(part)
            else:
                before.append(part)
        if len(self._sources) == first:
            self._bare.append(position)

    def _part(self, part: Any) -> dict[str, Any]:
        if isinstance(part, SystemPromptPart):
            return {"role": "system", "content": part.content}
        if isinstance(part, ToolReturnPart):
            return {"role": "tool", "tool_call_id": part.tool_call_id, "content": self._returned(part)}
        if isinstance(part, RetryPromptPart) and part.tool_name is not None:
            text = part.content if isinstance(part.content, str) else part.model_response()
            return {"role": "tool", "tool_call_id": part.tool_call_id, "content": text}
        if isinstance(part, UserPromptPart):
            return {"role": "user", "content": self._contents.carried(part.content)}
        # Other parts are the user's for the provider, and never change.
        return {"role": "user", "content": "[content]"}

    def _returned(self, part: ToolReturnPart) -> Any:
        if isinstance(part.content, str) or _is_listed(part):
            return self._contents.carried(part.content)
        try:
            return part.model_response_str()
        except ValueError:
            # pydantic cannot write half surrogates.
            return [{"type": "text", "text": leaf} for leaf in _leaves(part.content)] or "[content]"

    def _response(self, message: ModelResponse) -> dict[str, Any]:
        content = self._responses.carried([part for part in message.parts if not isinstance(part, ToolCallPart)])
        calls = [
            _carried.call(part.tool_call_id, part.tool_name, _arguments(part))
            for part in message.parts
            if isinstance(part, ToolCallPart)
        ]
        if calls:
            return {"role": "assistant", "content": content or None, "tool_calls": calls}
        return {"role": "assistant", "content": content}

    def joined(self, returned: list[_carried.Returned]) -> list[ModelMessage]:
        """The history of the returned messages; a request whose parts are unchanged is the given object."""
        history: list[ModelMessage] = []
        names: dict[str, str] = {}
        #: Parts of requests with the positions of their messages; those that the repair made have none.
        pending: list[tuple[int | None, list[Any]]] = []
        bare = list(self._bare)

        def emit(position: int | None, message: ModelMessage) -> None:
            while bare and position is not None and bare[0] < position:
                history.append(self._messages[bare.pop(0)])
            history.append(message)

        def flush() -> None:
            for position, parts in _grouped(pending):
                emit(position, self._made_request(position, parts))
            pending.clear()

        for one in returned:
            source = None if one.origin is None else self._sources[one.origin]
            if one.message["role"] == "assistant":
                flush()
                origin = None if source is None else self._messages[source.position]
                made = origin if not one.changed and origin is not None else self._made_response(one, origin)
                emit(None if source is None else source.position, made)
                calls = one.message.get("tool_calls") or ()
                names.update((call["id"], call["function"]["name"]) for call in calls)
            elif source is None:
                pending.append((None, [self._made_part(one, None, names)]))
            else:
                part = source.part if not one.changed else self._made_part(one, source.part, names)
                is_ours = isinstance(self._messages[source.position], ModelRequest)
                pending.append((source.position if is_ours else None, [*source.before, part, *source.behind]))
        flush()
        return history + [self._messages[position] for position in bare]

    def _made_request(self, position: int | None, parts: list[Any]) -> ModelRequest:
        if position is None:
            return ModelRequest(parts=parts)
        origin = self._messages[position]
        is_same = len(parts) == len(origin.parts) and all(new is old for new, old in zip(parts, origin.parts))
        return origin if is_same else replace(origin, parts=parts)

    def _made_part(self, one: _carried.Returned, part: Any, names: dict[str, str]) -> Any:
        carried = one.message
        content = carried.get("content")
        is_kept = one.origin is not None and content == self.carried[one.origin].get("content")
        if carried["role"] == "tool":
            id = carried["tool_call_id"]
            if isinstance(part, (ToolReturnPart, RetryPromptPart)):
                return replace(part, tool_call_id=id, content=part.content if is_kept else self._patched(content, part))
            text = _carried.text_of(content)
            made = {"seamline": "synthetic"}
            return ToolReturnPart(tool_name=names.get(id, "unknown"), content=text, tool_call_id=id, metadata=made)
        if carried["role"] == "system":
            text = _carried.text_of(content)
            return replace(part, content=text) if isinstance(part, SystemPromptPart) else SystemPromptPart(text)
        old = getattr(part, "content", None)
        new = self._contents.restored(content, old if isinstance(old, (str, list, tuple)) else None)
        new = new[0] if isinstance(new, list) and len(new) == 1 and isinstance(new[0], str) else new
        return replace(part, content=new) if isinstance(part, UserPromptPart) else UserPromptPart(new)

    def _patched(self, content: Any, part: Any) -> Any:
        """The content of a result with its repaired texts."""
        if isinstance(part.content, str) or _is_listed(part):
            return self._contents.restored(content, part.content)
        texts, leaves = _carried.texts_of(content), list(_leaves(part.content))
        if isinstance(content, list) and len(texts) == len(leaves):
            return _with_leaves(part.content, iter(texts))
        return _carried.text_of(content)

    def _made_response(self, one: _carried.Returned, origin: ModelMessage | None) -> ModelResponse:
        carried = one.message
        calls = carried.get("tool_calls") or []
        content = carried.get("content")
        if not isinstance(origin, ModelResponse):
            parts = [TextPart(text) for text in _carried.texts_of(content) if text]
            return ModelResponse(parts=[*parts, *(_made_call(call, None) for call in calls)])
        old = [part for part in origin.parts if isinstance(part, ToolCallPart)]
        others = [part for part in origin.parts if not isinstance(part, ToolCallPart)]
        if content != self.carried[one.origin].get("content"):
            others = self._responses.restored(content, others) if content else []
        by_id = {part.tool_call_id: part for part in old}
        is_one_to_one = len(old) == len(calls)
        made = [_made_call(call, old[at] if is_one_to_one else by_id.get(call["id"])) for at, call in enumerate(calls)]
        if not is_one_to_one or len(others) + len(made) != len(origin.parts):
            return replace(origin, parts=[*others, *made])
        # Each part stays at its place.
        rest, new = iter(others), iter(made)
        return replace(origin, parts=[next(new if isinstance(part, ToolCallPart) else rest) for part in origin.parts])


def _is_listed(part: Any) -> bool:
    """Whether the content of a part is a list of texts and files."""
    if isinstance(part, UserPromptPart):
        return True
    content = getattr(part, "content", None) if isinstance(part, ToolReturnPart) else None
    return isinstance(content, (list, tuple)) and any(isinstance(item, MULTI_MODAL_CONTENT_TYPES) for item in content)


def _grouped(pending: list[tuple[int | None, list[Any]]]) -> Iterator[tuple[int | None, list[Any]]]:
    """The parts by message. A part that the repair made joins its neighbours."""
    position: int | None = None
    parts: list[Any] = []
    for one, more in pending:
        if one is not None and position is not None and one != position:
            yield position, parts
            position, parts = None, []
        position = one if position is None else position
        parts = [*parts, *more]
    if parts:
        yield position, parts


def _leaves(value: Any) -> Iterator[str]:
    """The texts in a structured value, but for empty ones."""
    if isinstance(value, str):
        if value:
            yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _leaves(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _leaves(one)


def _with_leaves(value: Any, texts: Iterator[str]) -> Any:
    """The value with other texts, in the order of `_leaves`."""
    if isinstance(value, str):
        return next(texts) if value else value
    if isinstance(value, dict):
        return {name: _with_leaves(one, texts) for name, one in value.items()}
    return [_with_leaves(one, texts) for one in value] if isinstance(value, (list, tuple)) else value


def _arguments(part: ToolCallPart) -> str:
    try:
        return part.args_as_json_str()
    except ValueError:
        # pydantic cannot write half surrogates.
        return json.dumps(part.args)


def _made_call(carried: dict[str, Any], part: ToolCallPart | None) -> ToolCallPart:
    function = carried["function"]
    if part is None:
        return ToolCallPart(tool_name=function["name"], args=function["arguments"], tool_call_id=carried["id"])
    changes: dict[str, Any] = {"tool_name": function["name"], "tool_call_id": carried["id"]}
    if function["arguments"] != _arguments(part):
        changes["args"] = json.loads(function["arguments"])
    return replace(part, **changes)


@dataclass
class SeamlineHistory(AbstractCapability[Any]):
    """Repairs the history of an agent before its first step and before each request."""

    #: The provider whose demands apply; without it that of the agent's model.
    provider: str | None = None
    policy: str | dict[str, Any] | None = None
    on_repair: OnRepair | None = None
    on_failure: OnFailure = "pass"

    def __post_init__(self) -> None:
        _failure.checked(self.on_failure)
        _options.require(self.provider, self.policy)

    def _repaired(self, messages: list[ModelMessage], model: Any) -> list[ModelMessage]:
        provider = self.provider or _failure.attempted(lambda: _providers.of_pydantic_ai(model))
        options = {"policy": self.policy, "on_repair": self.on_repair, "on_failure": self.on_failure}
        return repair_messages(messages, provider=provider, **options)

    async def before_node_run(self, ctx: Any, *, node: Any) -> Any:
        """Repairs the history that a run begins with.

        Without a prompt the agent runs the open calls itself, and with results of deferred calls it answers them.
        """
        answers = getattr(node, "deferred_tool_results", None)
        if getattr(node, "user_prompt", None) is not None and answers is None and ctx.messages:
            given = list(ctx.messages)
            repaired = self._repaired(given, getattr(ctx, "model", None))
            if repaired is not given:
                ctx.messages[:] = repaired
        return node

    async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
        """Repairs the history of a request."""
        given = list(request_context.messages)
        repaired = self._repaired(given, getattr(request_context, "model", None))
        if repaired is not given:
            request_context.messages = repaired
            ctx.messages[:] = repaired
        return request_context
