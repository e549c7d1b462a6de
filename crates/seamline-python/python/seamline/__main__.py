"""The command `seamline`, which the wheel ships beside the library."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> None:
    """Runs the command with the arguments of this process."""
    name = "seamline.exe" if os.name == "nt" else "seamline"
    program = Path(__file__).parent / "bin" / name
    if not program.is_file():
        print("error: this installation of seamline has no command", file=sys.stderr)
        print("hint: install a wheel from PyPI, or run `cargo install seamline-cli`", file=sys.stderr)
        raise SystemExit(2)
    if os.name == "nt":
        import subprocess

        raise SystemExit(subprocess.call([str(program), *sys.argv[1:]]))
    os.execv(program, [str(program), *sys.argv[1:]])


if __name__ == "__main__":
    main()
