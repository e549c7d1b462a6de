"""The providers behind the models of frameworks."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Any

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


def of_langchain(model: Any) -> str | None:
    """The provider of a chat model of LangChain."""
    describe = getattr(model, "_get_ls_params", None)
    return by_name(describe().get("ls_provider")) if callable(describe) else None


def of_pydantic_ai(model: Any) -> str | None:
    """The provider of a model of pydantic-ai."""
    return by_name(getattr(model, "system", None))
