"""LiteLLM: a callback of the proxy that repairs the three types of call.

    litellm_settings:
      callbacks: seamline.litellm.callback
"""

from __future__ import annotations

import json
import os
from typing import Any

import litellm
from litellm.integrations.custom_logger import CustomLogger

import seamline
from seamline import _carried, _failure, _options, _providers
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


#: Members of a request that say that the provider keeps the items before those of the request.
_KEPT_BY_PROVIDER = ("previous_response_id", "conversation")


def _route_of(model: Any) -> str | None:
    """LiteLLM's name of the provider of a model; `None` for an alias, which the proxy resolves later."""
    return litellm.get_llm_provider(model)[1] if isinstance(model, str) else None


def _demands_of(data: dict, route: str | None) -> str | None:
    """The provider whose demands apply; `None` where the name of the model tells them."""
    provider = _providers.by_name(route)
    if provider != "openai":
        return provider
    names = ("OPENAI_BASE_URL", "OPENAI_API_BASE")
    url = data.get("api_base") or data.get("base_url") or litellm.api_base
    url = url or next((os.environ[name] for name in names if os.environ.get(name)), None)
    # A server of another vendor is configured by the proxy, too, for names that are not those of OpenAI's models.
    return _providers.by_url(url) if url else None


def _bare_name(model: Any, route: str | None) -> str | None:
    """The name of a model without that of its provider."""
    return model.removeprefix(f"{route}/") if isinstance(model, str) else None


#: Providers that get chat messages as they are, and take arguments without reading them.
_UNREAD = ("openai", "azure")


def _for_route(messages: list[Any], provider: str | None) -> list[Any]:
    """Messages that LiteLLM can rewrite for a provider: it reads the arguments of calls, and fails where it cannot."""
    if provider in _UNREAD:
        return messages
    mended = [_with_objects(message) for message in messages]
    is_same = all(new is old for new, old in zip(mended, messages))
    return _carried.with_taken_ids(messages if is_same else mended, provider)


def _with_objects(message: Any) -> Any:
    calls = message.get("tool_calls") if isinstance(message, dict) else None
    if not isinstance(calls, list):
        return message
    new = [_with_object(call) for call in calls]
    return message if all(one is old for one, old in zip(new, calls)) else {**message, "tool_calls": new}


def _with_object(call: Any) -> Any:
    function = call.get("function") if isinstance(call, dict) else None
    text = function.get("arguments") if isinstance(function, dict) else None
    if not isinstance(text, str) or not text.strip():
        return call
    try:
        value = json.loads(text)
    except ValueError:
        value = None
        arguments = {"raw": text}
    else:
        arguments = {"value": value}
    if isinstance(value, dict):
        return call
    return {**call, "function": {**function, "arguments": json.dumps(arguments)}}


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
        is_chat = (member, dialect) == _CHAT
        model = data.get("model")
        route, provider, name = self._provider, self._provider, None
        if provider is None and is_chat:
            route = _failure.attempted(lambda: _route_of(model))
            provider = _failure.attempted(lambda: _demands_of(data, route))
            name = _bare_name(model, route) if provider is None else None

        def work() -> tuple[Any, Repaired | None]:
            options = {"dialect": dialect, "provider": provider, "model": name, "policy": self._policy}
            kept = {one: data[one] for one in _KEPT_BY_PROVIDER if data.get(one) and member == "input"}
            # Without these members each result whose call the provider keeps would lack its call.
            given = {member: history, **kept} if kept else history
            repaired = seamline.repair(given, kept=True, **options)
            messages = repaired.messages
            if is_chat:
                messages = _for_route(messages, route)
            if not repaired.changed and messages is repaired.messages:
                return history, None
            return messages, repaired if repaired.changed else None

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
