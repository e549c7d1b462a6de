"""The damages of a history, in words that every framework can write."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class User:
    text: str


@dataclass(frozen=True)
class Text:
    """What the model said."""

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


#: The output of a tool that must reach the provider.
REAL = "real-output-4711"

_ASK, _GO = User("what is in a?"), User("go on")
_CALL, _RESULT = Call("call_1"), Result("call_1", REAL)

DAMAGES = {
    "clean": [_ASK, _CALL, _RESULT, Text("I see."), _GO],
    "missing": [_ASK, _CALL, _GO],
    "orphan": [_ASK, Text("I read it."), _RESULT, _GO],
    "displaced": [_ASK, _CALL, User("wait"), _RESULT, _GO],
    "duplicate": [_ASK, _CALL, _RESULT, _RESULT, Text("I see."), _GO],
    "repeated id": [_ASK, Call("call_1", times=2), _RESULT, Result("call_1", REAL + "-b"), Text("I see."), _GO],
    "bad arguments": [_ASK, Call("call_1", '{"pa'), _RESULT, Text("I see."), _GO],
}


def real_results(damage: str) -> set[str]:
    """The outputs that must reach the provider."""
    return {step.text for step in DAMAGES[damage] if isinstance(step, Result)}
