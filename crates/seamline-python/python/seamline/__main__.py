"""`python -m seamline` runs the command that the wheel installs beside the interpreter, or else the one on the path."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path


def _command() -> Path | None:
    """The installed command; `None` in an installation without one."""
    name = "seamline.exe" if os.name == "nt" else "seamline"
    schemes = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user")]
    beside = next((path for folder in schemes if (path := Path(folder) / name).is_file()), None)
    on_path = None if beside is not None else shutil.which("seamline")
    return beside if on_path is None else Path(on_path)


def main() -> None:
    """Runs the command with the arguments of this process."""
    program = _command()
    if program is None:
        print("error: this installation of seamline has no command", file=sys.stderr)
        print("hint: install a wheel of a release, or run `cargo install --path crates/seamline-cli`", file=sys.stderr)
        raise SystemExit(2)
    if os.name == "nt":
        import subprocess

        raise SystemExit(subprocess.call([str(program), *sys.argv[1:]]))
    os.execv(program, [str(program), *sys.argv[1:]])


if __name__ == "__main__":
    main()
