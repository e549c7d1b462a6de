"""Histories of the google-genai package: python genai_sdk.py URL CASE."""

import subprocess
import sys

from google import genai
from google.genai import types

URL, CASE = sys.argv[1:]
CLIENT = genai.Client(api_key="dummy", http_options=types.HttpOptions(base_url=f"{URL}/gemini"))


def run_shell_command(command: str) -> str:
    """Runs a command."""
    return subprocess.run(command, shell=True, capture_output=True, text=True).stdout


CONFIG = types.GenerateContentConfig(tools=[run_shell_command])


def automatic():
    # The package calls the function by itself.
    chat = CLIENT.chats.create(model="gemini-2.5-pro", config=CONFIG)
    return chat.send_message("run the probe").text


def turn():
    by_hand = types.AutomaticFunctionCallingConfig(disable=True)
    config = types.GenerateContentConfig(tools=[run_shell_command], automatic_function_calling=by_hand)
    chat = CLIENT.chats.create(model="gemini-2.5-pro", config=config)
    call = chat.send_message("run the probe").function_calls[0]
    response = {"output": run_shell_command(**call.args)}
    result = types.FunctionResponse(id=call.id, name=call.name, response=response)
    return "".join(part.text or "" for part in chat.send_message_stream(types.Part(function_response=result)))


def ask(contents):
    return CLIENT.models.generate_content(model="gemini-2.5-pro", contents=contents).text


def content(role, part):
    return {"role": role, "parts": [part]}


ASKED = content("user", {"text": "run the probe"})
CALLED = content("model", {"function_call": {"name": "run_shell_command", "args": {"command": "true"}}})
RESULT = content("user", {"function_response": {"name": "run_shell_command", "response": {"output": "probe-output-4711"}}})
GO_ON = content("user", {"text": "go on"})

CASES = {
    "turn": turn,
    "automatic": automatic,
    "missing": lambda: ask([ASKED, CALLED, GO_ON]),
    "duplicate": lambda: ask([ASKED, CALLED, RESULT, RESULT, GO_ON]),
}
print(CASES[CASE]())
