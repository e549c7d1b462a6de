"""OpenAI Agents: a filter that repairs the input of each model call, and a session on Seamline's durable store.

    Runner.run(agent, "go on", run_config=RunConfig(call_model_input_filter=repair_input))
    Runner.run(agent, "go on", session=SeamlineSession("user-7", "sqlite:agents.db"))
"""

from __future__ import annotations

import asyncio
from typing import Any

from agents.run import CallModelData, ModelInputData

import seamline
from seamline.session import AsyncSession

_DIALECT = "openai_responses"


def repair_input(data: CallModelData[Any]) -> ModelInputData:
    """Repairs the items that a model call sends."""
    given = data.model_data
    repaired = seamline.repair(given.input, dialect=_DIALECT, provider="openai", kept=True)
    return ModelInputData(input=repaired.messages, instructions=given.instructions) if repaired.changed else given


class SeamlineSession:
    """A session of OpenAI Agents on SQLite, PostgreSQL or memory. What it returns is repaired."""

    def __init__(
        self,
        session_id: str,
        url: str,
        *,
        policy: str | dict[str, Any] | None = None,
        session_settings: Any = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        self._url = url
        self._policy = policy
        self._session: AsyncSession | None = None
        self._opening = asyncio.Lock()

    async def _opened(self) -> AsyncSession:
        async with self._opening:
            if self._session is None:
                self._session = await AsyncSession.open(
                    self._url, self.session_id, dialect=_DIALECT, provider="openai", policy=self._policy
                )
            return self._session

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """The items of the conversation, repaired; with `limit` the latest ones, from the start of a cycle on."""
        items = await (await self._opened()).messages()
        if limit is None:
            limit = getattr(self.session_settings, "limit", None)
        if not items or limit == 0:
            return []
        repaired = seamline.repair(items, dialect=_DIALECT, provider="openai", policy=self._policy, kept=True).messages
        if limit is None or limit >= len(repaired):
            return repaired
        return seamline.safe_trim(repaired, max_messages=limit, dialect=_DIALECT, provider="openai").messages

    async def add_items(self, items: list[Any]) -> None:
        """Appends items, all or none, and makes them durable."""
        if not items:
            return
        session = await self._opened()
        await session.create_checkpoint("manual")
        await session.append(*items)

    async def pop_item(self) -> Any | None:
        """Takes the last item out of the view. The log keeps it."""
        session = await self._opened()
        items = await session.messages()
        if not items:
            return None
        behind = [one for one in await session.checkpoints() if one["messageIndex"] < len(items)]
        if not behind:
            return None
        checkpoint = behind[-1]
        await session.rollback(checkpoint["id"], "pop_item")
        kept = items[checkpoint["messageIndex"] : -1]
        if kept:
            await self.add_items(kept)
        return items[-1]

    async def clear_session(self) -> None:
        """Empties the view. The log keeps its items."""
        await (await self._opened()).reset(archive=False)

    async def close(self) -> None:
        """Closes the session and releases its lease."""
        if self._session is not None:
            await self._session.close()
            self._session = None
