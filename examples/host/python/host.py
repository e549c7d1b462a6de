"""A client of `seamline host` in Python, without dependencies.

    python3 host.py [COMMAND ...]

runs the host (`seamline host` by default), repairs a request, assembles a stream, and keeps a conversation.
"""

import json
import subprocess
import sys
import threading


class HostError(Exception):
    """An error of the host."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.code = error["code"]
        self.kind = (error.get("data") or {}).get("kind")


class Host:
    """Calls methods of a host. Several threads may call at the same time."""

    def __init__(self, command):
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._lock = threading.Lock()
        self._last_id = 0
        self._waiting = {}
        threading.Thread(target=self._read, daemon=True).start()
        self.about = self.call("initialize", versions=[1], client={"name": "example", "version": "1"})

    def call(self, method, **params):
        done = threading.Event()
        with self._lock:
            self._last_id += 1
            number = self._last_id
            self._waiting[number] = entry = [done, None]
            request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        done.wait()
        response = entry[1] or {"error": {"code": 0, "message": "the host has ended"}}
        if "error" in response:
            raise HostError(response["error"])
        return response["result"]

    def _read(self):
        for line in self._process.stdout:
            response = json.loads(line)
            with self._lock:
                entry = self._waiting.pop(response["id"], None)
            if entry:
                entry[1] = response
                entry[0].set()
        with self._lock:
            for entry in self._waiting.values():
                entry[0].set()

    def close(self):
        self._process.stdin.close()
        return self._process.wait()


BROKEN = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 64,
    "messages": [
        {"role": "user", "content": "read main.rs"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}]},
        {"role": "user", "content": "never mind"},
    ],
}

STREAM = (
    'data: {"choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"call_1",'
    '"function":{"name":"read","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n'
)


def main(command):
    host = Host(command)

    repaired = host.call("repair", body=BROKEN)
    print("repaired:", repaired["changed"], repaired["actions"][0]["code"])

    stream = host.call("stream/open")["handle"]
    for start in range(0, len(STREAM), 10):
        host.call("stream/feed", stream=stream, text=STREAM[start : start + 10])
    response = host.call("stream/finish", stream=stream)
    print("stream:", response["ending"], response["calls"][0]["name"])

    options = {"dialect": "openai_chat"}
    session = host.call("session/create", store="memory:", id="example", options=options)["handle"]
    host.call("session/append", session=session, messages=[{"role": "user", "content": "read main.rs"}])
    cycle = host.call("session/begin_cycle", session=session, stream=stream, effects={"read": "read_only"})
    for call in cycle["calls"]:
        names = {"session": session, "cycle": cycle["cycle"], "call": call["id"]}
        host.call("session/before_tool_call", **names)
        host.call("session/after_tool_call", **names, output="fn main() {}")
    request = host.call("session/before_agent_start", session=session, envelope={"model": "gpt-5"})
    print("session:", request["start"], [message["role"] for message in request["request"]["body"]["messages"]])

    try:
        host.call("check", text="no JSON")
    except HostError as error:
        print("error:", error.kind)
    host.call("close", handle=session)
    return host.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["seamline", "host"]))
