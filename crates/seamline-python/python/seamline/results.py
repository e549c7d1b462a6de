"""The results of operations. Each reads its report when it is first asked for a part of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from seamline import _html

#: The member of a request that lists the messages.
_LISTS = {"openai_responses": "input", "gemini_generate": "contents", "gemini_interactions": "input"}


def messages_of(body: Any, dialect: str) -> list[Any]:
    """The messages of a body in any form."""
    if isinstance(body, tuple):
        return list(body)
    if not isinstance(body, (dict, list)):
        body = json.loads(bytes(body) if isinstance(body, memoryview) else body)
    if isinstance(body, list):
        return body
    found = body.get(_LISTS.get(dialect, "messages"))
    return found if isinstance(found, list) else []


@dataclass(frozen=True, slots=True)
class Fix:
    """The edits that a repair would make for a finding."""

    safety: str
    title: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One violation at one place."""

    code: str
    name: str
    severity: str
    message: str
    #: The place, as a JSON pointer into the body.
    pointer: str = ""
    message_index: int | None = None
    block_index: int | None = None
    call_id: str | None = None
    #: The error that the provider would return.
    predicts: str | None = None
    fix: Fix | None = None
    #: Everything that the report says about it.
    report: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, report: dict[str, Any]) -> Finding:
        fix = report.get("fix")
        return cls(
            code=report["code"],
            name=report["name"],
            severity=report["severity"],
            message=report["message"],
            pointer=report.get("pointer") or "",
            message_index=report.get("message_index"),
            block_index=report.get("block_index"),
            call_id=report.get("call_id"),
            predicts=report.get("predicts"),
            fix=Fix(fix["safety"], fix["title"]) if fix else None,
            report=report,
        )

    def __str__(self) -> str:
        place = f" at {self.pointer}" if self.pointer else ""
        return f"{self.code} {self.name} ({self.severity}){place}: {self.message}"


@dataclass(frozen=True, slots=True)
class Action:
    """One action of a repair."""

    code: str
    action: str
    pointer: str | None = None
    message_index: int | None = None
    call_id: str | None = None
    #: Whether the text that it wrote is synthetic.
    synthetic: bool = False
    report: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, report: dict[str, Any]) -> Action:
        return cls(
            code=report["code"],
            action=report["action"],
            pointer=report.get("pointer"),
            message_index=report.get("message_index"),
            call_id=report.get("call_id"),
            synthetic=bool(report.get("synthetic")),
            report=report,
        )

    def __str__(self) -> str:
        place = f" {self.pointer}" if self.pointer else ""
        call = f" (call {self.call_id})" if self.call_id else ""
        made = ", synthetic" if self.synthetic else ""
        return f"{self.code} {self.action}{place}{call}{made}"


class _Reported:
    """A result with a report as JSON."""

    _raw: bytes

    @cached_property
    def report(self) -> dict[str, Any]:
        """The whole report: the JSON that the command line prints."""
        return json.loads(self._raw)

    def _findings(self, name: str) -> list[Finding]:
        return [Finding.of(one) for one in self.report.get(name, ())]

    def _actions(self, name: str) -> list[Action]:
        return [Action.of(one) for one in self.report.get(name, ())]

    @property
    def dialect(self) -> str:
        """The dialect that the body is written in."""
        return self.report["dialect"]

    @property
    def provider(self) -> str:
        """The provider that the body was checked for."""
        return self.report["provider"]

    @property
    def note(self) -> str | None:
        """Remarks about the result."""
        return self.report.get("note")


def _lines(head: str, parts: list[Any], most: int = 8) -> str:
    shown = [f"  {part}" for part in parts[:most]]
    if len(parts) > most:
        shown.append(f"  … and {len(parts) - most} more")
    return "\n".join([head, *shown])


class Checked(_Reported):
    """The outcome of a check."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw

    @cached_property
    def findings(self) -> list[Finding]:
        """The violations, in the order of the body."""
        return self._findings("findings")

    @property
    def accepted(self) -> bool:
        """Whether the provider would accept the body."""
        return all(finding.severity != "error" for finding in self.findings)

    @property
    def message_count(self) -> int:
        """The number of messages."""
        return self.report["messages"]

    @property
    def call_count(self) -> int:
        """The number of tool calls."""
        return self.report["calls"]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __bool__(self) -> bool:
        return self.accepted

    def __repr__(self) -> str:
        verdict = "accepted" if self.accepted else "rejected"
        head = f"<Checked {self.dialect} for {self.provider}: {verdict}, {self.message_count} messages>"
        return _lines(head, self.findings)

    def _repr_html_(self) -> str:
        return _html.checked(self)


class Repaired(_Reported):
    """The outcome of a repair."""

    def __init__(self, given: Any, new: Any, raw: bytes) -> None:
        self._given = given
        self._raw = raw
        #: Whether the body differs from the given one.
        self.changed: bool = new is not None
        #: The body to send, in the form of the given one. It is the given object itself if nothing had to change.
        self.body: Any = given if new is None else new

    @cached_property
    def messages(self) -> list[Any]:
        """The messages of the body. Unchanged ones are the objects that were given."""
        return messages_of(self.body, self.dialect)

    @cached_property
    def findings(self) -> list[Finding]:
        """The violations of the given body."""
        return self._findings("found")

    @cached_property
    def remaining(self) -> list[Finding]:
        """The violations of the new body."""
        return self._findings("remaining")

    @cached_property
    def actions(self) -> list[Action]:
        """The actions of the repair."""
        return self._actions("actions")

    @property
    def dropped(self) -> list[dict[str, Any]]:
        """The parts that were removed and are nowhere in the new body, each with its exact bytes."""
        return self.report["dropped"]

    @property
    def lossless(self) -> bool:
        """Whether all content is still in the body."""
        return self.report["lossless"]

    @property
    def sendable(self) -> bool:
        """Whether the policy lets the body be sent."""
        return self.report["sendable"]

    @property
    def origins(self) -> list[int | None]:
        """For each message of the new body, the index of the given message; `None` for a new one."""
        return self.report["origins"]

    @property
    def prefix(self) -> dict[str, Any]:
        """The unchanged prefix, and what the first change invalidates."""
        return self.report["prefix"]

    def __repr__(self) -> str:
        if not self.changed and not self.remaining:
            return f"<Repaired {self.dialect} for {self.provider}: nothing to repair>"
        state = "repaired" if self.changed else "unchanged"
        loss = "lossless" if self.lossless else "with losses"
        head = f"<Repaired {self.dialect} for {self.provider}: {state}, {loss}, {len(self.remaining)} remain>"
        return _lines(head, [*self.actions, *(f"remains: {finding}" for finding in self.remaining)])

    def _repr_html_(self) -> str:
        return _html.repaired(self, messages_of(self._given, self.dialect))


class Converted(_Reported):
    """The outcome of a conversion."""

    def __init__(self, body: Any, raw: bytes) -> None:
        self._raw = raw
        #: The body to send.
        self.body: Any = body

    @cached_property
    def messages(self) -> list[Any]:
        """The messages of the new body."""
        return messages_of(self.body, self.report["to"]["dialect"])

    @property
    def dialect(self) -> str:
        """The dialect of the new body."""
        return self.report["to"]["dialect"]

    @property
    def provider(self) -> str | None:
        """The provider that the new body is for, where one is known."""
        return self.report["to"]["provider"]

    @property
    def complete(self) -> bool:
        """Whether nothing was left out."""
        return self.report["complete"]

    @property
    def lost(self) -> list[dict[str, Any]]:
        """The parts that were not carried over unchanged, by their places in the given body."""
        return self.report["lost"]

    @cached_property
    def repairs(self) -> list[Action]:
        """The repairs of the given body."""
        return self._actions("repairs")

    @cached_property
    def adjustments(self) -> list[Action]:
        """The repairs of the new body."""
        return self._actions("adjustments")

    @cached_property
    def remaining(self) -> list[Finding]:
        """The violations of the new body."""
        return self._findings("remaining")

    def __repr__(self) -> str:
        state = "complete" if self.complete else "incomplete"
        source = self.report["from"]["dialect"]
        lost = [f"{one['fate']} {one['pointer'] or '-'} {one['what']}: {one['note']}" for one in self.lost]
        return _lines(f"<Converted {source} to {self.dialect}: {state}>", [*self.repairs, *lost])


class Verdict(_Reported):
    """A classified error of a provider."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw

    @property
    def kind(self) -> str:
        """The class of the error: `corruption`, `transient`, `limit` and so on."""
        return self.report["class"]

    @property
    def certainty(self) -> str:
        """How certain the class is."""
        return self.report["certainty"]

    @property
    def meaning(self) -> str:
        """The meaning of the error."""
        return self.report["meaning"]

    @property
    def advice(self) -> str:
        """The advice for the caller."""
        return self.report["advice"]

    @property
    def rules(self) -> list[dict[str, str]]:
        """The rules that find its cause in a body."""
        return self.report["rules"]

    @property
    def retry_after_ms(self) -> int | None:
        """The wait that the provider asks for."""
        return self.report["retry_after_ms"]

    def __repr__(self) -> str:
        rules = ", ".join(f"{rule['code']} {rule['name']}" for rule in self.rules)
        return f"<Verdict {self.kind} ({self.certainty}): {self.meaning}{'; rules: ' + rules if rules else ''}>"


@dataclass(frozen=True, slots=True)
class Explanation:
    """The documentation of a code."""

    code: str
    name: str
    severity: str
    group: str
    #: The documentation as Markdown.
    documentation: str

    def __str__(self) -> str:
        return f"# {self.code} `{self.name}`\n\n{self.documentation}\n"

    def _repr_markdown_(self) -> str:
        return str(self)


class Response(_Reported):
    """A streamed response, assembled."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw

    @property
    def ending(self) -> str:
        """How the response ended: `complete`, `truncated`, `filtered`, `failed`, `stalled`, `aborted` …"""
        return self.report["ending"]

    @property
    def stop_reason(self) -> str | None:
        """The stop reason in the provider's own words."""
        return self.report["stop_reason"]

    @property
    def message(self) -> Any:
        """The message as the provider writes it in a response without streaming."""
        return self.report["message"]

    @property
    def messages(self) -> list[Any]:
        """The messages to append to a request, with results for the calls that must not run."""
        return self.report["messages"]

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The calls that the client is to answer; run only those that are `executable`."""
        return self.report["calls"]

    @cached_property
    def findings(self) -> list[Finding]:
        """The flaws of the stream."""
        return self._findings("findings")

    @property
    def error(self) -> dict[str, Any] | None:
        """The error, if the response failed."""
        return self.report["error"]

    @property
    def filtered(self) -> dict[str, Any] | None:
        """The filtered or refused part, if there is one."""
        return self.report["filtered"]

    @property
    def well(self) -> bool:
        """Whether the response is complete and has no flaw worth a warning."""
        return self.report["well"]

    @property
    def provider(self) -> str:
        raise AttributeError("a response has no provider")

    def __repr__(self) -> str:
        runs = sum(1 for call in self.calls if call["executable"])
        head = f"<Response {self.dialect}: {self.ending}, {len(self.calls)} calls, {runs} may run>"
        return _lines(head, self.findings)
