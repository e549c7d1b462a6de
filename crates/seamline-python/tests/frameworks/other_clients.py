"""Clients that send requests by `httpx`, `requests` and botocore themselves."""

from __future__ import annotations

from typing import Any

import seamline.botocore
import seamline.httpx
import seamline.requests
from openai_messages import TOOL, messages

FIX = "seamline.requests.install(session)"


def _body(steps: list[Any]) -> dict:
    return {"model": "gpt-5", "messages": messages(steps), "tools": [TOOL]}


def run_httpx(url: str, steps: list[Any], fixed: bool) -> None:
    """Sends the history with `httpx`."""
    import httpx

    client = httpx.Client(transport=seamline.httpx.Transport()) if fixed else httpx.Client()
    with client:
        client.post(f"{url}/v1/chat/completions", json=_body(steps)).raise_for_status()


def run_requests(url: str, steps: list[Any], fixed: bool) -> None:
    """Sends the history with `requests`."""
    import requests

    with requests.Session() as session:
        if fixed:
            seamline.requests.install(session)
        session.post(f"{url}/v1/chat/completions", json=_body(steps)).raise_for_status()


def run_bedrock(url: str, steps: list[Any], fixed: bool) -> None:
    """Sends the history with botocore, which signs it after the repair."""
    import botocore.session

    from converse import converse

    session = botocore.session.get_session()
    session.set_credentials("AKIDEXAMPLE", "secret")
    if fixed:
        seamline.botocore.install(session)
    client = session.create_client("bedrock-runtime", region_name="us-east-1", endpoint_url=url)
    spec = {"name": "read", "inputSchema": {"json": {"type": "object"}}}
    request = {"messages": converse(steps), "toolConfig": {"tools": [{"toolSpec": spec}]}}
    client.converse(modelId="anthropic.claude-sonnet-4-5-20250929-v1:0", **request)
