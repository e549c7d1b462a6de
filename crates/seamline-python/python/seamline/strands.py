"""Strands Agents: a hook that repairs the messages of an agent before each request.

    agent = Agent(hooks=[SeamlineHook()])
"""

from __future__ import annotations

import base64
from typing import Any

from strands.hooks import BeforeModelCallEvent, HookProvider, HookRegistry

import seamline
from seamline import _failure, _options
from seamline._failure import OnFailure, OnRepair
from seamline.results import Repaired

_DIALECT = "bedrock_converse"


def _bedrock_model(model: Any) -> str | None:
    """The id of a model on Bedrock, by which its demands are known. Other models get the demands of Converse."""
    if not type(model).__module__.startswith("strands.models.bedrock"):
        return None
    id = model.get_config().get("model_id")
    return id if isinstance(id, str) else None


def _carry(value: Any) -> Any:
    """A value whose bytes are base64, as JSON has them; the same object where it has none."""
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        members = {name: _carry(one) for name, one in value.items()}
        return members if any(members[name] is not one for name, one in value.items()) else value
    if isinstance(value, list):
        items = [_carry(one) for one in value]
        return items if any(new is not old for new, old in zip(items, value)) else value
    return value


def _restored(value: Any) -> Any:
    """A value of a repaired message with its bytes. Converse has bytes only in members of this name."""
    if isinstance(value, dict):
        return {
            name: base64.b64decode(one) if name == "bytes" and isinstance(one, str) else _restored(one)
            for name, one in value.items()
        }
    return [_restored(one) for one in value] if isinstance(value, list) else value


class SeamlineHook(HookProvider):
    """Repairs the messages of an agent in place."""

    def __init__(
        self,
        *,
        provider: str | None = None,
        policy: str | dict[str, Any] | None = None,
        on_repair: OnRepair | None = None,
        on_failure: OnFailure = "pass",
    ) -> None:
        """Without `provider` the agent's model tells whose demands apply."""
        _options.require(provider, policy)
        self._provider = provider
        self._policy = policy
        self._on_repair = on_repair
        self._on_failure = _failure.checked(on_failure)

    def register_hooks(self, registry: HookRegistry, **_: Any) -> None:
        """Registers the hook of an agent."""
        registry.add_callback(BeforeModelCallEvent, self._repair)

    def _repair(self, event: BeforeModelCallEvent) -> None:
        messages = event.agent.messages
        model = _failure.attempted(lambda: _bedrock_model(event.agent.model))

        def work() -> tuple[Any, Repaired | None]:
            options = {"provider": self._provider, "model": model, "policy": self._policy}
            carried = [_carry(message) for message in messages]
            repaired = seamline.repair(carried, dialect=_DIALECT, kept=True, **options)
            if not repaired.changed:
                return messages, None
            known = {id(message): index for index, message in enumerate(carried)}
            return [
                messages[known[id(message)]] if id(message) in known else _restored(message)
                for message in repaired.messages
            ], repaired

        new = _failure.guarded(
            "a history of Strands", messages, work, on_failure=self._on_failure, on_repair=self._on_repair
        )
        if new is not messages:
            messages[:] = new
