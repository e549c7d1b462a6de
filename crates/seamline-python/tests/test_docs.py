"""The code of the documentation runs."""

from __future__ import annotations

import importlib
import os
import re
import sys
from pathlib import Path

import pytest
from conftest import ROOT

sys.path.insert(0, str(Path(__file__).parent / "frameworks"))

from provider import Provider, program

BLOCKS = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
IMPORTS = re.compile(r"^(?:from|import) ([\w.]+)", re.M)


def sections(page: Path) -> list:
    """The code of each section, by its heading."""
    parts = re.split(r"^## (.*)$", page.read_text(), flags=re.M)
    named = [(page.name, parts[0]), *zip(parts[1::2], parts[2::2])]
    found = [(name, "\n".join(BLOCKS.findall(text))) for name, text in named]
    return [pytest.param(code, id=name) for name, code in found if code]


GUIDE = sections(ROOT / "docs" / "python.md")


def has(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ModuleNotFoundError:
        return False
    return True


@pytest.mark.parametrize("code", GUIDE)
def test_the_code_of_a_section_runs(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = [module for module in IMPORTS.findall(code) if not module.startswith("seamline") and not has(module)]
    if missing:
        wanted = set(os.environ.get("SEAMLINE_NEEDED", "").split()) & set(missing)
        assert not wanted, f"{wanted} must be installed here"
        pytest.skip(f"{', '.join(missing)} is not installed")
    provider = None
    if "gpt-5" in code or "claude" in code:
        if program() is None:
            pytest.skip("the fake provider is not built")
        provider = Provider(program())
        monkeypatch.setattr(os, "environ", {**os.environ})
        os.environ |= {"OPENAI_API_KEY": "dummy", "OPENAI_BASE_URL": f"{provider.url}/v1"}
        os.environ |= {"ANTHROPIC_API_KEY": "dummy", "ANTHROPIC_BASE_URL": provider.url, "GOOGLE_API_KEY": "dummy"}
    namespace: dict = {}
    try:
        exec(GUIDE[0].values[0], namespace)
        if code != GUIDE[0].values[0]:
            exec(code, namespace)
    finally:
        if provider is not None:
            rejected = [request for request in provider.requests(first=0.3) if request["status"] >= 400]
            provider.close()
            assert rejected == []


def test_the_quick_start_of_the_readme_runs(capsys: pytest.CaptureFixture) -> None:
    for page in (ROOT / "README.md", ROOT / "crates" / "seamline-python" / "README.md"):
        blocks = BLOCKS.findall(page.read_text())
        assert blocks, page
        for block in blocks:
            exec(block, {})
    assert "PAIR001" in capsys.readouterr().out
