"""LiteLLM: a callback of the proxy that repairs the three types of call.

    litellm_settings:
      callbacks: seamline.litellm.callback
"""

from __future__ import annotations

from typing import Any

import litellm
from litellm.integrations.custom_logger import CustomLogger

import seamline
from seamline import _failure, _options, _providers
from seamline._failure import OnFailure, OnRepair
from seamline.results import Repaired

_CHAT = ("messages", "openai_chat")
_RESPONSES = ("input", "openai_responses")
#: The member that holds the history, and its dialect, by type of call.
_HISTORIES = {
    "completion": _CHAT,
    "acompletion": _CHAT,
    "anthropic_messages": ("messages", "anthropic_messages"),
    "responses": _RESPONSES,
    "aresponses": _RESPONSES,
}


def _provider_of(model: Any) -> str | None:
    """The provider of a model's name; `None` for an alias, which the proxy resolves later."""
    return _providers.by_name(litellm.get_llm_provider(model)[1]) if isinstance(model, str) else None


class SeamlineCallback(CustomLogger):
    """Repairs the history of each call before LiteLLM reads it."""

    def __init__(
        self,
        *,
        provider: str | None = None,
        policy: str | dict[str, Any] | None = None,
        on_repair: OnRepair | None = None,
        on_failure: OnFailure = "pass",
    ) -> None:
        """Without `provider` the name of the model tells whose demands apply."""
        super().__init__()
        _options.require(provider, policy)
        self._provider = provider
        self._policy = policy
        self._on_repair = on_repair
        self._on_failure = _failure.checked(on_failure)

    async def async_pre_call_hook(self, user_api_key_dict: Any, cache: Any, data: dict, call_type: str) -> dict:
        """Repairs the data of a call."""
        return self.repaired(data, call_type)

    def repaired(self, data: dict, call_type: str) -> dict:
        """The data of a call with its history repaired."""
        member, dialect = _HISTORIES.get(call_type, (None, None))
        history = data.get(member) if member else None
        if not isinstance(history, list) or not history:
            return data
        provider = self._provider
        if provider is None and (member, dialect) == _CHAT:
            provider = _failure.attempted(lambda: _provider_of(data.get("model")))

        def work() -> tuple[Any, Repaired | None]:
            repaired = seamline.repair(history, dialect=dialect, provider=provider, policy=self._policy, kept=True)
            return (repaired.messages, repaired) if repaired.changed else (history, None)

        new = _failure.guarded(
            f"a LiteLLM call of type {call_type}",
            history,
            work,
            on_failure=self._on_failure,
            on_repair=self._on_repair,
        )
        return data if new is history else {**data, member: new}


#: The callback with the default policy, for the configuration file of the proxy.
callback = SeamlineCallback()
