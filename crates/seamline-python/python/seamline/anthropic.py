"""A middleware for the Anthropic SDK.

    client = Anthropic(middleware=[SeamlineMiddleware()])
"""

from __future__ import annotations

from typing import Any

from anthropic import Middleware

from seamline._failure import OnFailure, OnRepair
from seamline._wire import Repairer


class SeamlineMiddleware(Middleware):
    """Repairs each request before it is sent."""

    def __init__(
        self,
        *,
        policy: str | dict[str, Any] | None = None,
        on_repair: OnRepair | None = None,
        on_failure: OnFailure = "pass",
    ) -> None:
        self._repairer = Repairer("anthropic", policy, on_repair, on_failure=on_failure)

    def handle(self, request: Any, call_next: Any) -> Any:
        """Repairs a request of the synchronous client."""
        return call_next(self._repaired(request))

    async def handle_async(self, request: Any, call_next: Any) -> Any:
        """Repairs a request of the asynchronous client."""
        return await call_next(self._repaired(request))

    def _repaired(self, request: Any) -> Any:
        path = request.url.partition("?")[0]
        exchange = self._repairer.exchange(request.method, f"https://api.anthropic.com{path}", {})
        new = request.json if exchange is None else exchange.outgoing(request.json)
        return request if new is request.json else request.copy(body=new)
