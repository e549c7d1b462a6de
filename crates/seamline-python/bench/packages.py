"""The speed of the Python package beside other libraries: `python packages.py [ROUNDS]`.

All contenders run in turn in every round, each in one thread. The number of a contender is the time of the processor in
its fastest round.
"""

from __future__ import annotations

import copy
import gc
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

# Without it LiteLLM looks for a list of prices in the network.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

import seamline

MESSAGES = 1000
ROUNDS = 15
#: Every so many turns a result is missing, an orphan is added, or a result comes twice.
DAMAGED = 20
#: What the package promises.
FROM_BYTES, FROM_OBJECTS, CLEAN = 5.0, 1.0, 1.0

OPTIONS = {"dialect": "openai_chat", "provider": "openai"}


def turn(number: int) -> list[dict[str, Any]]:
    """A question, a call, its result and a response, in the sizes that coding agents have."""
    id = f"call_{number:08}"
    arguments = json.dumps({"path": f"src/module_{number}/main.py", "lines": [number, number + 40]})
    function = {"name": "read_file", "arguments": arguments}
    output = "\n".join(f"{line:4} def function_{line}(value: int) -> int: return value * {number}" for line in range(24))
    return [
        {"role": "user", "content": f"Please look at module {number} and tell me what its \"main\" function does. " * 3},
        {"role": "assistant", "content": None, "tool_calls": [{"id": id, "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": id, "content": output},
        {"role": "assistant", "content": f"Module {number} multiplies its argument; nothing else depends on it. " * 4},
    ]


def history(is_damaged: bool) -> list[dict[str, Any]]:
    """A history of a thousand messages."""
    made: list[dict[str, Any]] = []
    number = 0
    while len(made) < MESSAGES:
        messages = turn(number)
        if is_damaged and number % DAMAGED == 5:
            del messages[2]
        elif is_damaged and number % DAMAGED == 10:
            del messages[1]
        elif is_damaged and number % DAMAGED == 15:
            messages.insert(3, dict(messages[2]))
        made += messages
        number += 1
    return made[:MESSAGES]


def peers(damaged: list[dict[str, Any]]) -> dict[str, Callable[[list[dict[str, Any]]], Any]]:
    """The repairs of other libraries, of those that are installed."""
    found: dict[str, Callable[[list[dict[str, Any]]], Any]] = {}
    try:
        import turnsafe

        found["turnsafe"] = lambda messages: turnsafe.repair(messages, provider="openai")
    except ImportError as error:
        print(f"turnsafe is not installed: {error}")
    try:
        import litellm
        from litellm.litellm_core_utils.prompt_templates.factory import sanitize_messages_for_tool_calling

        litellm.modify_params = True
        # It logs a line for each damage, which takes longer than the repair.
        litellm.verbose_logger.setLevel("CRITICAL")
        found["LiteLLM modify_params"] = sanitize_messages_for_tool_calling
    except ImportError as error:
        print(f"LiteLLM is not installed: {error}")
    for name, repair in list(found.items()):
        try:
            repair(copy.deepcopy(damaged))
        except Exception as error:
            print(f"{name} cannot repair the history: {type(error).__name__}")
            del found[name]
    return found


def pydantic_ai_pair(damaged: list[dict[str, Any]]) -> dict[str, Callable[[], Any]]:
    """pydantic-ai's own repair and ours, on its own classes."""
    try:
        from pydantic_ai import messages as parts

        import seamline.pydantic_ai as ours
    except ImportError as error:
        print(f"pydantic-ai is not installed: {error}")
        return {}
    made: list[Any] = []
    for message in damaged:
        if message["role"] == "user":
            made.append(parts.ModelRequest(parts=[parts.UserPromptPart(message["content"])]))
        elif message["role"] == "tool":
            part = parts.ToolReturnPart("read_file", message["content"], tool_call_id=message["tool_call_id"])
            made.append(parts.ModelRequest(parts=[part]))
        else:
            texts = [parts.TextPart(message["content"])] if message["content"] else []
            calls = [
                parts.ToolCallPart(call["function"]["name"], call["function"]["arguments"], tool_call_id=call["id"])
                for call in message.get("tool_calls", ())
            ]
            made.append(parts.ModelResponse(parts=[*texts, *calls]))
    return {
        "pydantic-ai repair_messages, its objects": lambda: parts.repair_messages(made),
        "seamline.pydantic_ai, its objects": lambda: ours.repair_messages(made),
    }


def contenders() -> dict[str, Callable[[], Any]]:
    """Everything that is measured, by name."""
    import orjson

    damaged, clean = history(True), history(False)
    body, clean_body = json.dumps(damaged).encode(), json.dumps(clean).encode()
    assert seamline.repair(damaged, **OPTIONS).changed
    assert seamline.repair(clean, **OPTIONS).body is clean
    work: dict[str, Callable[[], Any]] = {
        "seamline, bytes": lambda: seamline.repair(body, **OPTIONS).body,
        "seamline, objects": lambda: seamline.repair(damaged, **OPTIONS).body,
        "seamline, clean objects": lambda: seamline.repair(clean, **OPTIONS).body,
        "seamline, clean bytes": lambda: seamline.repair(clean_body, **OPTIONS).body,
        "orjson.dumps, clean objects": lambda: orjson.dumps(clean),
        "json.dumps, clean objects": lambda: json.dumps(clean),
    }
    for name, repair in peers(damaged).items():
        work[f"{name}, objects"] = lambda repair=repair: repair(damaged)
        work[f"{name}, bytes"] = lambda repair=repair: json.dumps(repair(json.loads(body))).encode()
    return {**work, **pydantic_ai_pair(damaged)}


def measured(work: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The fastest time of each contender, in seconds."""
    best = dict.fromkeys(work, float("inf"))
    # A collection of everything that the libraries loaded would hit one of them by chance.
    gc.collect()
    gc.disable()
    for _ in range(rounds):
        for name, run in work.items():
            # The time of the processor: on a busy machine a long run waits more often than a short one.
            start = time.thread_time()
            run()
            best[name] = min(best[name], time.thread_time() - start)
    gc.enable()
    return best


def main() -> None:
    """Prints the times and their ratios to what the package promises."""
    best = measured(contenders(), int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
    for name, seconds in best.items():
        print(f"{name:45} {seconds * 1e3:9.3f} ms")

    def others(form: str) -> float:
        """The fastest peer; the peers have a comma before the form of their input."""
        known = ("seamline", "orjson", "json")
        return min(time for name, time in best.items() if name.endswith(form) and not name.startswith(known))

    ratios = [
        ("the best peer from bytes takes", others("bytes") / best["seamline, bytes"], "at least", FROM_BYTES),
        ("the best peer from objects takes", others(" objects") / best["seamline, objects"], "at least", FROM_OBJECTS),
        ("orjson.dumps", best["seamline, clean objects"] / best["orjson.dumps, clean objects"], "at most", CLEAN),
    ]
    print()
    for what, ratio, bound, promised in ratios[:2]:
        print(f"{what} {ratio:.2f} times as long as Seamline (promised: {bound} {promised:.0f})")
    what, ratio, bound, promised = ratios[2]
    print(f"a clean history takes {ratio:.2f} times as long as {what} (promised: {bound} {promised:.0f})")


if __name__ == "__main__":
    main()
