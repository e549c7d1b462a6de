"""The providers behind the models of frameworks."""

from __future__ import annotations

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

#: The demands that all servers of Chat Completions share.
SHARED = "openai-compatible"


def by_name(name: Any) -> str | None:
    """The provider of a framework's name for it; `None` where the framework names none."""
    return _NAMES.get(name.lower().replace(" ", "_"), SHARED) if isinstance(name, str) and name else None


def of_langchain(model: Any) -> str | None:
    """The provider of a chat model of LangChain."""
    describe = getattr(model, "_get_ls_params", None)
    return by_name(describe().get("ls_provider")) if callable(describe) else None


def of_pydantic_ai(model: Any) -> str | None:
    """The provider of a model of pydantic-ai."""
    return by_name(getattr(model, "system", None))
