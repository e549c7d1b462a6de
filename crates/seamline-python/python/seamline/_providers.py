"""The providers behind the models of frameworks."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Any

from seamline import _native

#: Our name of a provider, by the names that frameworks use. Those that do not speak Chat Completions get the demands
#: that all servers share: their own rules for ids apply where the framework writes the request.
_NAMES = {
    "openai": "openai",
    "openai-chat": "openai",
    "openai-responses": "openai",
    "azure": "azure",
    "azure-openai": "azure",
    "azure_openai": "azure",
    "gemini": "gemini-chat",
    "mistral": "mistral",
    "mistralai": "mistral",
    "mistral_ai": "mistral",
    "cerebras": "cerebras",
    "cohere": "cohere",
    "deepseek": "deepseek",
    "fireworks": "fireworks",
    "fireworks_ai": "fireworks",
    "groq": "groq",
    "moonshot": "moonshot",
    "moonshotai": "moonshot",
    "ollama": "ollama",
    "openrouter": "openrouter",
    "together": "together",
    "together_ai": "together",
    "xai": "xai",
    "zai": "zai",
}

#: Providers that refuse other characters in an id than letters, digits, `_` and `-`, by a part of their names, and the
#: longest id that each takes.
_PATTERNED = {"anthropic": None, "claude": None, "bedrock": 64}

#: The demands that all servers of Chat Completions share.
SHARED = "openai-compatible"


def by_name(name: Any) -> str | None:
    """The provider of a framework's name for it; `None` where the framework names none."""
    if not isinstance(name, str) or not name:
        return None
    known = name.lower().replace(" ", "_")
    patterned = next((part for part in _PATTERNED if part in known), None)
    if patterned is not None:
        return "bedrock" if patterned == "bedrock" else "anthropic"
    return _NAMES.get(known, SHARED)


def has_id_pattern(name: str | None) -> bool:
    """Whether a provider refuses ids with other characters, and an id that two calls have."""
    return name is not None and any(part in name.lower() for part in _PATTERNED)


def taken_id(id: str, name: str, taken: Container[str]) -> str:
    """The form of an id that a provider takes, other than those that are taken."""
    most = next((most for part, most in _PATTERNED.items() if part in name.lower()), None)
    base = re.sub(r"[^A-Za-z0-9_-]", "_", id)[:most]
    new, count = base, 2
    while new in taken:
        new = f"{base[: most - 6] if most else base}_{count}"
        count += 1
    return new


def by_url(url: Any) -> str:
    """The provider of a server of Chat Completions; the shared demands for a host that several providers may have."""
    found = _native.endpoint("POST", f"{str(url).rstrip('/')}/chat/completions")[2]
    return {None: SHARED, "gemini": "gemini-chat"}.get(found, found)


def speaks_responses(provider: str | None) -> bool:
    """Whether a provider takes the items of Responses. Its limits for ids are others than those of Chat Completions."""
    return provider is not None and (provider == "codex" or "responses" in provider)


def of_langchain(model: Any) -> str | None:
    """The provider of a chat model of LangChain."""
    describe = getattr(model, "_get_ls_params", None)
    provider = by_name(describe().get("ls_provider")) if callable(describe) else None
    if provider not in ("openai", "azure"):
        return provider
    uses_responses = getattr(model, "_use_responses_api", None)
    # Some models take Responses only for requests with tools.
    if callable(uses_responses) and uses_responses({"tools": [{"type": "function"}]}):
        return SHARED
    return _by_server(provider, getattr(model, "root_client", None))


def of_pydantic_ai(model: Any) -> str | None:
    """The provider of a model of pydantic-ai."""
    while getattr(model, "wrapped", None) is not None:
        model = model.wrapped
    provider = by_name(getattr(model, "system", None))
    if provider not in ("openai", "azure"):
        return provider
    if any(kind.__name__ == "OpenAIResponsesModel" for kind in type(model).__mro__):
        return SHARED
    return _by_server(provider, model)


def _by_server(provider: str, client: Any) -> str:
    """The provider of a client of the OpenAI SDK, which speaks to any server."""
    url = getattr(client, "base_url", None)
    return provider if provider != "openai" or url is None else by_url(url)
