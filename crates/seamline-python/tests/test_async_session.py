"""Sessions for asyncio: the same methods as those for threads, and cancellation."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

import seamline

USER = {"role": "user", "content": "go"}
TURN = {
    "role": "assistant",
    "content": [
        {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}},
        {"type": "tool_use", "id": "toolu_2", "name": "fail", "input": {}},
    ],
}


def public(kind: type) -> set[str]:
    return {name for name in vars(kind) if not name.startswith("_")}


def run(tmp_path: Path, work: Callable[[seamline.AsyncSession], Awaitable[None]]) -> None:
    async def main() -> None:
        options = {"provider": "anthropic"}
        async with await seamline.AsyncSession.open(f"sqlite:{tmp_path}/s.db", "s-1", **options) as session:
            await work(session)

    asyncio.run(main())


@pytest.mark.parametrize(
    ("sync", "asynchronous"),
    [
        (seamline.Session, seamline.AsyncSession),
        (seamline.Store, seamline.AsyncStore),
        (seamline.Cycle, seamline.AsyncCycle),
    ],
)
def test_both_forms_have_the_same_methods(sync: type, asynchronous: type) -> None:
    assert public(sync) == public(asynchronous)
    for name in public(sync):
        if inspect.isfunction(vars(sync)[name]):
            assert inspect.iscoroutinefunction(vars(asynchronous)[name]), name


def test_every_method_of_the_node_package_has_its_name_here() -> None:
    source = (Path(__file__).parents[2] / "seamline-node" / "lib" / "session.cjs").read_text()
    theirs = {line.split("(")[0].split()[-1] for line in source.splitlines() if line.startswith("  ") and ") {" in line}
    theirs = {name for name in theirs if name.isidentifier() and not line_is_private(name)}
    snake = {"".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name) for name in theirs}
    other_words = {"take_repair_context", "open_or_create", "info", "open_store"}
    assert {"session_start", "agent_end", "prune_checkpoints"} <= snake
    assert snake - other_words - public(seamline.Session) - public(seamline.Store) == set()


def line_is_private(name: str) -> bool:
    return name in ("constructor", "if", "for", "while", "catch", "function", "async") or name.startswith("#")


def test_an_asynchronous_session_works_as_the_other_one(tmp_path: Path) -> None:
    async def work(session: seamline.AsyncSession) -> None:
        assert (session.id, session.dialect) == ("s-1", "anthropic_messages")
        await session.append(USER)

        async def tool(call: dict) -> tuple[str, bool]:
            await asyncio.sleep(0)
            return call["name"], call["name"] == "fail"

        outcomes = await session.execute_tool_cycle(TURN, tool)
        assert [outcome["is_error"] for outcome in outcomes] == [False, True]
        assert len(await session.messages()) == 3
        assert (await session.check()).accepted
        async with await session.fork("s-2") as forked:
            assert await forked.messages() == await session.messages()
            cycle = await forked.begin_cycle(json.dumps({**TURN, "content": [{**TURN["content"][0], "id": "toolu_3"}]}))
            await cycle.start("toolu_3")
            await cycle.finish("toolu_3", "text")
            assert [one["content"] for one in await cycle.commit()] == ["text"]
        await session.switch_provider("openai")
        assert session.dialect == "openai_chat"
        with pytest.raises(AttributeError):
            session.no_such_method  # noqa: B018

    run(tmp_path, work)


def test_an_asynchronous_store_lists_and_erases(tmp_path: Path) -> None:
    async def main() -> None:
        store = await seamline.open_store_async(f"sqlite:{tmp_path}/s.db")
        async with await store.create("s-1") as session:
            await session.append(USER)
        async with await store.open("s-1", create=False) as session:
            assert await session.messages() == [USER]
        assert [one["session"] for one in await store.list()] == ["s-1"]
        await store.erase("s-1")
        assert await store.list() == []

    asyncio.run(main())


def test_a_cancelled_cycle_is_closed_and_its_results_are_kept(tmp_path: Path) -> None:
    async def work(session: seamline.AsyncSession) -> None:
        await session.append(USER)
        is_running = asyncio.Event()

        async def tool(call: dict) -> str:
            if call["name"] == "read":
                return "text of the file"
            while not any(one["truth"] == "finished" for one in await session.unresolved()):
                await asyncio.sleep(0.001)
            is_running.set()
            await asyncio.Event().wait()
            return "never"

        task = asyncio.ensure_future(session.execute_tool_cycle(TURN, tool))
        await is_running.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await session.unresolved() == []
        kept, unknown = (await session.messages())[2]["content"]
        assert "text of the file" in str(kept)
        assert "unknown" in str(unknown)
        assert (await session.check()).accepted

    run(tmp_path, work)


def test_a_cycle_that_is_cancelled_while_it_begins_is_not_left_open(tmp_path: Path) -> None:
    async def work(session: seamline.AsyncSession) -> None:
        await session.append(USER)

        async def tool(_: dict) -> str:
            return "text"

        for turns in range(1, 40):
            task = asyncio.ensure_future(session.execute_tool_cycle(TURN, tool))
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
            assert await session.unresolved() == []

    run(tmp_path, work)
