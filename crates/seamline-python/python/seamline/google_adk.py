"""Google ADK: a plugin that answers the open calls of a session and repairs the contents of each request.

    runner = Runner(app=App(name="app", root_agent=agent, plugins=[SeamlinePlugin()]), ...)

Without it ADK deletes a call that has no response, and the model forgets that a tool may have run.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from enum import Enum
from typing import Any

from google.adk.events import Event
from google.adk.plugins import BasePlugin
from google.genai import types

import seamline
from seamline import _failure, _options
from seamline._failure import OnFailure, OnRepair
from seamline.results import Repaired

_DIALECT = "gemini_generate"


def _carry(content: types.Content) -> dict[str, Any]:
    try:
        return content.model_dump(mode="json", by_alias=True, exclude_none=True)
    except ValueError:
        # pydantic cannot write half surrogates.
        return _plain(content.model_dump(by_alias=True, exclude_none=True))


def _plain(value: Any) -> Any:
    """A value as its JSON has it."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, bytes):
        return base64.urlsafe_b64encode(value).decode()
    return value.value if isinstance(value, Enum) else value


def _made(carried: dict[str, Any], before: dict[str, Any] | None, origin: types.Content | None) -> types.Content:
    """The content of a repaired message. Its unchanged parts are the objects that the caller gave."""
    known = list(zip(before["parts"], origin.parts)) if before and origin and origin.parts else []
    parts = []
    for part in carried.get("parts", ()):
        index = next((index for index, (one, _) in enumerate(known) if one == part), None)
        # Bytes are base64 only in the JSON of a part.
        new = types.Part.model_validate_json(json.dumps(part)) if index is None else known.pop(index)[1]
        parts.append(new)
    return types.Content(role=carried.get("role"), parts=parts)


def _demoted(events: list[Event], repaired: seamline.Repaired) -> list[types.Part]:
    """The results without a call, as the texts that the repair keeps of them. ADK drops such results."""
    known = {part.text for event in events for part in event.content.parts if part.text}
    times = Counter(_said(one) for event in events for one in event.get_function_responses())
    texts = []
    for content, origin in zip(repaired.messages, repaired.origins):
        results = [] if origin is None else events[origin].get_function_responses()
        # One that is there twice is sent as a result.
        if all(times[_said(one)] > 1 for one in results):
            continue
        texts += [part["text"] for part in content.get("parts", ()) if "text" in part]
    return [types.Part(text=text) for text in texts if text not in known]


def _said(result: types.FunctionResponse) -> tuple[str | None, str]:
    return result.id, repr(result.response)


def _unsent(events: list[Event]) -> list[types.Part]:
    """The results that ADK does not send: those before their call, and the first one where a later one differs."""
    calls: dict[str, int] = {}
    results: dict[str, list[tuple[int, types.FunctionResponse]]] = {}
    for index, event in enumerate(events):
        for part in event.content.parts:
            if part.function_call and part.function_call.id:
                calls.setdefault(part.function_call.id, index)
            elif part.function_response and part.function_response.id:
                results.setdefault(part.function_response.id, []).append((index, part.function_response))
    unsent = []
    for id, found in results.items():
        (_, first), (last_index, last) = found[0], found[-1]
        if id in calls and (last_index < calls[id] or last.response != first.response):
            unsent.append(types.Part(function_response=first))
    return unsent


def _tell_apart(events: list[Event]) -> None:
    """Gives calls with the same id, and their results, ids of their own in this run; the stored events keep theirs.

    ADK finds a result by its id, and would drop all but one of them.
    """
    made: dict[str, list[str]] = {}
    answered: dict[str, int] = {}
    for event in events:
        parts = []
        for part in event.content.parts:
            mine = part.function_call or part.function_response
            new = mine.id if mine is not None else None
            if part.function_call and new:
                ids = made.setdefault(new, [])
                ids.append(new if not ids else f"{new}_{len(ids) + 1}")
                new = ids[-1]
            elif part.function_response and new:
                number = answered.get(new, 0)
                answered[new] = number + 1
                # A further result is one too many, and no other call's.
                new = made[new][number] if number < len(made.get(new, ())) else new
            parts.append(part if mine is None or new == mine.id else _with_id(part, new))
        if any(new is not old for new, old in zip(parts, event.content.parts)):
            before, after = _ids(event.content.parts), _ids(parts)
            event.content = event.content.model_copy(update={"parts": parts})
            waiting = event.long_running_tool_ids or set()
            event.long_running_tool_ids = {new for old, new in zip(before, after) if old in waiting} or None


def _ids(parts: list[types.Part]) -> list[str | None]:
    return [(part.function_call or part.function_response).id for part in parts if part.function_call or part.function_response]


def _with_id(part: types.Part, id: str) -> types.Part:
    name = "function_call" if part.function_call else "function_response"
    return part.model_copy(update={name: getattr(part, name).model_copy(update={"id": id})})


class SeamlinePlugin(BasePlugin):
    """Repairs the conversation of an agent."""

    def __init__(
        self,
        name: str = "seamline",
        *,
        provider: str = "gemini",
        policy: str | dict[str, Any] | None = None,
        on_repair: OnRepair | None = None,
        on_failure: OnFailure = "pass",
    ) -> None:
        super().__init__(name=name)
        _options.require(provider, policy)
        self._provider = provider
        self._policy = policy
        self._options: dict[str, Any] = {"on_repair": on_repair, "on_failure": _failure.checked(on_failure)}

    def _repair(self, contents: list[dict[str, Any]]) -> Repaired:
        return seamline.repair(contents, dialect=_DIALECT, provider=self._provider, policy=self._policy, kept=True)

    async def before_run_callback(self, *, invocation_context: Any) -> None:
        """Answers the calls that a crash left open, as events of the session."""
        session = invocation_context.session

        def work() -> tuple[list[Event], Repaired | None]:
            return self._answers(session.events, invocation_context.invocation_id)

        for event in _failure.guarded("a session of Google ADK", [], work, **self._options):
            await invocation_context.session_service.append_event(session=session, event=event)

    def _answers(self, history: list[Event], invocation_id: str) -> tuple[list[Event], Repaired | None]:
        """The events that answer open calls and keep results without a call."""
        events = [event for event in history if event.content and event.content.parts]
        _tell_apart(events)
        waiting = {id for event in events for id in event.long_running_tool_ids or ()}
        repaired = self._repair([_carry(event.content) for event in events]) if events else None
        if repaired is None or not repaired.changed:
            return [], None
        answered = {action.call_id for action in repaired.actions if action.synthetic} - waiting
        parts = [part for content in repaired.messages for part in content.get("parts", ())]
        responses = [part["functionResponse"] for part in parts if "functionResponse" in part]
        made = [
            types.Part(function_response=types.FunctionResponse.model_validate(one))
            for one in responses
            if one.get("id") in answered and one.get("id")
        ]
        made += _unsent(events)
        author = next((event.author for event in reversed(events) if event.get_function_calls()), "user")
        new = []
        for by, kept in ((author, made), ("user", _demoted(events, repaired))):
            if kept:
                content = types.Content(role="user", parts=kept)
                new.append(Event(author=by, content=content, invocation_id=invocation_id))
        return new, repaired if made else None

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Repairs the contents of a request."""
        contents = llm_request.contents
        llm_request.contents = _failure.guarded(
            "a request of Google ADK", contents, lambda: self._contents(contents), **self._options
        )

    def _contents(self, contents: list[types.Content]) -> tuple[list[types.Content], Repaired | None]:
        carried = [_carry(content) for content in contents]
        repaired = self._repair(carried) if carried else None
        if repaired is None or not repaired.changed:
            return contents, None
        known = {id(content): index for index, content in enumerate(carried)}
        new = []
        for content, origin in zip(repaired.messages, repaired.origins):
            if id(content) in known:
                new.append(contents[known[id(content)]])
            elif origin is None:
                new.append(_made(content, None, None))
            else:
                new.append(_made(content, carried[origin], contents[origin]))
        return new, repaired
