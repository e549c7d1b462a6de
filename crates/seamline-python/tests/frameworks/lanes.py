"""Every framework with its fix: how it sends a damaged history alone, and with the one line added."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import logging
import warnings
from dataclasses import dataclass

from damage import DAMAGES, wanted
from provider import Provider


@dataclass(frozen=True)
class Lane:
    """A framework."""

    name: str
    #: The module of its script.
    script: str
    #: The packages that it needs.
    needs: str
    function: str = "run"
    #: Damages that its client cannot write as JSON, so that no request comes to a transport.
    unwritable: tuple[str, ...] = ()


#: Clients that write UTF-8, which cannot hold half a character.
HALVES = ("half a character",)

LANES = [
    Lane("openai", "openai_sdk", "openai", unwritable=HALVES),
    Lane("openai async", "openai_sdk", "openai", "run_async", unwritable=HALVES),
    Lane("anthropic", "anthropic_sdk", "anthropic"),
    Lane("mistral", "mistral_sdk", "mistralai.client"),
    Lane("mistral async", "mistral_sdk", "mistralai.client", "run_async"),
    Lane("groq", "groq_sdk", "groq", unwritable=HALVES),
    Lane("google-genai", "genai_sdk", "google.genai httpx2"),
    Lane("google-genai async", "genai_sdk", "google.genai httpx2", "run_async"),
    Lane("httpx", "other_clients", "httpx", "run_httpx", unwritable=HALVES),
    Lane("requests", "other_clients", "requests", "run_requests"),
    Lane("botocore", "other_clients", "botocore", "run_bedrock"),
    Lane("langchain", "langchain_agent", "langchain langchain_openai"),
    Lane("langchain state", "langchain_agent", "langchain langchain_openai", "run_persistent"),
    Lane("langgraph", "langgraph_agent", "langgraph langchain langchain_openai"),
    Lane("deepagents", "deep_agent", "deepagents langchain_openai"),
    Lane("openai-agents", "agents_sdk", "agents"),
    Lane("openai-agents session", "agents_sdk", "agents", "run_session"),
    Lane("pydantic-ai", "pydantic_agent", "pydantic_ai openai"),
    Lane("litellm", "litellm_proxy", "litellm"),
    Lane("litellm messages", "litellm_proxy", "litellm", "run_messages"),
    Lane("litellm responses", "litellm_proxy", "litellm", "run_responses"),
    Lane("strands", "strands_agent", "strands openai"),
    Lane("google-adk", "adk_agent", "google.adk"),
]


@dataclass(frozen=True)
class Outcome:
    """The fate of one history."""

    #: The error, or nothing if the provider accepted every request.
    error: str | None
    #: Outputs of tools and images that did not reach the provider.
    lost: frozenset[str]

    def __str__(self) -> str:
        if self.error is not None:
            return "fails"
        return "loses a result" if self.lost else "ok"


def is_installed(lane: Lane) -> bool:
    """Whether the packages of a lane are there."""

    def found(name: str) -> bool:
        try:
            return importlib.util.find_spec(name) is not None
        except ModuleNotFoundError:
            return False

    return all(found(name) for name in lane.needs.split())


def outcome(lane: Lane, provider: Provider, damage: str, fixed: bool) -> Outcome:
    """Sends a damaged history through a framework."""
    provider.requests(first=0.05)
    run = getattr(importlib.import_module(lane.script), lane.function)
    error = None
    logging.disable(logging.CRITICAL)
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            run(provider.url, DAMAGES[damage], fixed)
        except Exception as caught:
            error = " ".join(f"{type(caught).__name__}: {caught}".split())[:300]
    logging.disable(logging.NOTSET)
    requests = provider.requests(first=2.0 if error is None else 0.3)
    rejected = [request for request in requests if request["status"] >= 400]
    if error is None and rejected:
        error = f"HTTP {rejected[0]['status']}: {rejected[0]['violations']}"
    sent = str([request["body"] for request in requests])
    # Some clients write base64 for URLs.
    sent = sent.replace("-", "+").replace("_", "/") + sent
    lost = frozenset(text for text in wanted(damage) if text not in sent)
    return Outcome(error, lost)
