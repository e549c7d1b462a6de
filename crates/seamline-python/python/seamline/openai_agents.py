"""OpenAI Agents: a filter that repairs the input of each model call, and a session on Seamline's durable store.

    Runner.run(agent, "go on", run_config=RunConfig(call_model_input_filter=repair_input))
    Runner.run(agent, "go on", session=SeamlineSession("user-7", "sqlite:agents.db"))
"""

from __future__ import annotations

import asyncio
from typing import Any

from agents.models._openai_shared import get_use_responses_by_default
from agents.run import CallModelData, ModelInputData

import seamline
from seamline import _failure, _options, _text
from seamline._failure import OnFailure, OnRepair
from seamline.async_session import AsyncSession
from seamline.results import Repaired

_DIALECT = "openai_responses"
_PROVIDER = "openai"


def repair_input(
    data: CallModelData[Any],
    *,
    server_managed: bool | None = None,
    provider: str = _PROVIDER,
    policy: str | dict[str, Any] | None = None,
    on_repair: OnRepair | None = None,
    on_failure: OnFailure = "pass",
) -> ModelInputData:
    """Repairs the items that a model call sends. `functools.partial` sets its options.

    With `conversation_id`, `previous_response_id` or `auto_previous_response_id` the server keeps the conversation, and
    the items are only what it does not have yet: the calls of results are not among them. `server_managed=True` says so,
    `False` says that the items are the whole conversation. Without it a list without an item of the model counts as
    managed by the server.
    """
    given = data.model_data
    _options.require(provider, policy)

    def work() -> tuple[ModelInputData, Repaired | None]:
        is_part = server_managed if server_managed is not None else not any(map(_is_of_model, given.input))
        # The member tells the library that the calls are elsewhere; its value is not read.
        body = {"input": given.input, "previous_response_id": "resp_0"} if is_part else given.input
        repaired = seamline.repair(body, dialect=_DIALECT, provider=provider, policy=policy, kept=True)
        is_chat = _failure.attempted(lambda: _speaks_chat(getattr(data.agent, "model", None)))
        items = _with_results_behind(_with_own_ids(repaired.messages), bool(is_chat))
        if not repaired.changed and items is repaired.messages:
            return given, None
        return ModelInputData(input=items, instructions=given.instructions), repaired if repaired.changed else None

    return _failure.guarded(
        "the input of a model call", given, work, on_failure=_failure.checked(on_failure), on_repair=on_repair
    )


#: The calls that a client answers, and the types of their results.
_ANSWERED_BY = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "computer_call": "computer_call_output",
    "shell_call": "shell_call_output",
    "local_shell_call": "local_shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
}
_ANSWERS = frozenset(_ANSWERED_BY.values())


def _member(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, dict) else getattr(item, name, None)


def _with_id(item: Any, id: Any) -> Any:
    if id == _member(item, "call_id"):
        return item
    return {**item, "call_id": id} if isinstance(item, dict) else item.model_copy(update={"call_id": id})


def _with_own_ids(items: list[Any]) -> list[Any]:
    """Items whose calls each have an id of their own: the SDK drops all but one of those with the same id."""
    taken = {_member(item, "call_id") for item in items}
    seen: set[Any] = set()
    waiting: dict[tuple[str, Any], list[Any]] = {}
    new = []
    for item in items:
        kind, given = _member(item, "type"), _member(item, "call_id")
        id = given
        if kind in _ANSWERED_BY and given is not None:
            count = 2
            while id in seen or (id != given and id in taken):
                id = f"{given}_{count}"
                count += 1
            seen.add(id)
            waiting.setdefault((_ANSWERED_BY[kind], given), []).append(id)
        elif kind in _ANSWERS and waiting.get((kind, given)):
            id = waiting[(kind, given)].pop(0)
        new.append(_with_id(item, id))
    return items if all(one is item for one, item in zip(new, items)) else new


def _is_of_model(item: Any) -> bool:
    """Whether a model made an item. A list of what a server does not have yet holds none."""
    kind = _member(item, "type")
    is_made = isinstance(kind, str) and (kind == "reasoning" or kind.endswith("_call"))
    return is_made or _member(item, "role") == "assistant"


#: The models that write chat messages from items, by the names of their classes.
_CHAT_MODELS = frozenset(("OpenAIChatCompletionsModel", "LitellmModel", "AnyLLMModel"))


def _speaks_chat(model: Any) -> bool:
    """Whether the model of an agent speaks Chat Completions. One that a run names instead is not known here."""
    if model is None or isinstance(model, str):
        provider, slash, _ = (model or "").partition("/")
        return bool(slash and provider != "openai") or not get_use_responses_by_default()
    return any(kind.__name__ in _CHAT_MODELS for kind in type(model).__mro__)


def _with_results_behind(items: list[Any], is_chat: bool = False) -> list[Any]:
    """Items in which each result is behind its call and the items of the model beside it.

    A chat message has its text and its calls at once, so for `is_chat` only calls and results are between the two.
    """
    new: list[Any] = []
    calls: dict[tuple[str, Any], Any] = {}
    is_same = True
    for item in items:
        kind, id = _member(item, "type"), _member(item, "call_id")
        call = calls.get((kind, id)) if kind in _ANSWERS else None
        if call is None:
            place = len(new)
        else:
            place = _behind(new, next(at for at, one in enumerate(new) if one is call), is_chat)
        is_same = is_same and place == len(new)
        new.insert(place, item)
        if kind in _ANSWERED_BY:
            calls[(_ANSWERED_BY[kind], id)] = item
    return items if is_same else new


def _behind(items: list[Any], call: int, is_chat: bool) -> int:
    """The place behind the calls and results that follow a call. Reasoning between them stays with the next item."""
    end = call + 1
    for index in range(end, len(items)):
        kind = _member(items[index], "type")
        if kind in _ANSWERED_BY or kind in _ANSWERS:
            end = index + 1
        elif kind != "reasoning" and (is_chat or not _is_of_model(items[index])):
            return end
    return len(items)


class SeamlineSession:
    """A session of OpenAI Agents on SQLite, PostgreSQL or memory. What it returns is repaired."""

    def __init__(
        self,
        session_id: str,
        url: str,
        *,
        provider: str = _PROVIDER,
        policy: str | dict[str, Any] | None = None,
        session_settings: Any = None,
        on_failure: OnFailure = "pass",
    ) -> None:
        _options.require(provider, policy)
        self.session_id = session_id
        self.session_settings = session_settings
        self._url = url
        self._provider = provider
        self._policy = policy
        self._on_failure = _failure.checked(on_failure)
        self._session: AsyncSession | None = None
        self._opening = asyncio.Lock()

    async def _opened(self) -> AsyncSession:
        async with self._opening:
            if self._session is None:
                options = {"dialect": _DIALECT, "provider": self._provider, "policy": self._policy}
                session = await AsyncSession.open(self._url, _text.session_name(self.session_id), **options)
                # The place that `clear_session` rolls back to.
                if not await session.messages() and not await session.checkpoints():
                    await session.create_checkpoint("manual")
                self._session = session
            return self._session

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """The items of the conversation, repaired; with `limit` the latest ones, from the start of a cycle on."""
        items = await (await self._opened()).messages()
        if limit is None:
            limit = getattr(self.session_settings, "limit", None)
        if not items or limit == 0:
            return []
        repaired = _failure.guarded(
            "a session of OpenAI Agents", items, lambda: self._repaired(items), on_failure=self._on_failure
        )
        if limit is None or limit >= len(repaired):
            return repaired
        return seamline.safe_trim(repaired, max_messages=limit, dialect=_DIALECT, provider=self._provider).messages

    def _repaired(self, items: list[Any]) -> tuple[list[Any], Repaired | None]:
        options = {"dialect": _DIALECT, "provider": self._provider, "policy": self._policy}
        repaired = seamline.repair(items, kept=True, **options)
        return _with_results_behind(_with_own_ids(repaired.messages)), repaired

    async def add_items(self, items: list[Any]) -> None:
        """Appends items, all or none, and makes them durable."""
        if not items:
            return
        session = await self._opened()
        # The items before these are kept, so only the last two places are of use: this one, and the start.
        for checkpoint in (await session.checkpoints())[1:]:
            if checkpoint["state"] == "open":
                await session.commit_checkpoint(checkpoint["id"])
        await session.create_checkpoint("manual")
        await session.append(*items)

    async def pop_item(self) -> Any | None:
        """Takes the last item out of the view. The log keeps it."""
        session = await self._opened()
        items = await session.messages()
        if not items:
            return None
        await self._cut(session, len(items) - 1)
        return items[-1]

    async def clear_session(self) -> None:
        """Empties the view. The log keeps its items."""
        session = await self._opened()
        if await session.messages():
            await self._cut(session, 0)

    async def _cut(self, session: AsyncSession, length: int) -> None:
        """Rolls back to the last place before a length, and appends the items between."""
        items = await session.messages()
        usable = ("open", "committed")
        places = [one for one in await session.checkpoints() if one["state"] in usable and one["messageIndex"] <= length]
        if not places:
            # The session was not begun here, so there is no place to roll back to. System messages stay.
            await session.reset(archive=False)
            items, start = items[:length], 0
        else:
            await session.rollback(places[-1]["id"], "the items were taken out of the session")
            start = places[-1]["messageIndex"]
        if not await session.messages() and not any(
            one["messageIndex"] == 0 and one["state"] in usable for one in await session.checkpoints()
        ):
            await session.create_checkpoint("manual")
        await self.add_items(items[start:length])

    async def close(self) -> None:
        """Closes the session and releases its lease."""
        if self._session is not None:
            await self._session.close()
            self._session = None
