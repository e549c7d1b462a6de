"""Transports: the settings of a client hold, and every way that a request can take is repaired."""

from __future__ import annotations

import asyncio
import gzip
import importlib
import json
import logging
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from requests.adapters import HTTPAdapter
from servers import Answer, Proxy, Server, certificate

import seamline
import seamline.botocore
import seamline.httpx
import seamline.requests
from seamline import _wire

OPEN = {
    "model": "gpt-5",
    "messages": [
        {"role": "user", "content": "read it"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{}"}}],
        },
        {"role": "user", "content": "go on"},
    ],
}
#: A body that the default repair leaves alone, because only the provider knows the member.
ODD = {"model": "gpt-5", "messages": [{"role": "user", "content": "hi", "mood": "good"}]}
REJECTED = json.dumps({"error": {"message": "Unknown parameter: 'messages[0].mood'.", "type": "invalid_request_error"}})
STREAM = b'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
EVENTS = {"content-type": "text/event-stream"}

Post = Callable[..., tuple[int, bytes]]


def post_sync(library: str, url: str, body: Any, headers: dict | None = None, **options: Any) -> tuple[int, bytes]:
    """Sends a body with a client of `httpx`."""
    with seamline.httpx.client(library=library, **options) as client:
        response = client.post(f"{url}/v1/chat/completions", json=body, headers=headers)
        return response.status_code, response.content


def post_async(library: str, url: str, body: Any, headers: dict | None = None, **options: Any) -> tuple[int, bytes]:
    """Sends a body with an asynchronous client of `httpx`."""

    async def main() -> tuple[int, bytes]:
        async with seamline.httpx.async_client(library=library, **options) as client:
            response = await client.post(f"{url}/v1/chat/completions", json=body, headers=headers)
            return response.status_code, response.content

    return asyncio.run(main())


def post_requests(_: str, url: str, body: Any, headers: dict | None = None, **options: Any) -> tuple[int, bytes]:
    """Sends a body with `requests`."""
    with requests.Session() as session:
        seamline.requests.install(session, **options)
        response = session.post(f"{url}/v1/chat/completions", json=body, headers=headers)
        return response.status_code, response.content


HTTPX = [("httpx", post_sync), ("httpx", post_async), ("httpx2", post_sync), ("httpx2", post_async)]
CLIENTS = [*HTTPX, ("requests", post_requests)]


def named(value: Any) -> str:
    return value if isinstance(value, str) else value.__name__.removeprefix("post_")


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as started:
        yield started


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return certificate(tmp_path_factory.mktemp("tls"))


def is_repaired(body: Any) -> bool:
    return any(message["role"] == "tool" for message in body["messages"])


@pytest.mark.parametrize(("library", "post"), HTTPX, ids=named)
def test_a_request_through_a_proxy_is_repaired(library: str, post: Post, server: Server) -> None:
    with Proxy(server) as proxy:
        assert post(library, "http://provider.test", OPEN, proxy=proxy.url)[0] == 200
        assert len(proxy.requests) == 1
    assert [is_repaired(body) for body in server.bodies] == [True]


@pytest.mark.parametrize(("library", "post"), HTTPX, ids=named)
def test_a_proxy_of_the_environment_is_used(
    library: str, post: Post, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Proxy(server) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("NO_PROXY", "localhost")
        assert post(library, "http://provider.test", OPEN)[0] == 200
        assert post(library, server.url, OPEN)[0] == 200
        assert len(proxy.requests) == 1
    assert [is_repaired(body) for body in server.bodies] == [True, True]


@pytest.mark.parametrize(("library", "post"), HTTPX, ids=named)
def test_the_certificates_that_a_client_trusts_hold(library: str, post: Post, tls: tuple[Path, Path]) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*tls)
    with Server(tls=context) as server:
        with pytest.raises(importlib.import_module(library).ConnectError):
            post(library, server.url, OPEN)
        assert post(library, server.url, OPEN, verify=ssl.create_default_context(cafile=tls[0]))[0] == 200
        assert post(library, server.url, OPEN, verify=False)[0] == 200
        assert [is_repaired(body) for body in server.bodies] == [True, True]


@pytest.mark.parametrize("library", ["httpx", "httpx2"])
def test_limits_and_mounts_of_the_caller_are_kept(library: str, server: Server) -> None:
    module = importlib.import_module(library)
    sent: list[str] = []

    class Counting(module.HTTPTransport):  # type: ignore[name-defined]
        def handle_request(self, request: Any) -> Any:
            sent.append(request.url.path)
            return super().handle_request(request)

    options = {"limits": module.Limits(max_connections=3), "mounts": {"http://": Counting()}}
    with seamline.httpx.client(library=library, **options) as client:
        assert client._transport._inner._pool._max_connections == 3
        client.post(f"{server.url}/v1/chat/completions", json=OPEN)
        assert seamline.httpx.install(client) is client
        client.post(f"{server.url}/v1/chat/completions", json=OPEN)
    assert len(sent) == 2
    assert [is_repaired(body) for body in server.bodies] == [True, True]
    with pytest.raises(seamline.SeamlineError, match="no transports"):
        seamline.httpx.install(object())


@pytest.mark.parametrize(("library", "post"), HTTPX, ids=named)
def test_a_redirect_is_followed(library: str, post: Post) -> None:
    moved = Answer(307, b"", {"location": "/elsewhere/v1/chat/completions"})
    with Server(moved, Answer()) as server:
        assert post(library, server.url, OPEN) == (200, b"{}")
        assert [request["path"] for request in server.requests] == ["/v1/chat/completions", "/elsewhere/v1/chat/completions"]
        assert [len(body["messages"]) for body in server.bodies] == [4, 4]
    with Server(moved, Answer()) as server:
        assert post(library, server.url, OPEN, follow_redirects=False)[0] == 307


@pytest.mark.parametrize("library", ["httpx", "httpx2"])
def test_a_client_is_as_wide_as_those_of_the_sdks(library: str) -> None:
    with seamline.httpx.client(library=library) as client:
        pool = client._transport._inner._pool
        assert (client.follow_redirects, pool._max_connections, pool._max_keepalive_connections) == (True, 1000, 100)


@pytest.mark.parametrize("sdk", ["openai", "anthropic"])
def test_the_client_of_an_sdk_stays_as_the_sdk_makes_it(sdk: str) -> None:
    module = pytest.importorskip(sdk)
    names = {"openai": "OpenAI", "anthropic": "Anthropic"}

    def described(**options: Any) -> tuple:
        made = getattr(module, names[sdk])(api_key="x", **options)
        inner = made._client._transport
        pool = getattr(inner, "_inner", inner)._pool
        limits = (pool._max_connections, pool._max_keepalive_connections, pool._keepalive_expiry)
        return made.timeout, made._client.follow_redirects, limits, pool._socket_options

    assert described(http_client=seamline.httpx.install(module.DefaultHttpxClient())) == described()


def test_the_openai_sdk_follows_a_redirect() -> None:
    openai = pytest.importorskip("openai")
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}
    body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    moved = Answer(307, b"", {"location": "/v1/chat/completions"})
    clients = (seamline.httpx.client(), seamline.httpx.install(openai.DefaultHttpxClient()))
    for http_client in clients:
        with Server(moved, Answer(body=json.dumps(body).encode())) as server:
            client = openai.OpenAI(base_url=f"{server.url}/old", api_key="x", max_retries=0, http_client=http_client)
            made = client.chat.completions.create(**OPEN)
            assert made.choices[0].message.content == "hi"
            assert [len(body["messages"]) for body in server.bodies] == [4, 4]


@pytest.mark.parametrize(("library", "post"), CLIENTS, ids=named)
@pytest.mark.parametrize("where", ["header", "query"])
def test_a_signed_request_is_sent_as_it_is(
    library: str, post: Post, where: str, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    _wire._warn_of_signature.cache_clear()
    signature = "AWS4-HMAC-SHA256 Credential=AKID/x/us-east-1/bedrock/aws4_request, Signature=00"
    for _ in range(2):
        if where == "header":
            post(library, server.url, OPEN, {"Authorization": signature})
        else:
            post(library, f"{server.url}/?X-Amz-Signature=00&x=", OPEN)
    assert [is_repaired(body) for body in server.bodies] == [False, False]
    if where == "header":
        warned = [record for record in caplog.records if record.levelno == logging.WARNING]
        assert len(warned) == 1
        assert "seamline.botocore.install" in warned[0].getMessage()


@pytest.mark.parametrize(("library", "post"), CLIENTS, ids=named)
@pytest.mark.parametrize("is_compressed", [False, True], ids=["plain", "gzip"])
def test_a_rejected_request_is_repaired_harder_and_sent_once_more(
    library: str, post: Post, is_compressed: bool
) -> None:
    text = gzip.compress(REJECTED.encode()) if is_compressed else REJECTED.encode()
    headers = {"content-type": "application/json", **({"content-encoding": "gzip"} if is_compressed else {})}
    repairs: list[seamline.Repaired] = []
    with Server(Answer(400, text, headers), Answer(200, b'{"ok":1}')) as server:
        assert post(library, server.url, ODD, on_repair=repairs.append) == (200, b'{"ok":1}')
        first, second = server.bodies
    assert first == ODD
    assert second["messages"] == [{"role": "user", "content": "hi"}]
    assert len(repairs) == 1


@pytest.mark.parametrize(("library", "post"), CLIENTS, ids=named)
def test_an_error_that_a_second_try_does_not_mend_is_the_first_one(library: str, post: Post) -> None:
    with Server(Answer(400, REJECTED.encode()), Answer(422, b"another")) as server:
        assert post(library, server.url, ODD) == (400, REJECTED.encode())
        assert len(server.requests) == 2
    quota = b'{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}'
    with Server(Answer(400, quota), Answer(200)) as server:
        assert post(library, server.url, ODD) == (400, quota)
        assert len(server.requests) == 1


@pytest.mark.parametrize(("library", "post"), CLIENTS, ids=named)
def test_a_long_error_reaches_the_caller_whole(library: str, post: Post) -> None:
    body = b"x" * (_wire.ERROR_BYTES_MAX * 2 + 7)
    with Server(Answer(400, body)) as server:
        assert post(library, server.url, ODD) == (400, body)


@pytest.mark.parametrize(("library", "post"), CLIENTS, ids=named)
def test_a_report_sends_the_request_as_it_is(library: str, post: Post) -> None:
    repairs: list[seamline.Repaired] = []
    with Server(Answer(400, REJECTED.encode())) as server:
        assert post(library, server.url, OPEN, mode="report", on_repair=repairs.append)[0] == 400
        assert server.bodies == [OPEN]
    assert [repaired.actions[0].code for repaired in repairs] == ["PAIR001"]
    with pytest.raises(seamline.OptionError, match="mode"):
        post(library, "http://localhost", OPEN, mode="replace")
    with pytest.raises(seamline.OptionError):
        post(library, "http://localhost", OPEN, policy="losless")
    with pytest.raises(seamline.OptionError):
        post(library, "http://localhost", OPEN, provider="antropic")


@pytest.mark.parametrize(("library", "post"), CLIENTS, ids=named)
def test_a_streamed_response_is_assembled_while_it_passes(library: str, post: Post) -> None:
    responses: list[seamline.Response] = []
    with Server(Answer(200, STREAM, EVENTS)) as server:
        assert post(library, server.url, ODD, on_response=responses.append) == (200, STREAM)
    assert [(one.ending, one.messages[0]["content"]) for one in responses] == [("complete", "Hi")]


def test_a_stream_that_the_caller_leaves_is_assembled_as_far_as_it_came(server: Server) -> None:
    responses: list[seamline.Response] = []
    with Server(Answer(200, STREAM, EVENTS)) as server, seamline.httpx.client(on_response=responses.append) as client:
        with client.stream("POST", f"{server.url}/v1/chat/completions", json=ODD):
            pass
    assert len(responses) == 1


def test_other_requests_are_not_read(server: Server) -> None:
    pieces = iter([b"a", b"b"])
    with seamline.httpx.client() as client:
        request = client.build_request("POST", f"{server.url}/v1/files", content=pieces, headers={"content-length": "2"})
        client._transport._exchange(request)
        assert not hasattr(request, "_content")
        client.send(request)
    assert server.requests[0]["body"] == b"ab"


@pytest.mark.parametrize(("library", "post"), CLIENTS, ids=named)
def test_the_messages_of_another_service_are_not_defects(
    library: str, post: Post, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    note = {"channel": "C1", "text": "hello"}
    assert post(library, f"{server.url}/api/messages?x=", note)[0] == 200
    assert post(library, server.url, note)[0] == 200
    assert server.bodies == [note, note]
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
    post(library, server.url, note, provider="openai")
    assert [record.levelno for record in caplog.records if record.name == "seamline"] == [logging.WARNING]
    assert "hello" not in caplog.text
    with pytest.raises(seamline.BodyError):
        post(library, server.url, note, provider="openai", on_failure="raise")


def test_the_adapters_of_a_session_stay(server: Server) -> None:
    class Pinned(HTTPAdapter):
        calls = 0

        def send(self, *args: Any, **named: Any) -> Any:
            Pinned.calls += 1
            return super().send(*args, **named)

    with requests.Session() as session:
        session.mount("http://", Pinned(max_retries=4))
        session.mount("http://special", Pinned(max_retries=7))
        seamline.requests.install(session)
        seamline.requests.install(session)
        session.post(f"{server.url}/v1/chat/completions", json=OPEN)
        assert session.get_adapter("http://special/").max_retries.total == 7
        assert session.get_adapter("http://x/").max_retries.total == 4
        assert session.get_adapter("http://x/").inner.max_retries.total == 4
    assert Pinned.calls == 1
    assert is_repaired(server.bodies[0])
