"""Local servers for the tests of transports: one that records requests, and an HTTP proxy in front of it."""

from __future__ import annotations

import json
import ssl
import subprocess
import threading
import urllib.request
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


@dataclass
class Answer:
    """A response of the server."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/json"})


class Server:
    """A server that records the requests and sends the responses in order; the last one stays."""

    def __init__(self, *answers: Answer, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[dict[str, Any]] = []
        self._answers = list(answers) or [Answer()]
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                server.requests.append({"path": self.path, "headers": dict(self.headers), "body": body})
                server.respond(self, body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        scheme = "http" if tls is None else "https"
        self.url = f"{scheme}://localhost:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def respond(self, handler: BaseHTTPRequestHandler, _: bytes) -> None:
        """Writes the next answer."""
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        handler.send_response(answer.status)
        for name, value in {**answer.headers, "content-length": str(len(answer.body))}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(answer.body)

    @property
    def bodies(self) -> list[Any]:
        """The bodies that came."""
        return [json.loads(request["body"]) for request in self.requests]

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class Proxy(Server):
    """An HTTP proxy that sends every request to one server, whatever host it names."""

    def __init__(self, target: Server) -> None:
        super().__init__()
        self._target = target

    def respond(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        """Passes the request on. Its line has the whole URL, as a proxy gets it."""
        assert handler.path.startswith("http://"), handler.path
        path = "/" + handler.path.split("/", 3)[3]
        request = urllib.request.Request(self._target.url + path, data=body, method="POST")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request) as answer:
            Server.respond(self, handler, answer.read())


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate of `localhost` that signs itself, and its key."""
    crt, key = folder / "localhost.crt", folder / "localhost.key"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", crt]
    subprocess.run(command, check=True, capture_output=True)
    return crt, key
