"""Keeps the conversation between an agent and a language model whole.

`check` reports what is wrong with a request and which error the provider would return. `repair` fixes what it can fix
without losing content; if nothing needs fixing, the same object comes back. `convert` writes a request in another
dialect. `classify` explains an error of a provider, `explain` a code. `ResponseStream` assembles a streamed response.
"""

from __future__ import annotations

import json as _json
from collections.abc import Mapping
from importlib import metadata as _metadata
from typing import Any

from seamline import _native, _options
from seamline.async_session import AsyncCycle, AsyncSession, AsyncStore, open_store_async
from seamline.errors import BodyError, InputError, OptionError, SeamlineError, SessionError
from seamline.histories import Sanitized, Trimmed, safe_trim, sanitize
from seamline.results import Action, Checked, Converted, Explanation, Finding, Fix, Repaired, Response, Verdict
from seamline.session import AgentStart, Cycle, Request, Session, Store, open_store
from seamline.stream import ResponseStream

__all__ = [
    "Action",
    "AgentStart",
    "AsyncCycle",
    "AsyncSession",
    "AsyncStore",
    "BodyError",
    "Checked",
    "Converted",
    "Cycle",
    "Explanation",
    "Finding",
    "Fix",
    "InputError",
    "OptionError",
    "Repaired",
    "Request",
    "Response",
    "ResponseStream",
    "Sanitized",
    "SeamlineError",
    "Session",
    "SessionError",
    "Store",
    "Trimmed",
    "Verdict",
    "check",
    "classify",
    "convert",
    "explain",
    "open_store",
    "open_store_async",
    "presets",
    "repair",
    "safe_trim",
    "sanitize",
]

try:
    __version__ = _metadata.version("seamline")
except _metadata.PackageNotFoundError:  # The sources are imported from a checkout.
    __version__ = "0"


def check(
    given: Any,
    *,
    dialect: str | None = None,
    provider: str | None = None,
    model: str | None = None,
    policy: str | dict[str, Any] | None = None,
    kept: bool = False,
) -> Checked:
    """Checks a conversation: bytes, str, a request dict, or a list of messages.

    Dialect and provider are detected when not given. `policy` is the name of a preset, the text of a policy file, or a
    dict with its members. `kept` says that it is a stored conversation and not a request.
    """
    return Checked(_native.check(given, _options.choices(dialect, provider, model, policy, kept)))


def repair(
    given: Any,
    *,
    dialect: str | None = None,
    provider: str | None = None,
    model: str | None = None,
    policy: str | dict[str, Any] | None = None,
    kept: bool = False,
    signatures: dict[str, str] | None = None,
) -> Repaired:
    """Repairs a conversation as far as the policy allows. The arguments are those of `check`.

    `signatures` are those that the provider gave tool calls, by the id of the call.
    """
    new, raw = _native.repair(given, _options.choices(dialect, provider, model, policy, kept, signatures))
    return Repaired(given, new, raw)


def convert(
    given: Any,
    to: str,
    *,
    source: str | None = None,
    model: str | None = None,
    policy: str | dict[str, Any] | None = None,
    reasoning: str | None = None,
    kept: bool = False,
) -> Converted:
    """Converts a conversation for another provider or into another dialect, and repairs it first."""
    options = {"from": source, "to": to, "model": model, "policy": policy, "reasoning": reasoning, "kept": kept}
    return Converted(*_native.convert(given, _options.text(**options)))


def classify(
    error: str | BaseException,
    *,
    status: int | None = None,
    headers: Mapping[str, str] | None = None,
    provider: str | None = None,
    dialect: str | None = None,
) -> Verdict:
    """Classifies an error of a provider: its class, the rules that find its cause, and the advice.

    Takes the text, or the exception of an SDK, from which the status and the headers of the response are read.
    """
    return Verdict(_native.classify(_options.failure(error, status, headers, provider, dialect)))


def explain(code: str) -> Explanation:
    """The documentation of a code or a name, such as `PAIR001` or `unanswered-call`."""
    found = _native.explain(code) if isinstance(code, str) else None
    if found is None:
        raise OptionError(f"no finding has the code or name `{code}`", "`seamline rules` lists them all")
    return Explanation(**_json.loads(found))


def presets() -> list[str]:
    """The names of the presets of policies."""
    return _native.presets()
