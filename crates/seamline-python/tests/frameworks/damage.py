"""The damages of a history, in words that every framework can write."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class User:
    text: str


@dataclass(frozen=True)
class Look:
    """The text of the user beside an image."""

    text: str


@dataclass(frozen=True)
class Text:
    """The text of the model."""

    text: str


@dataclass(frozen=True)
class Call:
    id: str
    arguments: str = '{"path":"a"}'
    #: How often the message makes the same call.
    times: int = 1


@dataclass(frozen=True)
class Result:
    id: str
    text: str


#: The outputs of tools that must reach the provider. None is a part of another.
REAL, SECOND = "real-output-4711", "second-output-0815"

#: A red pixel as PNG, in base64.
IMAGE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4"
    "z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC"
)
#: Half of a character, as programs leave it that cut a text at a length.
HALF = "\ud83d"

_ASK, _GO = User("what is in a?"), User("go on")
_CALL, _RESULT = Call("call_1"), Result("call_1", REAL)

DAMAGES = {
    "clean": [_ASK, _CALL, _RESULT, Text("I see."), _GO],
    "missing": [_ASK, _CALL, _GO],
    "orphan": [_ASK, Text("I read it."), _RESULT, _GO],
    "displaced": [_ASK, _CALL, User("wait"), _RESULT, _GO],
    "result before its call": [_ASK, _RESULT, _CALL, _GO],
    "second result": [_ASK, _CALL, _RESULT, Text("I see."), Result("call_1", SECOND), _GO],
    "duplicate": [_ASK, _CALL, _RESULT, _RESULT, Text("I see."), _GO],
    "repeated id": [_ASK, Call("call_1", times=2), _RESULT, Result("call_1", SECOND), Text("I see."), _GO],
    "id of an earlier turn": [_ASK, _CALL, _RESULT, Text("I see."), _GO, _CALL, Result("call_1", SECOND), Text("Yes."), _GO],
    "half a character": [Look(f"what is it? {HALF}"), _CALL, Result("call_1", f"{REAL} {HALF}"), Text("I see."), _GO],
    "bad arguments": [_ASK, Call("call_1", '{"pa'), _RESULT, Text("I see."), _GO],
}


def wanted(damage: str) -> set[str]:
    """The content that must reach the provider: the outputs of tools without what no provider takes, and images."""
    steps = DAMAGES[damage]
    results = {step.text.replace(HALF, "").strip() for step in steps if isinstance(step, Result)}
    return results | {IMAGE for step in steps if isinstance(step, Look)}
