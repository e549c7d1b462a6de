"""Threads and event loops, and the memory that many calls take."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import resource
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

import seamline
from seamline import _native

CALLS = 10_000
#: A million calls take minutes; the sample finds a leak of 40 bytes for each call.
LEAK_CALLS = 1_000_000 if os.environ.get("SEAMLINE_SOAK") == "1" else 100_000


def broken(number: int) -> list:
    return [
        {"role": "user", "content": f"question {number}"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": f"call_{number}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
            ],
        },
        {"role": "user", "content": "go on"},
    ]


def repaired_id(number: int) -> str:
    return seamline.repair(broken(number), dialect="openai_chat").messages[2]["tool_call_id"]


def test_ten_thousand_repairs_from_threads_give_their_own_outcome() -> None:
    with ThreadPoolExecutor(16) as threads:
        assert list(threads.map(repaired_id, range(CALLS))) == [f"call_{number}" for number in range(CALLS)]


def test_repairs_from_event_loops_give_their_own_outcome() -> None:
    async def many(start: int) -> list:
        return await asyncio.gather(*(asyncio.to_thread(repaired_id, start + number) for number in range(500)))

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda start: asyncio.run(many(start)), range(0, 2000, 500)))
    assert [one for part in found for one in part] == [f"call_{number}" for number in range(2000)]


def progress_during(work: Callable[[], object]) -> int:
    """How often the main thread ran while another one did its work.

    No thread is asked to give the interpreter's lock up, so the main thread runs only if the work releases it.
    """
    steps = 0
    found: list[int] = []
    is_ready, is_done = threading.Event(), threading.Event()

    def measure() -> None:
        is_ready.wait()
        before = steps
        work()
        found.append(steps - before)
        is_done.set()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(60)
    try:
        worker = threading.Thread(target=measure)
        worker.start()
        is_ready.set()
        while not is_done.wait(0.0002):
            steps += 1
        worker.join()
    finally:
        sys.setswitchinterval(interval)
    return found[0]


def test_other_threads_run_while_a_repair_works() -> None:
    messages = [{"role": "user", "content": "x" * 2000} for _ in range(20_000)]
    body = json.dumps(messages).encode()
    options = {"dialect": "openai_chat"}
    # Reading objects needs the lock: the measure tells the difference.
    assert progress_during(lambda: _native.dumps(messages)) == 0
    assert progress_during(lambda: seamline.check(body, **options)) > 3
    assert progress_during(lambda: seamline.repair(body, **options)) > 3
    assert progress_during(lambda: seamline.convert(body, "anthropic")) > 3


def test_a_stream_that_threads_share_takes_every_piece() -> None:
    stream = seamline.ResponseStream("openai_chat")
    piece = b'data: {"choices":[{"delta":{"content":"x"}}]}\n\n'
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: stream.feed(piece), range(1000)))
    assert stream.finish().message["choices"][0]["message"]["content"] == "x" * 1000


@pytest.mark.skipif(sys.platform == "win32", reason="the peak of memory is read from the resource usage")
def test_many_calls_take_no_more_memory_than_few() -> None:
    def work(calls: int) -> None:
        for number in range(calls):
            seamline.repair(broken(number % 7), dialect="openai_chat").body
            if number % 50 == 0:
                with pytest.raises(seamline.InputError):
                    seamline.repair([{"role": "user", "content": object()}])

    work(5_000)
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    work(LEAK_CALLS)
    gc.collect()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 4 * 1024, f"{grown} KiB more after {LEAK_CALLS} calls"
