"""LiteLLM: a callback of the proxy that repairs the three types of call.

    litellm_settings:
      callbacks: seamline.litellm.callback
"""

from __future__ import annotations

from typing import Any

from litellm.integrations.custom_logger import CustomLogger

import seamline
from seamline._wire import OnRepair
from seamline.errors import SeamlineError

#: The member that holds the history, and its dialect, by type of call.
_HISTORIES = {
    "completion": ("messages", "openai_chat"),
    "acompletion": ("messages", "openai_chat"),
    "anthropic_messages": ("messages", "anthropic_messages"),
    "responses": ("input", "openai_responses"),
    "aresponses": ("input", "openai_responses"),
}


class SeamlineCallback(CustomLogger):
    """Repairs the history of each call before LiteLLM reads it."""

    def __init__(
        self, *, policy: str | dict[str, Any] | None = None, on_repair: OnRepair | None = None
    ) -> None:
        super().__init__()
        self._policy = policy
        self._on_repair = on_repair

    async def async_pre_call_hook(self, user_api_key_dict: Any, cache: Any, data: dict, call_type: str) -> dict:
        """Repairs the data of a call."""
        return self.repaired(data, call_type)

    def repaired(self, data: dict, call_type: str) -> dict:
        """The data of a call with its history repaired."""
        member, dialect = _HISTORIES.get(call_type, (None, None))
        history = data.get(member) if member else None
        if not isinstance(history, list) or not history:
            return data
        try:
            repaired = seamline.repair(history, dialect=dialect, policy=self._policy, kept=True)
        except SeamlineError:
            return data
        if not repaired.changed:
            return data
        if self._on_repair is not None:
            self._on_repair(repaired)
        return {**data, member: repaired.messages}


#: The callback with the default policy, for the configuration file of the proxy.
callback = SeamlineCallback()
