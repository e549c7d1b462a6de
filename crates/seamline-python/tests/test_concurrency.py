"""Threads and event loops, and the memory that many calls take."""

from __future__ import annotations

import asyncio
import gc
import resource
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import seamline

CALLS = 10_000
LEAK_CALLS = 100_000


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


def test_other_threads_run_while_a_repair_works() -> None:
    body = ("[" + ",".join('{"role":"user","content":"' + "x" * 2000 + '"}' for _ in range(20_000)) + "]").encode()
    seen = threading.Event()
    done = threading.Event()

    def work() -> None:
        seamline.check(body, dialect="openai_chat")
        done.set()

    worker = threading.Thread(target=work)
    worker.start()
    while not done.is_set():
        seen.set()
    worker.join()
    assert seen.is_set()


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
