"""The laws, over generated conversations and over any JSON."""

from __future__ import annotations

import copy
import json
import os

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import seamline
from seamline import _native

# A run in CI can be repeated; `SEAMLINE_SOAK=1` looks at other histories each time.
settings.register_profile(
    "seamline",
    deadline=None,
    derandomize="SEAMLINE_SOAK" not in os.environ,
    max_examples=150,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("seamline")

IDS = st.sampled_from(["call_a", "call_b", "call_c", ""])
TEXTS = st.sampled_from(["hello", "", " ", "naïve \"quoted\" \\ text\n", "日本語"])
ARGUMENTS = st.sampled_from(["{}", '{"path":"a"}', "", '{"pa', "null", "[1]"])


def call(id: str, arguments: str) -> dict:
    return {"id": id, "type": "function", "function": {"name": "read", "arguments": arguments}}


MESSAGES = st.one_of(
    st.builds(lambda text: {"role": "user", "content": text}, TEXTS),
    st.builds(lambda text: {"role": "assistant", "content": text}, TEXTS),
    st.builds(
        lambda text, calls: {"role": "assistant", "content": text or None, "tool_calls": calls},
        TEXTS,
        st.lists(st.builds(call, IDS, ARGUMENTS), max_size=3),
    ),
    st.builds(lambda id, text: {"role": "tool", "tool_call_id": id, "content": text}, IDS, TEXTS),
    st.builds(lambda text: {"role": "system", "content": text}, TEXTS),
)
HISTORIES = st.lists(MESSAGES, min_size=1, max_size=8)
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
OPTIONS = {"dialect": "openai_chat", "provider": "openai"}


@given(HISTORIES)
def test_a_repair_of_a_repair_changes_nothing(history: list) -> None:
    once = seamline.repair(history, **OPTIONS)
    twice = seamline.repair(once.body, **OPTIONS)
    assert not twice.changed
    assert twice.body is once.body
    assert twice.findings == once.remaining


@given(HISTORIES)
def test_a_repair_leaves_the_given_objects_as_they_were(history: list) -> None:
    before = copy.deepcopy(history)
    repaired = seamline.repair(history, **OPTIONS)
    assert history == before
    for message, origin in zip(repaired.messages, repaired.origins):
        if origin is not None and message == history[origin]:
            assert message is history[origin]


@given(HISTORIES)
def test_objects_bytes_and_text_give_the_same_outcome(history: list) -> None:
    text = json.dumps(history, separators=(",", ":"), ensure_ascii=False)
    of_objects = seamline.repair(history, **OPTIONS)
    of_text = seamline.repair(text, **OPTIONS)
    of_bytes = seamline.repair(text.encode(), **OPTIONS)
    assert of_objects.report == of_text.report == of_bytes.report
    assert of_text.body.encode() == of_bytes.body
    assert of_objects.messages == json.loads(of_text.body)


def numbered(history: list) -> list:
    """The history with a different text in each message, so that each can be found again."""
    return [
        {**message, "content": f"{message['content']} #{index}#"} if message["content"] else message
        for index, message in enumerate(history)
    ]


@given(HISTORIES)
def test_a_repair_keeps_every_text(history: list) -> None:
    history = numbered(history)
    repaired = seamline.repair(history, **OPTIONS)
    assert repaired.lossless
    kept = json.dumps(repaired.messages, ensure_ascii=False)
    texts = [message["content"] for message in history if message["content"]]
    # A call that is exactly the same as another one is made once.
    texts += [call["function"]["arguments"] for message in history for call in message.get("tool_calls", ())]
    for text in texts:
        written = json.dumps(text, ensure_ascii=False)[1:-1]
        # Arguments that are not JSON are kept in a text, where their quotes are escaped once more.
        assert written in kept or json.dumps(written, ensure_ascii=False)[1:-1] in kept, text


def ids(history: list) -> set:
    found = {message["tool_call_id"] for message in history if "tool_call_id" in message}
    return found | {call["id"] for message in history for call in message.get("tool_calls", ())}


def has_open_call(history: list) -> bool:
    calls = [call["id"] for message in history for call in message.get("tool_calls", ())]
    results = [message["tool_call_id"] for message in history if "tool_call_id" in message]
    return len(calls) > len(results) or set(calls) != set(results)


def begins_with_a_result(history: list) -> bool:
    return "tool_call_id" in history[0]


@given(HISTORIES, HISTORIES)
def test_appended_messages_leave_earlier_repairs_as_they_were(history: list, more: list) -> None:
    # New messages may answer an open call, or make the call of an orphan.
    assume(not ids(history) & ids(more))
    # A result with an unknown id answers the open call right before it: its position proves it.
    assume(not (has_open_call(history) and begins_with_a_result(more)))
    before = seamline.repair(history, **OPTIONS, kept=True).messages
    after = seamline.repair(history + more, **OPTIONS, kept=True).messages
    assert after[: len(before)] == before


@given(HISTORIES, st.integers(0, 8))
def test_a_trimmed_history_has_no_result_without_its_call(history: list, most: int) -> None:
    clean = seamline.repair(history, **OPTIONS, kept=True)
    if clean.remaining or not clean.messages:
        return
    trimmed = seamline.safe_trim(clean.messages, max_messages=most, **OPTIONS)
    assert all(any(message is one for one in clean.messages) for message in trimmed.messages)
    assert seamline.check(trimmed.messages, **OPTIONS, kept=True).accepted
    assert len(trimmed.messages) <= most or not trimmed.fits


@given(HISTORIES)
def test_a_sanitized_history_has_no_instructions_and_no_open_calls(history: list) -> None:
    sanitized = seamline.sanitize(history, **OPTIONS)
    assert all(message["role"] != "system" for message in sanitized.messages)
    again = seamline.sanitize(sanitized.messages, **OPTIONS) if sanitized.messages else sanitized
    assert again.messages == sanitized.messages


@given(ANY)
def test_any_json_is_written_as_json_dumps_writes_it(value: object) -> None:
    try:
        expected = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        expected = None
    written = _native.dumps(value)
    assert json.loads(written) == value
    if expected is not None and b"\\u" not in expected and b"\\b" not in expected and b"\\f" not in expected:
        assert written == expected


@given(ANY)
def test_any_json_is_read_or_refused(value: object) -> None:
    for given_ in (value, [value], {"messages": value}, {"messages": [value]}, json.dumps(value)):
        try:
            seamline.repair(given_)
        except seamline.SeamlineError:
            pass


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=5))
def test_a_response_cut_anywhere_is_the_same(noise: bytes, cuts: list) -> None:
    body = b'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n' + noise + b"\n\ndata: [DONE]\n\n"

    def assembled(pieces: list) -> dict:
        stream = seamline.ResponseStream("openai_chat")
        for piece in pieces:
            stream.feed(piece)
        return stream.finish().report

    places = sorted({0, len(body), *(cut for cut in cuts if cut < len(body))})
    assert assembled([body]) == assembled([body[a:b] for a, b in zip(places, places[1:])])


@pytest.mark.parametrize("history", [[], None])
def test_an_empty_history_is_kept(history: object) -> None:
    if history is None:
        with pytest.raises(seamline.InputError):
            seamline.repair(history)
    else:
        assert seamline.repair(history, dialect="openai_chat").body is history
