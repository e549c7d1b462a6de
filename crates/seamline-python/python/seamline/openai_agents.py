"""OpenAI Agents: a filter that repairs the input of each model call, and a session on Seamline's durable store.

    Runner.run(agent, "go on", run_config=RunConfig(call_model_input_filter=repair_input))
    Runner.run(agent, "go on", session=SeamlineSession("user-7", "sqlite:agents.db"))
"""

from __future__ import annotations

import asyncio
from typing import Any

from agents.run import CallModelData, ModelInputData

import seamline
from seamline import _failure, _options
from seamline._failure import OnFailure, OnRepair
from seamline.async_session import AsyncSession
from seamline.results import Repaired

_DIALECT = "openai_responses"
_PROVIDER = "openai"


def repair_input(
    data: CallModelData[Any],
    *,
    provider: str = _PROVIDER,
    policy: str | dict[str, Any] | None = None,
    on_repair: OnRepair | None = None,
    on_failure: OnFailure = "pass",
) -> ModelInputData:
    """Repairs the items that a model call sends. `functools.partial` sets its options."""
    given = data.model_data
    _options.require(provider, policy)

    def work() -> tuple[ModelInputData, Repaired | None]:
        repaired = seamline.repair(given.input, dialect=_DIALECT, provider=provider, policy=policy, kept=True)
        if not repaired.changed:
            return given, None
        return ModelInputData(input=repaired.messages, instructions=given.instructions), repaired

    return _failure.guarded(
        "the input of a model call", given, work, on_failure=_failure.checked(on_failure), on_repair=on_repair
    )


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
                session = await AsyncSession.open(self._url, self.session_id, **options)
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
        return repaired.messages, repaired

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
