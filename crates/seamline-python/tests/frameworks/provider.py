"""The strict fake provider, as a process: it rejects what real providers reject, in their words."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
from pathlib import Path

ROOT = Path(__file__).parents[4]


def program() -> Path | None:
    """The program of the fake provider, if it is built."""
    named = os.environ.get("SEAMLINE_FAKE_PROVIDER")
    found = Path(named) if named else ROOT / "target" / "debug" / "examples" / "fake_provider"
    return found if found.is_file() else None


class Provider:
    """A running fake provider."""

    def __init__(self, path: Path) -> None:
        self._process = subprocess.Popen([path, "0"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        self.url = self._process.stdout.readline().strip().rsplit(" ", 1)[-1]
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._follow, daemon=True).start()

    def _follow(self) -> None:
        for line in self._process.stdout:
            self._lines.put(line)

    def requests(self, first: float = 5.0) -> list[dict]:
        """The requests since the last call."""
        found = []
        try:
            while True:
                found.append(json.loads(self._lines.get(timeout=first if not found else 0.15)))
        except queue.Empty:
            return found

    def close(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.wait()
