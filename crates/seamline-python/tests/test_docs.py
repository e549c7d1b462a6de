"""The code of the documentation runs."""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

sys.path.insert(0, str(Path(__file__).parent / "frameworks"))

from provider import Provider, program

BLOCKS = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
SHOWN = re.compile(r"^```text\n(.*?)^```", re.M | re.S)
CALLBACKS = re.compile(r"^  callbacks: ([\w.]+)$", re.M)
IMPORTS = re.compile(r"^(?:from ([\w.]+) import (\w+)|import ([\w.]+))", re.M)

#: The page of each framework and SDK.
PAGES = sorted((ROOT / "docs" / "frameworks").glob("python-*.md"))


def sections(page: Path) -> list[tuple[str, str]]:
    """The text of each section, by its heading."""
    parts = re.split(r"^## (.*)$", page.read_text(), flags=re.M)
    return [(page.name, parts[0]), *zip(parts[1::2], parts[2::2])]


def code_of(text: str) -> str:
    return "\n".join(BLOCKS.findall(text))


GUIDE = [(name, code_of(text)) for name, text in sections(ROOT / "docs" / "python.md") if code_of(text)]


def has(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ModuleNotFoundError:
        return False
    return True


def missing_from(code: str) -> list[str]:
    """The modules that the code imports and that are not installed."""
    found = []
    for module, member, plain in IMPORTS.findall(code):
        # `google` is a folder of several packages.
        name = f"google.{member}" if module == "google" else module or plain
        if not name.startswith("seamline") and not has(name):
            assert name not in os.environ.get("SEAMLINE_NEEDED", "").split(), f"{name} must be installed here"
            found.append(name)
    return found


def skip_without(code: str) -> None:
    missing = missing_from(code)
    if missing:
        pytest.skip(f"{', '.join(sorted(set(missing)))} is not installed")


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    """The fake provider, which every SDK takes for its own."""
    if program() is None:
        pytest.skip("the fake provider is not built")
    started = Provider(program())
    monkeypatch.setattr(os, "environ", {**os.environ})
    for name in ("OPENAI", "ANTHROPIC", "GOOGLE", "GROQ", "MISTRAL"):
        os.environ[f"{name}_API_KEY"] = "dummy"
    os.environ |= {"OPENAI_BASE_URL": f"{started.url}/v1", "ANTHROPIC_BASE_URL": started.url}
    os.environ |= {"GOOGLE_GEMINI_BASE_URL": started.url, "GROQ_BASE_URL": started.url}
    os.environ |= {"AWS_ENDPOINT_URL_BEDROCK_RUNTIME": started.url, "AWS_DEFAULT_REGION": "us-east-1"}
    os.environ |= {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret"}
    # These would use the network.
    os.environ |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "OPENAI_AGENTS_DISABLE_TRACING": "1"}
    if has("mistralai.client.sdkconfiguration"):
        servers = importlib.import_module("mistralai.client.sdkconfiguration").SERVERS
        for name in servers:
            monkeypatch.setitem(servers, name, started.url)
    yield started
    started.close()


@pytest.mark.parametrize("code", [pytest.param(code, id=name) for name, code in GUIDE])
def test_the_code_of_a_section_runs(code: str, provider: Provider) -> None:
    skip_without(code)
    namespace: dict = {}
    exec(GUIDE[0][1], namespace)
    if code != GUIDE[0][1]:
        exec(code, namespace)
    assert [request for request in provider.requests(first=0.3) if request["status"] >= 400] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_the_error_before_and_the_line_that_prevents_it(
    page: Path, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    _, (heading, before), *rest = sections(page)
    assert (heading, rest[0][0]) == ("Before", "After")
    skip_without(code_of(before) + code_of(rest[0][1]))
    namespace: dict = {}
    error = ""
    try:
        exec(code_of(before), namespace)
    except Exception as caught:
        error = f"{type(caught).__name__}: {caught}"
    check_shown(SHOWN.findall(before)[0], f"{error}\n{caplog.text}")
    provider.requests(first=0.3)
    sent = []
    for _, text in rest:
        if not missing_from(code_of(text)):
            exec(code_of(text), namespace)
        for callback in CALLBACKS.findall(text):
            module, _, name = callback.rpartition(".")
            assert hasattr(getattr(importlib.import_module(module), name), "async_pre_call_hook")
        sent += provider.requests(first=0.3)
    assert sent
    assert [request for request in sent if request["status"] >= 400] == []


def check_shown(shown: str, said: str) -> None:
    """Checks that an error has the words that a page shows. An ellipsis stands for any text."""
    rest = " ".join(said.split())
    for wanted in (" ".join(piece.split()) for piece in shown.split("…")):
        if not wanted:
            continue
        assert wanted in rest, said
        rest = rest.partition(wanted)[2]


def test_every_page_is_in_the_guide() -> None:
    guide = (ROOT / "docs" / "python.md").read_text()
    assert len(PAGES) >= 13
    assert [page.name for page in PAGES if f"(frameworks/{page.name})" not in guide] == []


def test_the_quick_start_of_the_readme_runs(capsys: pytest.CaptureFixture) -> None:
    for page in (ROOT / "README.md", ROOT / "crates" / "seamline-python" / "README.md"):
        blocks = BLOCKS.findall(page.read_text())
        assert blocks, page
        for block in blocks:
            exec(block, {})
    assert "PAIR001" in capsys.readouterr().out
