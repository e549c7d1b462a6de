"""Strands Agents: a hook that repairs the messages of an agent before each request.

    agent = Agent(hooks=[SeamlineHook()])
"""

from __future__ import annotations

from typing import Any

from strands.hooks import BeforeModelCallEvent, HookProvider, HookRegistry

import seamline
from seamline._wire import OnRepair


class SeamlineHook(HookProvider):
    """Repairs the messages of an agent in place."""

    def __init__(
        self, *, policy: str | dict[str, Any] | None = None, on_repair: OnRepair | None = None
    ) -> None:
        self._policy = policy
        self._on_repair = on_repair

    def register_hooks(self, registry: HookRegistry, **_: Any) -> None:
        """Registers the hook of an agent."""
        registry.add_callback(BeforeModelCallEvent, self._repair)

    def _repair(self, event: BeforeModelCallEvent) -> None:
        messages = event.agent.messages
        repaired = seamline.repair(messages, dialect="bedrock_converse", policy=self._policy, kept=True)
        if repaired.changed:
            messages[:] = repaired.messages
            if self._on_repair is not None:
                self._on_repair(repaired)
