"""Histories of the anthropic package: python anthropic_sdk.py URL CASE."""

import subprocess
import sys

from anthropic import Anthropic

URL, CASE = sys.argv[1:]
SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
TOOLS = [{"name": "run_shell_command", "description": "Runs a command.", "input_schema": SCHEMA}]
CLIENT = Anthropic(base_url=f"{URL}/anthropic", api_key="dummy", max_retries=0)


def shell(command):
    return subprocess.run(command, shell=True, capture_output=True, text=True).stdout


def ask(messages):
    return CLIENT.messages.create(model="claude-sonnet-4-5", max_tokens=100, messages=messages, tools=TOOLS)


def turn():
    messages = [{"role": "user", "content": "run the probe"}]
    said = ask(messages)
    messages.append({"role": "assistant", "content": said.content})
    calls = [block for block in said.content if block.type == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": call.id, "content": shell(**call.input)} for call in calls]
    messages.append({"role": "user", "content": results})
    with CLIENT.messages.stream(
        model="claude-sonnet-4-5", max_tokens=100, messages=messages, tools=TOOLS
    ) as stream:
        return stream.get_final_text()


ASKED = {"role": "user", "content": "run the probe"}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "run_shell_command", "input": {"command": "true"}}
CALLED = {"role": "assistant", "content": [CALL]}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "probe-output-4711"}
SAID = {"role": "assistant", "content": "I ran it."}
GO_ON = {"role": "user", "content": "go on"}

CASES = {
    "turn": turn,
    "missing": lambda: ask([ASKED, CALLED, GO_ON]).content,
    "orphan": lambda: ask([ASKED, SAID, {"role": "user", "content": [RESULT]}, SAID, GO_ON]).content,
}
print(CASES[CASE]())
