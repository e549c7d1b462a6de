"""The results for callers: the same object, typed results, readable texts."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

import seamline
from seamline import _native

CLEAN = [{"role": "user", "content": "hello"}]
OPEN = [
    {"role": "user", "content": "What is in main.rs?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{}"}}],
    },
    {"role": "user", "content": "Never mind."},
]


def request(messages: list) -> dict:
    return {"model": "gpt-5", "messages": messages}


@pytest.mark.parametrize(
    "given",
    [CLEAN, request(CLEAN), json.dumps(CLEAN), json.dumps(request(CLEAN)).encode(), tuple(CLEAN)],
    ids=["list", "dict", "str", "bytes", "tuple"],
)
def test_a_clean_conversation_comes_back_as_the_same_object(given: object) -> None:
    repaired = seamline.repair(given, dialect="openai_chat")
    assert repaired.body is given
    assert not repaired.changed
    assert repaired.messages == CLEAN
    assert (repaired.findings, repaired.actions, repaired.remaining) == ([], [], [])
    assert "nothing to repair" in repr(repaired)


def test_unchanged_messages_are_the_given_objects_and_the_given_list_stays() -> None:
    given = copy.deepcopy(OPEN)
    before = copy.deepcopy(given)
    repaired = seamline.repair(given)
    assert repaired.changed
    assert given == before
    assert [message is original for message, original in zip(repaired.messages, given)] == [True, True, False]
    assert repaired.messages[3] is given[2]
    assert repaired.messages[2]["tool_call_id"] == "call_1"
    assert repaired.origins == [0, 1, None, 2]


def test_the_other_members_of_a_request_are_the_given_objects() -> None:
    given = {**request(copy.deepcopy(OPEN)), "metadata": {"user": "u"}}
    repaired = seamline.repair(given)
    assert list(repaired.body) == list(given)
    assert repaired.body["metadata"] is given["metadata"]
    assert repaired.body["messages"] is repaired.messages


def test_bytes_and_text_come_back_in_their_form() -> None:
    text = json.dumps(OPEN)
    assert isinstance(seamline.repair(text).body, str)
    for given in (text.encode(), bytearray(text.encode()), memoryview(text.encode())):
        repaired = seamline.repair(given)
        assert isinstance(repaired.body, bytes)
        assert repaired.body.decode() == seamline.repair(text).body
        assert len(repaired.messages) == 4


def test_equal_messages_keep_their_order_and_identity() -> None:
    given = [dict(CLEAN[0]) for _ in range(3)] + copy.deepcopy(OPEN)
    repaired = seamline.repair(given, dialect="openai_chat", provider="openai")
    assert all(message is original for message, original in zip(repaired.messages[:5], given))


def test_findings_and_actions_are_typed_and_say_what_they_are() -> None:
    checked = seamline.check(OPEN)
    finding = checked.findings[0]
    assert (finding.code, finding.name, finding.severity, finding.pointer) == (
        "PAIR001",
        "unanswered-call",
        "error",
        "/1/tool_calls/0",
    )
    assert finding.call_id == "call_1"
    assert finding.fix.safety == "safe"
    assert not checked
    assert not checked.accepted
    assert "PAIR001 unanswered-call" in repr(checked)
    action = seamline.repair(OPEN).actions[0]
    assert (action.code, action.action, action.synthetic) == ("PAIR001", "synthesize", True)
    assert "synthetic" in str(action)


def test_a_notebook_shows_before_and_after() -> None:
    shown = seamline.repair([{"role": "user", "content": "<script>"}, *OPEN[1:]])._repr_html_()
    assert "before" in shown
    assert "after" in shown
    assert "<script>" not in shown
    assert "PAIR001" in seamline.check(OPEN)._repr_html_()
    assert "nothing to repair" in seamline.repair(CLEAN)._repr_html_()


def test_a_policy_is_a_name_a_text_or_a_dict() -> None:
    for policy in ("strict", "preset = 'strict'", {"preset": "strict"}):
        repaired = seamline.repair(OPEN, policy=policy)
        assert not repaired.changed
        assert not repaired.sendable
    assert "lossless" in seamline.presets()


def test_a_wrong_option_is_an_error_that_says_what_to_write() -> None:
    with pytest.raises(seamline.OptionError, match="lossless"):
        seamline.repair(CLEAN, policy="losless")
    with pytest.raises(seamline.OptionError) as caught:
        seamline.check(CLEAN, provider="antropic")
    assert "anthropic" in caught.value.hint
    assert "hint:" in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), again.message, again.hint) == (seamline.OptionError, caught.value.message, caught.value.hint)


def test_a_body_that_is_not_a_conversation_is_an_error() -> None:
    for given in (b"{}", "nonsense", {}, [1, 2], b"\xff"):
        with pytest.raises(seamline.BodyError):
            seamline.check(given)


def test_a_conversion_reports_what_it_lost() -> None:
    converted = seamline.convert(request([*CLEAN]) | {"seed": 7}, "anthropic", model="claude-sonnet-4-5")
    assert converted.dialect == "anthropic_messages"
    assert converted.body["model"] == "claude-sonnet-4-5"
    assert converted.messages[0]["role"] == "user"
    assert not converted.complete
    assert "seed" in repr(converted)
    assert isinstance(seamline.convert(json.dumps(CLEAN), "gemini").body, str)


def test_an_error_of_a_provider_is_classified() -> None:
    verdict = seamline.classify(
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1", status=400
    )
    assert verdict.kind == "corruption"
    assert verdict.rules[0]["code"] == "PAIR001"
    assert verdict.advice
    busy = seamline.classify("slow down", status=429, headers={"retry-after": "9"})
    assert (busy.kind, busy.retry_after_ms) == ("transient", 9000)
    assert "transient" in repr(busy)


def test_the_exception_of_an_sdk_is_classified_by_its_status() -> None:
    class Overloaded(Exception):
        status_code = 529

    assert seamline.classify(Overloaded("Overloaded")).report["status"] == 529


def test_the_exception_of_an_sdk_has_the_headers_of_its_response() -> None:
    class Response:
        status_code = 429
        headers = {"retry-after": "9"}

    class Limited(Exception):
        response = Response()

    verdict = seamline.classify(Limited("slow down"))
    assert (verdict.kind, verdict.report["status"], verdict.retry_after_ms) == ("transient", 429, 9000)
    assert seamline.classify(Limited("slow down"), headers={"retry-after": "2"}).retry_after_ms == 2000


def test_a_code_is_explained() -> None:
    explanation = seamline.explain("pair001")
    assert (explanation.code, explanation.name) == ("PAIR001", "unanswered-call")
    assert "# What it does" in explanation.documentation
    assert str(explanation).startswith("# PAIR001")
    assert seamline.explain("STREAM001").group == "stream"
    with pytest.raises(seamline.OptionError):
        seamline.explain("PAIR999")


def test_a_response_is_assembled_from_its_pieces() -> None:
    stream = seamline.ResponseStream()
    stream.head(200, {"content-type": "text/event-stream"})
    assert stream.feed('data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n')
    stream.feed(b"data: [DONE]\n\n")
    response = stream.finish()
    assert (response.ending, response.well) == ("complete", True)
    assert response.messages == [{"role": "assistant", "content": "Hi"}]
    assert "complete" in repr(response)
    with pytest.raises(seamline.SeamlineError, match="finished already"):
        stream.feed(b"more")


def test_an_aborted_response_says_so() -> None:
    stream = seamline.ResponseStream("openai_chat")
    stream.feed(b'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n')
    stream.abort()
    assert stream.is_over
    assert stream.finish().ending == "aborted"


def test_a_model_keeps_the_members_that_tell_what_it_is() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Block(pydantic.BaseModel):
        type: str = "text"
        text: str

    class Message(pydantic.BaseModel):
        role: str = "user"
        content: list[Block]
        name: str | None = None

    given = [Message(content=[Block(text="hello")])]
    assert json.loads(_native.dumps(given)) == [{"role": "user", "content": [{"type": "text", "text": "hello"}]}]
    assert seamline.repair(given, dialect="openai_chat").body is given
    named = Message(role="user", content=[], name=None)
    assert json.loads(_native.dumps(named)) == {"role": "user", "content": [], "name": None}


def test_a_message_object_of_an_sdk_is_written_as_its_fields() -> None:
    class Message:
        def model_dump(self, **settings: object) -> dict:
            assert settings["mode"] == "json"
            return {"role": "assistant", "content": "hello"}

    given = [*CLEAN, Message()]
    assert seamline.check(given, dialect="openai_chat").message_count == 2
    assert seamline.repair(given, dialect="openai_chat").messages[1] is given[1]
