"""The hooks of a session, its checkpoints, and its store, on every kind of store."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

import seamline

POSTGRES = os.environ.get("SEAMLINE_TEST_POSTGRES")
USER = {"role": "user", "content": "go"}
TURN = {
    "role": "assistant",
    "content": [
        {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}},
        {"type": "tool_use", "id": "toolu_2", "name": "fail", "input": {}},
    ],
}
ENVELOPE = {"model": "claude-sonnet-4-5", "max_tokens": 64}


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> seamline.Store:
    if request.param == "sqlite":
        return seamline.open_store(f"sqlite:{tmp_path}/sessions.db")
    if POSTGRES is None:
        pytest.skip("no PostgreSQL: cargo xtask postgres cargo xtask test packages python")
    return seamline.open_store(POSTGRES)


@pytest.fixture
def session(store: seamline.Store) -> Iterator[seamline.Session]:
    with store.create(f"python-{uuid.uuid4()}", provider="anthropic") as created:
        yield created


def test_a_store_lists_and_erases_its_sessions(store: seamline.Store) -> None:
    name = f"python-{uuid.uuid4()}"
    with store.open(name, provider="anthropic") as session:
        session.append(USER)
        with pytest.raises(seamline.SessionError):
            store.erase(name)
    assert [one["dialect"] for one in store.list() if one["session"] == name] == ["anthropic_messages"]
    with store.open(name, create=False) as session:
        assert session.messages == [USER]
    assert store.erase(name)["commits"] > 0
    assert name not in {one["session"] for one in store.list()}
    with pytest.raises(seamline.SessionError, match="erased"):
        store.open(name, create=False)


def test_the_hooks_carry_a_turn_with_tools(session: seamline.Session) -> None:
    session.append(USER)
    assert session.session_start()["validation"]["valid"]
    start = session.before_agent_start(ENVELOPE)
    assert start.proceed
    assert start.request.json()["messages"] == [USER]
    assert session.latest_checkpoint()["id"] == start.checkpoint
    cycle = session.begin_cycle(TURN)
    assert session.before_tool_call(cycle, "toolu_1")
    assert session.after_tool_call(cycle, "toolu_1", "text of the file") is None
    session.before_tool_call(cycle.id, "toolu_2")
    outcomes = session.after_tool_failure(cycle.id, "toolu_2", "no such tool")
    assert [outcome["is_error"] for outcome in outcomes] == [False, True]
    assert len(session.messages) == 3
    assert session.before_agent_start(ENVELOPE).proceed
    assert session.agent_end({"role": "assistant", "content": "done"}) == {"committed": True}
    assert session.messages[-1]["content"] == "done"
    assert session.check().accepted


def test_an_error_at_the_end_of_a_turn_is_recovered(session: seamline.Session) -> None:
    session.append(USER)
    session.before_agent_start(ENVELOPE)

    class Overloaded(Exception):
        status_code = 529

    end = session.agent_end(error=Overloaded("Overloaded"))
    assert not end["committed"]
    assert end["recovery"]
    assert session.messages == [USER]
    assert session.handle_error("slow down", status=429)["action"]


def test_a_broken_session_is_blocked_where_the_policy_says_so(store: seamline.Store) -> None:
    policy = "[repair]\non_invalid = 'block'"
    with store.create(f"python-{uuid.uuid4()}", provider="anthropic", policy=policy) as session:
        session.append(USER, TURN, {"role": "user", "content": "never mind"})
        start = session.before_agent_start(ENVELOPE)
        assert (start.proceed, start.request) == (False, None)
        assert not start.validation["valid"]


def test_checkpoints_are_found_pruned_and_cleared(session: seamline.Session) -> None:
    made = [session.create_checkpoint() for _ in range(3)]
    assert session.latest_checkpoint()["id"] == made[2]["id"]
    assert session.get_checkpoint(made[0]["id"])["operation"] == "manual"
    assert session.get_checkpoint("cp-none") is None
    for one in made[:2]:
        session.commit_checkpoint(one["id"])
    assert session.prune_checkpoints(1) == 1
    assert session.clear_checkpoints() == 2
    assert session.checkpoints() == []
    assert session.latest_checkpoint() is None
    session.settle()
    assert session.take_inbox() == 0
    assert session.repair_context(take=True)["repairs"] == 0


class Interrupt(BaseException):
    """The exception of a user's interrupt."""


@pytest.mark.parametrize("stopped", [Interrupt, SystemExit])
def test_an_interrupted_cycle_is_closed_and_its_result_is_kept(
    session: seamline.Session, stopped: type[BaseException]
) -> None:
    session.append(USER)

    def run(call: dict) -> str:
        if call["name"] == "fail":
            raise stopped()
        return "text of the file"

    with pytest.raises(stopped):
        session.execute_tool_cycle(TURN, run)
    assert session.unresolved() == []
    kept, unknown = session.messages[2]["content"]
    assert "text of the file" in str(kept)
    assert "text of the file" not in str(unknown)
    assert session.check().accepted


def test_an_output_that_json_cannot_hold_is_the_result_of_the_call(session: seamline.Session) -> None:
    session.append(USER)
    outcomes = session.execute_tool_cycle(TURN, lambda _: object())
    assert not any(outcome["is_error"] for outcome in outcomes)
    assert outcomes[0]["content"].startswith("<object object")
    assert session.unresolved() == []


def test_a_cancelled_cycle_beside_another_is_rolled_back(session: seamline.Session) -> None:
    session.append(USER)
    other = session.begin_cycle(TURN)
    cycle = session.begin_cycle({"role": "assistant", "content": [{**TURN["content"][0], "id": "toolu_9"}]})
    cycle.close()
    assert {call["cycle"] for call in session.unresolved()} == {other.id}
    assert session.messages == [USER]
