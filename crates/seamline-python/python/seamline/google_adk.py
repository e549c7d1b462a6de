"""Google ADK: a plugin that answers the open calls of a session and repairs the contents of each request.

    runner = Runner(app=App(name="app", root_agent=agent, plugins=[SeamlinePlugin()]), ...)

Without it ADK deletes a call that has no response, and the model forgets that a tool may have run.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
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


#: The calls by which ADK itself asks the user.
_ASKING = ("adk_request_credential", "adk_request_confirmation", "adk_request_input")


def _id_of(part: types.Part) -> str | None:
    mine = part.function_call or part.function_response
    return mine.id if mine is not None else None


def _deferred(events: list[Event]) -> set[str]:
    """The ids of calls that ADK answers more than once or later: long-running tools, and tools that ask the user first.

    The first response says that they wait, and the last one counts. All of it is left to ADK.
    """
    ids: set[str] = set()
    for event in events:
        ids.update(event.long_running_tool_ids or ())
        ids.update(event.actions.requested_tool_confirmations or (), event.actions.requested_auth_configs or ())
        ids.update(one.id for one in event.get_function_calls() if one.name in _ASKING and one.id)
    return ids


def _current(events: list[Event]) -> list[Event]:
    """The events that a rewind did not take back."""
    starts: dict[str, int] = {}
    for index, event in enumerate(events):
        starts.setdefault(event.invocation_id, index)
    current: list[Event] = []
    index = len(events) - 1
    while index >= 0:
        rewound = getattr(events[index].actions, "rewind_before_invocation_id", None)
        if rewound:
            index = min(index, starts.get(rewound, index))
        else:
            current.append(events[index])
        index -= 1
    return current[::-1]


@dataclass
class _Turn:
    """The parts of an event that are ours to repair."""

    event: Event
    parts: list[types.Part]

    @property
    def results(self) -> list[types.FunctionResponse]:
        return [part.function_response for part in self.parts if part.function_response]


def _turns(events: list[Event], skipped: set[str]) -> list[_Turn]:
    turns = []
    for event in events:
        parts = event.content.parts if event.content and event.content.parts else []
        kept = [part for part in parts if _id_of(part) not in skipped]
        if kept:
            turns.append(_Turn(event, kept))
    return turns


@dataclass(frozen=True)
class _Sent:
    """The results as ADK sends them."""

    #: Results that it drops, because they are before their calls.
    dropped: list[types.FunctionResponse]
    #: The id and the output of the result of each call.
    said: set[tuple[str | None, str]]


def _sorted_as_sent(turns: list[_Turn]) -> _Sent:
    """Puts the last result of a call to the place of the first one, because that is the one that ADK sends."""
    calls: dict[str, int] = {}
    results: dict[str, list[tuple[int, int]]] = {}
    for at, turn in enumerate(turns):
        for place, part in enumerate(turn.parts):
            if part.function_call and part.function_call.id:
                calls.setdefault(part.function_call.id, at)
            elif part.function_response and part.function_response.id:
                results.setdefault(part.function_response.id, []).append((at, place))
    sent = _Sent([], set())
    for id, places in results.items():
        if id not in calls:
            continue
        behind = [(at, place) for at, place in places if at > calls[id]]
        if behind:
            (at, place), (last, last_place) = behind[0], behind[-1]
            first_part, last_part = turns[at].parts[place], turns[last].parts[last_place]
            turns[at].parts[place], turns[last].parts[last_place] = last_part, first_part
            sent.said.add(_said(last_part.function_response))
        else:
            at, place = places[0]
            sent.dropped.append(turns[at].parts[place].function_response)
            sent.said.add(_said(sent.dropped[-1]))
    return sent


def _demoted(turns: list[_Turn], repaired: seamline.Repaired, sent: _Sent) -> list[types.Part]:
    """The results that ADK does not send, as the texts that the repair keeps of them."""
    known = {part.text for turn in turns for part in turn.parts if part.text}
    texts = []
    for content, origin in zip(repaired.messages, repaired.origins):
        results = [] if origin is None else turns[origin].results
        if all(_said(one) in sent.said for one in results):
            continue
        texts += [part["text"] for part in content.get("parts", ()) if "text" in part]
    return [types.Part(text=text) for text in texts if text not in known]


def _said(result: types.FunctionResponse) -> tuple[str | None, str]:
    return result.id, repr(result.response)


def _tell_apart(events: list[Event], skipped: set[str]) -> None:
    """Gives calls with the same id, and their results, ids of their own in this run; the stored events keep theirs.

    ADK finds a result by its id, and would drop all but one of them.
    """
    made: dict[str, list[str]] = {}
    answered: dict[str, int] = {}
    for at, event in enumerate(events):
        if not event.content or not event.content.parts:
            continue
        parts = []
        for part in event.content.parts:
            new = id = _id_of(part)
            if id is None or id in skipped:
                pass
            elif part.function_call:
                ids = made.setdefault(id, [])
                new = id if not ids else f"{id}_{len(ids) + 1}"
                ids.append(new)
            else:
                number = answered.get(id, 0)
                answered[id] = number + 1
                # A further result is one too many, and no other call's.
                new = made[id][number] if number < len(made.get(id, ())) else id
            parts.append(part if id is None or new == id else _with_id(part, new))
        if any(new is not old for new, old in zip(parts, event.content.parts)):
            # A session service may give the events that it stores.
            content = event.content.model_copy(update={"parts": parts})
            events[at] = event.model_copy(update={"content": content})


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
        skipped = _deferred(history)
        _tell_apart(history, skipped)
        turns = _turns(_current(history), skipped)
        sent = _sorted_as_sent(turns)
        contents = [types.Content(role=turn.event.content.role, parts=turn.parts) for turn in turns]
        repaired = self._repair([_carry(content) for content in contents]) if contents else None
        if repaired is None or not repaired.changed:
            return [], None
        resumed = [turn.event for turn in turns if turn.event.invocation_id == invocation_id]
        # A run that is resumed makes its open calls itself.
        own = {one.id for event in resumed for one in event.get_function_calls()}
        answered = {action.call_id for action in repaired.actions if action.synthetic} - own
        parts = [part for content in repaired.messages for part in content.get("parts", ())]
        responses = [part["functionResponse"] for part in parts if "functionResponse" in part]
        made = [
            types.Part(function_response=types.FunctionResponse.model_validate(one))
            for one in responses
            if one.get("id") in answered and one.get("id")
        ]
        made += [types.Part(function_response=one) for one in sent.dropped]
        author = next((turn.event.author for turn in reversed(turns) if turn.event.get_function_calls()), "user")
        new = []
        for by, kept in ((author, made), ("user", _demoted(turns, repaired, sent))):
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
