"""Objects that no program should give. Each is a typed exception or works; none ends the process."""

from __future__ import annotations

import enum
import json
import sys

import pytest

import seamline
from seamline import _native


def history(content: object) -> list:
    return [{"role": "user", "content": content}]


def test_a_cycle_is_an_error_with_its_place() -> None:
    given = history([])
    given[0]["content"].append(given)
    with pytest.raises(seamline.InputError, match="/0/content/0"):
        seamline.repair(given)
    loop: dict = {}
    loop["loop"] = loop
    with pytest.raises(seamline.InputError, match="contains itself"):
        seamline.check(loop)


def test_deep_nesting_is_an_error() -> None:
    deep: object = "end"
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(seamline.SeamlineError):
        seamline.repair(history(deep))
    while isinstance(deep, list):
        deep = deep.pop()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_cannot_hold_is_an_error(value: float) -> None:
    with pytest.raises(seamline.InputError, match="/0/content/0/x"):
        seamline.repair(history([{"x": value}]))


def test_a_huge_number_is_written_or_refused() -> None:
    assert json.loads(_native.dumps({"n": 10**400}))["n"] == 10**400
    assert json.loads(_native.dumps([-(2**63), 2**64, 1.5, 1e300, 0.1, 3.0])) == [-(2**63), 2**64, 1.5, 1e300, 0.1, 3.0]
    digits = sys.get_int_max_str_digits() if hasattr(sys, "get_int_max_str_digits") else 0
    if digits:
        with pytest.raises(seamline.InputError, match="too many digits"):
            _native.dumps(10 ** (digits + 10))


def test_half_surrogates_are_kept_as_escapes() -> None:
    assert _native.dumps("a\ud83d b") == b'"a\\ud83d b"'
    assert _native.dumps({"\udc00": "\ud83d\ude00"}) == '{"\\udc00":"😀"}'.encode()
    assert seamline.check(history("lone \ud83d"), dialect="openai_chat").message_count == 1
    with pytest.raises(seamline.InputError):
        seamline.check('[{"role":"user","content":"\ud83d"}]')


def test_subclasses_are_written_as_what_they_are() -> None:
    class Text(str):
        def encode(self, *_: object) -> bytes:
            raise AssertionError("not asked")

    class Number(int):
        def __repr__(self) -> str:
            return "seven"

        __str__ = __repr__

    class Fields(dict):
        def items(self) -> object:
            raise AssertionError("not asked")

        def __iter__(self) -> object:
            raise AssertionError("not asked")

    class Role(str, enum.Enum):
        USER = "user"

    class Real(float):
        def __repr__(self) -> str:
            return "real"

    given = Fields(role=Role.USER, content=Text("hi"), n=Number(7), big=Number(2**70), x=Real(1.5), t=(1, None, True))
    assert json.loads(_native.dumps(given)) == {
        "role": "user",
        "content": "hi",
        "n": 7,
        "big": 2**70,
        "x": 1.5,
        "t": [1, None, True],
    }
    assert seamline.repair([given], dialect="openai_chat").messages[0] is given


def test_an_object_without_a_json_form_is_an_error_that_names_its_type() -> None:
    for value in (object(), {1, 2}, 1j, b"bytes", lambda: None):
        with pytest.raises(seamline.InputError, match=type(value).__name__):
            seamline.repair(history([value]))
    with pytest.raises(seamline.InputError, match="key"):
        seamline.repair([{"role": "user", 7: "x"}])
    with pytest.raises(seamline.InputError, match="cannot read a conversation"):
        seamline.repair(7)


def test_getters_that_fail_give_their_cause() -> None:
    class Failing:
        def model_dump(self, **_: object) -> dict:
            raise RuntimeError("no")

    class Property:
        @property
        def model_dump(self) -> object:
            raise AttributeError("hidden")

    with pytest.raises(seamline.InputError) as caught:
        seamline.repair(history([Failing()]))
    assert isinstance(caught.value.__cause__, RuntimeError)
    with pytest.raises(seamline.InputError):
        seamline.repair(history([Property()]))


def test_an_object_that_dumps_itself_is_an_error() -> None:
    class Endless:
        def model_dump(self, **_: object) -> list:
            return [self]

    with pytest.raises(seamline.InputError, match="nested deeper"):
        seamline.repair(history(Endless()))


def test_an_object_that_changes_its_container_does_no_harm() -> None:
    class Meddling:
        def __init__(self, target: object) -> None:
            self.target = target

        def model_dump(self, **_: object) -> str:
            if isinstance(self.target, dict):
                for name in range(1000):
                    self.target[f"new{name}"] = name
            else:
                self.target.clear()
            return "done"

    fields: dict = {"role": "user", "content": "x"}
    fields["meddling"] = Meddling(fields)
    fields["last"] = 1
    assert isinstance(_native.dumps(fields), bytes)
    items: list = [1, 2, 3]
    items.insert(1, Meddling(items))
    assert isinstance(_native.dumps(items), bytes)
    emptied: dict = {"a": 1}

    class Emptying:
        def model_dump(self, **_: object) -> int:
            emptied.clear()
            return 1

    emptied["b"] = Emptying()
    emptied["c"] = "x" * 100
    assert isinstance(_native.dumps(emptied), bytes)


def test_every_character_is_escaped_as_json_reads_it() -> None:
    text = "".join(map(chr, range(0x300))) + "\u2028\u2029\uffff😀" + 'long "quoted" \\ text ' * 20
    for start in range(0, 64):
        assert json.loads(_native.dumps(text[start:])) == text[start:]
    assert json.loads(_native.dumps({text: text})) == {text: text}


def test_a_request_that_grows_while_it_is_read_does_no_harm() -> None:
    class Growing:
        def __init__(self, target: dict) -> None:
            self.target = target

        def model_dump(self, **_: object) -> str:
            for number in range(5):
                self.target.pop("spare", None)
                self.target[f"tools{number}"] = []
            return "grown"

    request: dict = {"model": "gpt-5", "messages": [{"role": "tool", "tool_call_id": "call_1", "content": "ok"}]}
    request |= {"spare": [], "user": Growing(request)}
    try:
        repaired = seamline.repair(request, dialect="openai_chat")
    except seamline.SeamlineError:
        return
    assert repaired.messages


def test_options_of_a_wrong_kind_are_typed_errors() -> None:
    cyclic: dict = {}
    cyclic["repair"] = cyclic
    works = (
        lambda: seamline.safe_trim(history("a"), max_messages=-1),
        lambda: seamline.safe_trim(history("a"), max_tokens=2.5),
        lambda: seamline.safe_trim(history("a"), max_tokens=9, count=lambda _: None),
        lambda: seamline.check(history("a"), provider=["openai"]),
        lambda: seamline.repair(history("a"), policy=cyclic),
        lambda: seamline.sanitize(history("a"), calls=[1]),
        lambda: seamline.explain(None),
        lambda: seamline.open_store(5),
    )
    for work in works:
        with pytest.raises(seamline.OptionError):
            work()
    with pytest.raises(seamline.InputError):
        seamline.ResponseStream("openai_chat").feed(5)


def test_an_interrupt_inside_an_object_of_the_caller_is_an_interrupt() -> None:
    class Interrupted:
        def model_dump(self, **_: object) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        seamline.repair([Interrupted()])
