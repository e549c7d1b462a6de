"""Handles failures of our own code: the original goes on, and the log says so."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Literal, TypeVar

from seamline.errors import OptionError, SeamlineError
from seamline.results import Repaired

_log = logging.getLogger("seamline")

#: What a program may do with each repair that changed something.
OnRepair = Callable[[Repaired], object]

#: `pass`: the original goes on, with a warning in the log. `raise`: the exception reaches the caller.
OnFailure = Literal["pass", "raise"]

_Made = TypeVar("_Made")


def checked(on_failure: str) -> Any:
    """The treatment of failures, if there is one of this name."""
    if on_failure not in ("pass", "raise"):
        raise OptionError(f"on_failure cannot be `{on_failure}`", "use `pass` or `raise`")
    return on_failure


def described(error: BaseException) -> str:
    """An error without content: our own messages never hold any, those of others may."""
    return error.message if isinstance(error, SeamlineError) else type(error).__name__


def guarded(
    what: str,
    original: _Made,
    work: Callable[[], tuple[_Made, Repaired | None]],
    *,
    on_failure: OnFailure = "pass",
    on_repair: OnRepair | None = None,
) -> _Made:
    """The outcome of a repair, or the original where the repair fails. `on_repair` is the caller's: its errors are, too."""
    try:
        made, repaired = work()
    except Exception as error:
        if on_failure == "raise":
            raise
        _log.warning("%s goes on unrepaired, because the repair failed: %s", what, described(error))
        return original
    if repaired is not None and on_repair is not None:
        on_repair(repaired)
    return made


def attempted(work: Callable[[], _Made]) -> _Made | None:
    """The outcome of work that a repair can do without; `None` where it fails."""
    try:
        return work()
    except Exception as error:
        _log.debug("a question to the framework failed: %s", type(error).__name__)
        return None
