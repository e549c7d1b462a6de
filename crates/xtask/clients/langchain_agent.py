"""An agent of LangChain with a checkpointer: python langchain_agent.py URL CASE."""

import subprocess
import sys

from langchain.agents import create_agent
from langchain.tools import tool
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

URL, CASE = sys.argv[1:]


@tool
def run_shell_command(command: str) -> str:
    """Runs a command."""
    if CASE == "crash":
        raise RuntimeError("the tool crashed")
    return subprocess.run(command, shell=True, capture_output=True, text=True).stdout


MODEL = ChatOpenAI(model="gpt-5", base_url=f"{URL}/openai/v1", api_key="dummy", max_retries=0)
AGENT = create_agent(MODEL, tools=[run_shell_command], checkpointer=InMemorySaver())
THREAD = {"configurable": {"thread_id": "1"}}


def ask(messages):
    return AGENT.invoke({"messages": messages}, THREAD)["messages"][-1].content


def crash():
    try:
        ask([HumanMessage("run the probe")])
    except RuntimeError:
        pass
    return ask([HumanMessage("go on")])


RESULT = ToolMessage("probe-output-4711", tool_call_id="call_1")
CASES = {
    "turn": lambda: ask([HumanMessage("run the probe")]),
    "crash": crash,
    "orphan": lambda: ask([HumanMessage("run the probe"), RESULT, HumanMessage("go on")]),
}
print(CASES[CASE]())
