"""Requests on their way to a provider: which ones are conversations, and their repaired bodies."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from seamline import _native, _options
from seamline.errors import SeamlineError
from seamline.results import Repaired

_log = logging.getLogger("seamline")

#: What a program may do with each repair that changed a request.
OnRepair = Callable[[Repaired], object]


@dataclass(frozen=True)
class Repairer:
    """Repairs the bodies of requests by their URL."""

    provider: str | None = None
    policy: str | dict[str, Any] | None = None
    on_repair: OnRepair | None = None

    def repaired(self, method: str, url: str, body: Any) -> Any | None:
        """The new body in the form of the given one; `None` where the given one goes out as it is.

        A body that Seamline cannot read goes out as it is: the provider judges it.
        """
        dialect, model, provider = _native.endpoint(method.upper(), url)
        if dialect is None or not body:
            return None
        choices = _options.choices(dialect, self.provider or provider, model, self.policy, False)
        try:
            new, raw = _native.repair(body, choices)
        except SeamlineError as error:
            _log.warning("a request to %s goes out unchecked: %s", dialect, error.message)
            return None
        if new is None:
            return None
        repaired = Repaired(body, new, raw)
        _log.info("repaired a request: %d actions, %d findings remain", len(repaired.actions), len(repaired.remaining))
        if self.on_repair is not None:
            self.on_repair(repaired)
        return new
