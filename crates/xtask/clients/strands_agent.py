"""An agent of Strands: python strands_agent.py URL CASE."""

import subprocess
import sys

from strands import Agent, tool
from strands.models.openai import OpenAIModel

URL, CASE = sys.argv[1:]


@tool
def run_shell_command(command: str) -> str:
    """Runs a command."""
    return subprocess.run(command, shell=True, capture_output=True, text=True).stdout


MODEL = OpenAIModel(
    client_args={"base_url": f"{URL}/openai/v1", "api_key": "dummy", "max_retries": 0}, model_id="gpt-5"
)
ASKED = {"role": "user", "content": [{"text": "run the probe"}]}
RESULT = {"toolUseId": "call_1", "status": "success", "content": [{"text": "probe-output-4711"}]}
ORPHAN = [ASKED, {"role": "user", "content": [{"toolResult": RESULT}]}, {"role": "assistant", "content": [{"text": "ok"}]}]


def ask(messages, prompt):
    return Agent(model=MODEL, tools=[run_shell_command], messages=messages, callback_handler=None)(prompt)


CASES = {
    "turn": lambda: ask([], "run the probe"),
    "orphan": lambda: ask(ORPHAN, "go on"),
}
print(CASES[CASE]())
