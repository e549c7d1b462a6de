"""Prints the table of frameworks and damages, before and after: `python table.py [NAME]…`."""

from __future__ import annotations

import sys

from damage import DAMAGES
from lanes import LANES, is_installed, outcome
from provider import Provider, program


def main() -> int:
    """Prints a row for each installed framework; returns 1 if one fails with its fix."""
    path = program()
    if path is None:
        print("error: the fake provider is not built", file=sys.stderr)
        return 2
    provider = Provider(path)
    wanted = sys.argv[1:]
    failures = 0
    print("| framework | " + " | ".join(DAMAGES) + " |")
    print("|---" * (len(DAMAGES) + 1) + "|")
    for lane in LANES:
        if not is_installed(lane) or (wanted and lane.name not in wanted):
            continue
        cells = []
        for damage in DAMAGES:
            before, after = (outcome(lane, provider, damage, fixed) for fixed in (False, True))
            cells.append(f"{before} → {after}")
            if damage not in lane.unwritable and (after.error is not None or after.lost):
                failures += 1
                print(f"{lane.name}, {damage}: {after.error or sorted(after.lost)}", file=sys.stderr)
        print(f"| {lane.name} | " + " | ".join(cells) + " |", flush=True)
    provider.close()
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
