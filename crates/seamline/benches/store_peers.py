"""Keeps the conversation of the benchmark with LangGraph's SqliteSaver and OpenAI Agents' SQLiteSession."""

import asyncio
import os
import sqlite3
import sys
import time

FOLDER, TURNS = sys.argv[1], int(sys.argv[2])
ASK = "please go on with the next file and tell me what you find"
TEXT = "I will look at the caller next, since the value is only used there. " * 5
OUTPUT = "fn main() {}\n" * 40


def say(name: str, seconds: float, path: str) -> None:
    size = sum(os.path.getsize(path + end) for end in ("", "-wal") if os.path.exists(path + end))
    print(f"{name:<34} {seconds * 1e3 / TURNS:>9.3}  {size / 1e6:>7.2f} MB")


def langgraph() -> None:
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.graph import END, START, MessagesState, StateGraph

    def model(state: MessagesState) -> dict:
        number = len(state["messages"])
        call = {"id": f"toolu_{number}", "name": "read", "args": {"path": "src/main.rs"}}
        return {"messages": [AIMessage(content=TEXT, tool_calls=[call])]}

    def tools(state: MessagesState) -> dict:
        call = state["messages"][-1].tool_calls[0]
        return {"messages": [ToolMessage(content=OUTPUT, tool_call_id=call["id"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", model)
    graph.add_node("tools", tools)
    graph.add_edge(START, "model")
    graph.add_edge("model", "tools")
    graph.add_edge("tools", END)
    path = os.path.join(FOLDER, "langgraph.db")
    with SqliteSaver.from_conn_string(path) as saver:
        app = graph.compile(checkpointer=saver)
        config = {"configurable": {"thread_id": "peers"}}
        start = time.perf_counter()
        for _ in range(TURNS):
            app.invoke({"messages": [HumanMessage(content=ASK)]}, config)
        say("LangGraph SqliteSaver", time.perf_counter() - start, path)


def agents() -> None:
    from agents import SQLiteSession

    path = os.path.join(FOLDER, "agents.db")

    async def run() -> float:
        session = SQLiteSession("peers", path)
        start = time.perf_counter()
        for number in range(TURNS):
            call = {"type": "function_call", "call_id": f"call_{number}", "name": "read", "arguments": "{}"}
            await session.add_items([{"role": "user", "content": ASK}])
            await session.add_items([{"role": "assistant", "content": TEXT}, call])
            await session.add_items([{"type": "function_call_output", "call_id": f"call_{number}", "output": OUTPUT}])
        return time.perf_counter() - start

    say("OpenAI Agents SQLiteSession", asyncio.run(run()), path)


if __name__ == "__main__":
    print(f"(SQLite {sqlite3.sqlite_version} in Python {sys.version.split()[0]})")
    for peer in (langgraph, agents):
        try:
            peer()
        except ImportError as error:
            print(f"{peer.__name__:<34} skipped: {error}")
