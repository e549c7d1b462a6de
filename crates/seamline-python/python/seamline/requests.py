"""An adapter for `requests` that repairs requests to language models on their way.

    seamline.requests.install(session)
"""

from __future__ import annotations

from typing import Any

from requests.adapters import HTTPAdapter

from seamline._wire import OnRepair, Repairer


class Adapter(HTTPAdapter):
    """Repairs the bodies of requests before they are sent."""

    def __init__(
        self,
        *args: Any,
        provider: str | None = None,
        policy: str | dict[str, Any] | None = None,
        on_repair: OnRepair | None = None,
        **named: Any,
    ) -> None:
        self._repairer = Repairer(provider, policy, on_repair)
        super().__init__(*args, **named)

    def send(self, request: Any, *args: Any, **named: Any) -> Any:
        """Repairs a request and sends it."""
        if isinstance(request.body, (bytes, str)) and "Content-Encoding" not in request.headers:
            body = request.body.encode() if isinstance(request.body, str) else request.body
            new = self._repairer.repaired(request.method, request.url, body)
            if new is not None:
                request = request.copy()
                request.body = new
                request.headers["Content-Length"] = str(len(new))
        return super().send(request, *args, **named)


def install(session: Any, **options: Any) -> Any:
    """Mounts the adapter for all URLs of a session and returns the session."""
    adapter = Adapter(**options)
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    return session
