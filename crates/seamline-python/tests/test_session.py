"""Durable sessions: threads, asyncio, and what is there after they are opened again."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
from pathlib import Path

import pytest

import seamline

TURN = {
    "role": "assistant",
    "content": [
        {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a"}},
        {"type": "tool_use", "id": "toolu_2", "name": "fail", "input": {}},
    ],
}


def url(folder: Path) -> str:
    return f"sqlite:{folder}/sessions.db"


def test_messages_are_there_after_the_session_is_opened_again(tmp_path: Path) -> None:
    with seamline.Session.create(url(tmp_path), "s-1", provider="anthropic") as session:
        session.append({"role": "user", "content": "hello"}, '{"role":"assistant","content":"hi"}')
        assert (session.id, session.dialect, len(session)) == ("s-1", "anthropic_messages", 2)
        assert "2 messages" in repr(session)
    with seamline.Session.open(url(tmp_path), "s-1", create=False) as session:
        assert session.messages == [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]
        assert session.is_whole


def test_a_request_has_the_messages_and_their_repairs(tmp_path: Path) -> None:
    with seamline.Session.open(url(tmp_path), "s-1", provider="anthropic") as session:
        session.append({"role": "user", "content": "read it"}, TURN, {"role": "user", "content": "never mind"})
        assert not session.check().accepted
        request = session.request({"model": "claude-sonnet-4-5", "max_tokens": 64})
        assert request.sendable
        assert request.actions[0].synthetic
        assert request.json()["model"] == "claude-sonnet-4-5"
        assert len(session.messages) == 3
        other = session.request({"model": "gpt-5"}, to="openai")
        assert other.json()["messages"][1]["tool_calls"][0]["id"]


def test_a_cycle_is_in_the_view_as_a_whole(tmp_path: Path) -> None:
    with seamline.Session.open(url(tmp_path), "s-1", provider="anthropic") as session:
        session.append({"role": "user", "content": "go"})
        keys = []

        def run(call: dict) -> str:
            keys.append(call["key"])
            assert len(session.messages) == 1
            if call["name"] == "fail":
                raise RuntimeError("broken pipe")
            return call["input"]

        outcomes = session.execute_tool_cycle(TURN, run, {"read": "read_only"})
        assert [outcome["is_error"] for outcome in outcomes] == [False, True]
        assert "broken pipe" in outcomes[1]["content"]
        assert len(set(keys)) == 2
        assert len(session.messages) == 3


def test_a_crash_leaves_an_outcome_that_is_unknown(tmp_path: Path) -> None:
    session = seamline.Session.open(url(tmp_path), "s-1", provider="anthropic")
    session.append({"role": "user", "content": "go"})
    cycle = session.begin_cycle(TURN)
    cycle.start("toolu_1")
    assert session.unresolved()[0]["truth"] == "outcome_unknown"
    del cycle, session
    with seamline.Session.open(url(tmp_path), "s-1", take_over=True) as session:
        assert len(session.messages) == 3
        assert "unknown" in str(session.messages[2])
        assert session.incidents()


def test_a_rollback_takes_messages_out_of_the_view(tmp_path: Path) -> None:
    with seamline.Session.open(url(tmp_path), "s-1") as session:
        session.append({"role": "user", "content": "one"})
        checkpoint = session.create_checkpoint()
        session.append({"role": "user", "content": "two"})
        assert session.rollback(checkpoint["id"], "not that")["messagesRemoved"] == 1
        assert len(session) == 1
        with session.fork("s-2") as forked:
            assert forked.messages == session.messages


def test_a_compaction_replaces_a_range(tmp_path: Path) -> None:
    with seamline.Session.open(url(tmp_path), "s-1") as session:
        session.append(*({"role": "user", "content": f"message {number}"} for number in range(6)))
        start, end = session.before_compaction(0, 4)
        session.finish_compaction(start, end, {"role": "user", "content": "a summary"})
        assert [message["content"] for message in session.messages] == ["a summary", "message 4", "message 5"]


def test_errors_are_typed_and_have_hints(tmp_path: Path) -> None:
    with pytest.raises(seamline.SessionError, match="there is no session"):
        seamline.Session.open(url(tmp_path), "none", create=False)
    with pytest.raises(seamline.SessionError):
        seamline.Session.open("mysql:x", "s-1")
    session = seamline.Session.open("memory:", "s-1")
    with pytest.raises(seamline.OptionError, match="effect"):
        session.begin_cycle(TURN, {"read": "harmless"})
    with pytest.raises(seamline.SessionError):
        session.append("no json")
    session.close()
    session.close()
    with pytest.raises(seamline.SessionError, match="closed"):
        session.append({"role": "user", "content": "hello"})
    assert repr(session) == "<Session closed>"


@dataclasses.dataclass
class Hostile:
    """An object whose text cannot be had."""

    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("output", "content", "is_error"),
    [
        ("out \ud83d", "out \ufffd", False),
        (("out \ud83d", True), "out \ufffd", True),
        ((1, 2, 3), "[1,2,3]", False),
        (("a.txt", 12), '["a.txt",12]', False),
        ({"when": datetime.date(2026, 1, 1)}, "{'when': datetime.date(2026, 1, 1)}", False),
        (b"bytes", "b'bytes'", False),
        (Hostile(), "<Hostile>", False),
    ],
)
def test_the_output_of_a_tool_that_ran_is_never_lost(output: object, content: str, is_error: bool) -> None:
    with seamline.Session.open("memory:", "s-1", provider="anthropic") as session:
        session.append({"role": "user", "content": "read it"})
        outcome = session.execute_tool_cycle(TURN, lambda _: output)[0]
        assert (outcome["content"], outcome["is_error"]) == (content, is_error)


def test_errors_with_half_a_character_are_classified() -> None:
    assert seamline.classify("bad \ud83d", status=400).kind
    with seamline.Session.open("memory:", "s-1", provider="anthropic") as session:
        session.append({"role": "user", "content": "read it"})
        assert session.handle_error("bad \ud83d", status=400)
        assert session.agent_end(error=ValueError("bad \ud83d"))
