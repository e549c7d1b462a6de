"""Histories of the openai package: python openai_sdk.py URL CASE."""

import json
import subprocess
import sys

from openai import OpenAI

URL, CASE = sys.argv[1:]
SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
CLIENT = OpenAI(base_url=f"{URL}/openai/v1", api_key="dummy", max_retries=0)


def shell(arguments):
    return subprocess.run(json.loads(arguments)["command"], shell=True, capture_output=True, text=True).stdout


def chat_turn():
    tools = [{"type": "function", "function": {"name": "run_shell_command", "parameters": SCHEMA}}]
    messages = [{"role": "user", "content": "run the probe"}]
    said = CLIENT.chat.completions.create(model="gpt-5", messages=messages, tools=tools).choices[0].message
    messages.append(said)
    for call in said.tool_calls:
        messages.append({"role": "tool", "tool_call_id": call.id, "content": shell(call.function.arguments)})
    stream = CLIENT.chat.completions.create(model="gpt-5", messages=messages, tools=tools, stream=True)
    return "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)


def responses_turn():
    tools = [{"type": "function", "name": "run_shell_command", "parameters": SCHEMA, "strict": False}]
    items = [{"role": "user", "content": "run the probe"}]
    said = CLIENT.responses.create(model="gpt-5", input=items, tools=tools, store=False)
    items += [item.to_dict() for item in said.output]
    for call in [item for item in said.output if item.type == "function_call"]:
        items.append({"type": "function_call_output", "call_id": call.call_id, "output": shell(call.arguments)})
    with CLIENT.responses.stream(model="gpt-5", input=items, tools=tools, store=False) as stream:
        return stream.get_final_response().output_text


def chat(messages):
    return CLIENT.chat.completions.create(model="gpt-5", messages=messages).choices[0].message.content


ASKED = {"role": "user", "content": "run the probe"}
CALLED = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "run_shell_command", "arguments": "{}"}}],
}
ANSWERED = {"role": "tool", "tool_call_id": "call_1", "content": "probe-output-4711"}
GO_ON = {"role": "user", "content": "go on"}

CASES = {
    "turn": chat_turn,
    "responses": responses_turn,
    "missing": lambda: chat([ASKED, CALLED, GO_ON]),
    "orphan": lambda: chat([ASKED, ANSWERED, GO_ON]),
}
print(CASES[CASE]())
