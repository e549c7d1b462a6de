"""Each installed framework against the strict fake provider: alone, and with the one line that protects it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from damage import DAMAGES
from lanes import LANES, Lane, is_installed, outcome
from provider import Provider, program


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    path = program()
    if path is None:
        pytest.skip("the fake provider is not built: cargo build -p seamline-testkit --example fake_provider")
    started = Provider(path)
    yield started
    started.close()


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("lane", LANES, ids=lambda lane: lane.name)
def test_a_framework_with_its_fix_sends_every_history(provider: Provider, lane: Lane, damage: str) -> None:
    if not is_installed(lane):
        pytest.skip(f"{lane.needs} is not installed")
    fixed = outcome(lane, provider, damage, fixed=True)
    if damage in lane.unwritable:
        assert fixed.error.startswith("UnicodeEncodeError")
        return
    assert (fixed.error, fixed.lost) == (None, frozenset())


@pytest.mark.parametrize("lane", LANES, ids=lambda lane: lane.name)
def test_a_framework_alone_fails_or_loses_a_result(provider: Provider, lane: Lane) -> None:
    if not is_installed(lane):
        pytest.skip(f"{lane.needs} is not installed")
    alone = [outcome(lane, provider, damage, fixed=False) for damage in ("missing", "orphan", "displaced")]
    assert any(one.error is not None or one.lost for one in alone)
