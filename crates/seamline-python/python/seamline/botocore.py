"""A hook for botocore and boto3 that repairs Bedrock requests before they are signed.

    seamline.botocore.install(session)
"""

from __future__ import annotations

from typing import Any

from seamline._failure import OnFailure, OnRepair
from seamline._wire import Repairer

_EVENT = "before-sign.bedrock-runtime"


def _events(target: Any) -> Any:
    """The events of a client, of a boto3 session, or of a botocore session."""
    if hasattr(target, "meta"):
        return target.meta.events
    return getattr(target, "events", None) or target.get_component("event_emitter")


def install(
    target: Any,
    *,
    policy: str | dict[str, Any] | None = None,
    on_repair: OnRepair | None = None,
    on_failure: OnFailure = "pass",
) -> Any:
    """Repairs the requests of a session or a client from now on, and returns it. Install it before clients are made."""
    repairer = Repairer(None, policy, on_repair, on_failure=on_failure)

    def repair(request: Any, **_: Any) -> None:
        body = request.data
        if isinstance(body, str):
            body = body.encode()
        if not isinstance(body, (bytes, bytearray)):
            return
        exchange = repairer.exchange(request.method, request.url, request.headers)
        before = bytes(body)
        new = before if exchange is None else exchange.outgoing(before)
        if new is not before:
            request.data = new
            if "Content-Length" in request.headers:
                request.headers.replace_header("Content-Length", str(len(new)))

    _events(target).register_first(_EVENT, repair, unique_id="seamline")
    return target
