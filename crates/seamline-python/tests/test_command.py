"""The command `python -m seamline`."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    os.name == "nt" or (Path(sysconfig.get_path("scripts")) / "seamline").is_file(),
    reason="the wheel of a release has the command",
)


def run(path: Path) -> subprocess.CompletedProcess:
    """Runs `python -m seamline check a.json` with a path of programs."""
    command = [sys.executable, "-m", "seamline", "check", "a.json"]
    return subprocess.run(command, env={**os.environ, "PATH": str(path)}, capture_output=True, text=True, check=False)


def test_the_command_on_the_path_runs(tmp_path: Path) -> None:
    program = tmp_path / "seamline"
    program.write_text('#!/bin/sh\necho "ran $*"\nexit 3\n')
    program.chmod(0o755)
    done = run(tmp_path)
    assert (done.returncode, done.stdout) == (3, "ran check a.json\n")


def test_an_installation_without_the_command_says_how_to_get_it(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.returncode == 2
    assert "cargo install --path crates/seamline-cli" in done.stderr
