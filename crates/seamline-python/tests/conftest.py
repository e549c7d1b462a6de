"""Shared by the tests: the corpus of the repository."""

from __future__ import annotations

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[3]
CORPUS = ROOT / "fixtures"


def case_of(folder: Path) -> dict:
    """The settings of a case."""
    return tomllib.loads((folder / "case.toml").read_text())


def described(findings: list) -> str:
    """Findings as the corpus writes them."""
    if not findings:
        return "no findings\n"
    lines = []
    for finding in findings:
        lines.append(f"{finding.code} {finding.name} {finding.severity} {finding.pointer}".rstrip())
        lines.append(f"  message: {finding.message}")
        if finding.predicts is not None:
            lines.append(f"  predicts: {finding.predicts}")
        if finding.fix is not None:
            lines.append(f"  fix: {finding.fix.safety}, {finding.fix.title}")
    return "\n".join(lines) + "\n"
