"""Durable conversations for asyncio: the methods of `Session` as coroutines, which run in threads."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from seamline.results import Checked
from seamline.session import AgentStart, Cycle, Request, Session, Store, described, open_store, output_of

_Made = TypeVar("_Made")

_run = asyncio.to_thread


async def _finished(work: Callable[..., _Made], *args: Any) -> _Made:
    """Runs work that goes on when the caller is cancelled, and then ends the cancellation."""
    task = asyncio.ensure_future(asyncio.to_thread(work, *args))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        # The caller gets the cancellation, not an error that follows it.
        task.exception()
        raise


async def open_store_async(url: str) -> AsyncStore:
    """Opens the store at a URL: `sqlite:PATH`, `postgres://…` or `memory:`."""
    return AsyncStore(await _run(open_store, url))


class AsyncStore:
    """A store of sessions, for asyncio."""

    def __init__(self, store: Store) -> None:
        #: The store itself, for threads.
        self.store = store

    async def list(self) -> list[dict[str, Any]]:
        """The sessions by name."""
        return await _run(self.store.list)

    async def create(self, id: str, **options: Any) -> AsyncSession:
        """Creates a session. Takes the options of `Store.create`."""
        return await AsyncSession._of(lambda: self.store.create(id, **options))

    async def open(self, id: str, **options: Any) -> AsyncSession:
        """Opens the session of this name, or creates it. Takes the options of `Store.open`."""
        return await AsyncSession._of(lambda: self.store.open(id, **options))

    async def erase(self, id: str, *, take_over: bool = False) -> dict[str, int]:
        """Removes everything of a session, for good."""
        return await _run(lambda: self.store.erase(id, take_over=take_over))


class AsyncSession:
    """A `Session` for asyncio. Its methods are described there."""

    def __init__(self, session: Session) -> None:
        #: The session itself, for threads.
        self.session = session
        about = session._about()
        self._id: str = about["id"]
        self._dialect: str = about["dialect"]

    @classmethod
    async def _of(cls, opened: Callable[[], Session]) -> AsyncSession:
        return await _run(lambda: cls(opened()))

    @classmethod
    async def open(cls, url: str, id: str, **options: Any) -> AsyncSession:
        """Opens the session of this name, or creates it. Takes the options of `Store.open`."""
        return await cls._of(lambda: Session.open(url, id, **options))

    @classmethod
    async def create(cls, url: str, id: str, **options: Any) -> AsyncSession:
        """Creates a session; there must be none of this name. Takes the options of `Store.create`."""
        return await cls._of(lambda: Session.create(url, id, **options))

    async def __aenter__(self) -> AsyncSession:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await _finished(self.session.close)

    @property
    def id(self) -> str:
        """The name of the session."""
        return self._id

    @property
    def dialect(self) -> str:
        """The dialect of new messages and of requests."""
        return self._dialect

    async def epoch(self) -> int:
        return await _run(lambda: self.session.epoch)

    async def is_whole(self) -> bool:
        return await _run(lambda: self.session.is_whole)

    async def messages(self) -> list[Any]:
        """The messages of the view."""
        return await _run(lambda: self.session.messages)

    async def append(self, *messages: Any) -> None:
        await _run(self.session.append, *messages)

    async def request(self, envelope: Mapping[str, Any] | str, *, to: str | None = None) -> Request:
        return await _run(lambda: self.session.request(envelope, to=to))

    async def check(self) -> Checked:
        return await _run(self.session.check)

    async def validate(self) -> dict[str, Any]:
        return await _run(self.session.validate)

    async def repair(self) -> dict[str, Any]:
        return await _run(self.session.repair)

    async def undo_repair(self) -> str:
        return await _run(self.session.undo_repair)

    async def create_checkpoint(self, operation: str = "manual") -> dict[str, Any]:
        return await _run(self.session.create_checkpoint, operation)

    async def commit_checkpoint(self, id: str) -> None:
        await _run(self.session.commit_checkpoint, id)

    async def checkpoints(self) -> list[dict[str, Any]]:
        return await _run(self.session.checkpoints)

    async def latest_checkpoint(self) -> dict[str, Any] | None:
        return await _run(self.session.latest_checkpoint)

    async def get_checkpoint(self, id: str) -> dict[str, Any] | None:
        return await _run(self.session.get_checkpoint, id)

    async def prune_checkpoints(self, keep: int) -> int:
        return await _run(self.session.prune_checkpoints, keep)

    async def clear_checkpoints(self) -> int:
        return await _run(self.session.clear_checkpoints)

    async def rollback(self, id: str, reason: str = "") -> dict[str, Any]:
        return await _run(self.session.rollback, id, reason)

    async def reset(self, *, archive: bool = True) -> dict[str, Any]:
        return await _run(lambda: self.session.reset(archive=archive))

    async def begin_cycle(self, turn: Any, effects: Mapping[str, str] | None = None) -> AsyncCycle:
        """Begins a cycle, as `Session.begin_cycle` does. If this is cancelled, the cycle is closed as aborted."""
        task = asyncio.ensure_future(_run(self.session.begin_cycle, turn, effects))
        try:
            return AsyncCycle(await asyncio.shield(task))
        except asyncio.CancelledError:
            await asyncio.wait([task])
            if task.exception() is None:
                await _finished(task.result().close)
            raise

    async def execute_tool_cycle(
        self,
        turn: Any,
        run: Callable[[dict[str, Any]], Awaitable[Any]],
        effects: Mapping[str, str] | None = None,
    ) -> list[dict[str, Any]]:
        """Runs the calls of a turn side by side; `run` is a coroutine function.

        If this is cancelled, the cycle is closed as aborted: the model reads which calls may have run.
        """
        cycle = await self.begin_cycle(turn, effects)
        running: list[asyncio.Future[None]] = []
        try:
            running += [asyncio.ensure_future(_call(cycle, call, run)) for call in cycle.calls]
            await asyncio.gather(*running)
            return await cycle.commit()
        except BaseException:
            for task in running:
                task.cancel()
            # Results that came are durable before the cycle is closed.
            await asyncio.gather(*running, return_exceptions=True)
            await cycle.close()
            raise

    async def before_tool_call(self, cycle: str | AsyncCycle, call: str) -> str:
        return await _run(self.session.before_tool_call, _id_of(cycle), call)

    async def finish_call(self, cycle: str | AsyncCycle, call: str, output: Any, is_error: bool = False) -> None:
        await _finished(self.session.finish_call, _id_of(cycle), call, output, is_error)

    async def after_tool_call(
        self, cycle: str | AsyncCycle, call: str, output: Any, is_error: bool = False
    ) -> list[dict[str, Any]] | None:
        return await _finished(self.session.after_tool_call, _id_of(cycle), call, output, is_error)

    async def after_tool_failure(self, cycle: str | AsyncCycle, call: str, error: str) -> list[dict[str, Any]] | None:
        return await _finished(self.session.after_tool_failure, _id_of(cycle), call, error)

    async def commit_cycle(self, cycle: str | AsyncCycle) -> list[dict[str, Any]]:
        return await _finished(self.session.commit_cycle, _id_of(cycle))

    async def roll_back_cycle(self, cycle: str | AsyncCycle, reason: str = "") -> None:
        await _finished(self.session.roll_back_cycle, _id_of(cycle), reason)

    async def session_start(self) -> dict[str, Any]:
        return await _run(self.session.session_start)

    async def before_agent_start(self, envelope: Mapping[str, Any] | str) -> AgentStart:
        return await _run(self.session.before_agent_start, envelope)

    async def agent_end(
        self,
        *messages: Any,
        error: str | BaseException | None = None,
        status: int | None = None,
        provider: str | None = None,
    ) -> dict[str, Any]:
        return await _finished(
            lambda: self.session.agent_end(*messages, error=error, status=status, provider=provider)
        )

    async def settle(self) -> None:
        await _run(self.session.settle)

    async def take_inbox(self) -> int:
        return await _run(self.session.take_inbox)

    async def repair_context(self, *, take: bool = False) -> dict[str, Any]:
        return await _run(lambda: self.session.repair_context(take=take))

    async def unresolved(self) -> list[dict[str, Any]]:
        return await _run(self.session.unresolved)

    async def recover(self) -> dict[str, int]:
        return await _run(self.session.recover)

    async def abort(self) -> list[Any]:
        return await _finished(self.session.abort)

    async def incidents(self) -> list[dict[str, Any]]:
        return await _run(self.session.incidents)

    async def handle_error(
        self, error: str | BaseException, *, status: int | None = None, provider: str | None = None
    ) -> dict[str, Any]:
        return await _run(lambda: self.session.handle_error(error, status=status, provider=provider))

    async def before_compaction(self, start: int, end: int) -> tuple[int, int]:
        return await _run(self.session.before_compaction, start, end)

    async def finish_compaction(self, start: int, end: int, summary: Any) -> None:
        await _run(self.session.finish_compaction, start, end, summary)

    async def cancel_compaction(self) -> int:
        return await _run(self.session.cancel_compaction)

    async def switch_provider(self, name: str) -> None:
        await _run(self.session.switch_provider, name)
        self._dialect = await _run(lambda: self.session.dialect)

    async def fork(self, id: str) -> AsyncSession:
        """Makes a session with another name that begins with this view."""
        return await AsyncSession._of(lambda: self.session.fork(id))

    def __repr__(self) -> str:
        return f"<AsyncSession {self._id} of {self._dialect}>"


class AsyncCycle:
    """An open cycle: a message of the model, and the calls of it to run."""

    def __init__(self, cycle: Cycle) -> None:
        #: The cycle itself, for threads.
        self.cycle = cycle
        self.id = cycle.id
        #: The calls to run: `id`, `name` and `input`.
        self.calls = cycle.calls

    async def start(self, call: str) -> str:
        """Makes the intent of a call durable before it runs, and returns its idempotency key."""
        return await _finished(self.cycle.start, call)

    async def finish(self, call: str, output: str, is_error: bool = False) -> None:
        """Makes the result of a call durable."""
        await _finished(self.cycle.finish, call, output, is_error)

    async def commit(self) -> list[dict[str, Any]]:
        """Puts the turn and all results into the view."""
        return await _finished(self.cycle.commit)

    async def roll_back(self, reason: str = "") -> None:
        """Rolls the cycle back: its turn never enters the view."""
        await _finished(self.cycle.roll_back, reason)

    async def close(self) -> None:
        """Closes the cycle as aborted, as `Cycle.close` does."""
        await _finished(self.cycle.close)


async def _call(cycle: AsyncCycle, call: dict[str, Any], run: Callable[[dict[str, Any]], Awaitable[Any]]) -> None:
    """Runs a call and makes its result durable."""
    key = await cycle.start(call["id"])
    try:
        output = output_of(await run({**call, "key": key}))
    except Exception as error:
        output = (described(error), True)
    await cycle.finish(call["id"], *output)


def _id_of(cycle: str | AsyncCycle) -> str:
    return cycle if isinstance(cycle, str) else cycle.id
