"""Results as HTML for notebooks."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seamline.results import Checked, Repaired

#: The most messages of a column, and the most characters of a message.
_ROWS = 40
_TEXT = 400

_KEPT, _GONE, _NEW = "#ffffff00", "#f8514926", "#2ea04326"


def _row(colour: str, role: str, text: str) -> str:
    style = f"background:{colour};padding:4px 8px;margin:2px 0;border-radius:4px;white-space:pre-wrap;text-align:left"
    return f'<div style="{style}"><b>{escape(role)}</b> {escape(text)}</div>'


def _column(title: str, rows: list[str], more: int) -> str:
    rest = f"<div>… and {more} more</div>" if more > 0 else ""
    return f'<td style="vertical-align:top;width:50%;text-align:left"><b>{title}</b>{"".join(rows)}{rest}</td>'


def _shown(message: Any) -> tuple[str, str]:
    if not isinstance(message, dict):
        return "?", json.dumps(message, ensure_ascii=False, default=str)[:_TEXT]
    role = str(message.get("role") or message.get("type") or "?")
    rest = {name: value for name, value in message.items() if name != "role"}
    content = rest.get("content") if set(rest) == {"content"} else None
    text = content if isinstance(content, str) else json.dumps(rest, ensure_ascii=False, default=str)
    return role, text if len(text) <= _TEXT else text[:_TEXT] + "…"


def _side(title: str, messages: list[Any], others: set[str], colour: str) -> str:
    rows = []
    for message in messages[:_ROWS]:
        is_same = json.dumps(message, sort_keys=True, default=str) in others
        rows.append(_row(_KEPT if is_same else colour, *_shown(message)))
    return _column(title, rows, len(messages) - _ROWS)


def _items(items: list[Any]) -> str:
    return "<ul>" + "".join(f"<li><code>{escape(str(item))}</code></li>" for item in items[:_ROWS]) + "</ul>"


def repaired(result: Repaired, before: list[Any]) -> str:
    """The messages before and after, with the changed ones coloured."""
    head = f"<p><b>{escape(repr(result).splitlines()[0])}</b></p>"
    if not result.changed:
        return head + _items(result.remaining)
    keys = [{json.dumps(message, sort_keys=True, default=str) for message in side} for side in (before, result.messages)]
    columns = _side("before", before, keys[1], _GONE) + _side("after", result.messages, keys[0], _NEW)
    return f"{head}{_items(result.actions)}<table style='width:100%'><tr>{columns}</tr></table>"


def checked(result: Checked) -> str:
    """The findings as a list."""
    return f"<p><b>{escape(repr(result).splitlines()[0])}</b></p>{_items(result.findings)}"
