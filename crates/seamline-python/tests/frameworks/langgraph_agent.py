"""LangGraph: a graph with a node that repairs its state."""

from __future__ import annotations

from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

import seamline.langgraph
from langchain_agent import messages, model, read

FIX = 'graph.add_node("repair", seamline.langgraph.repair_node)'


def run(url: str, steps: list[Any], fixed: bool) -> None:
    """Runs a graph on the history, which a checkpointer holds."""
    bound = model(url).bind_tools([read])
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [bound.invoke(state["messages"])]})
    if fixed:
        graph.add_node("repair", seamline.langgraph.repair_node)
        graph.add_edge(START, "repair")
        graph.add_edge("repair", "model")
    else:
        graph.add_edge(START, "model")
    saver = InMemorySaver()
    config = {"configurable": {"thread_id": "1"}}
    compiled = graph.compile(checkpointer=saver)
    try:
        compiled.invoke({"messages": messages(steps)}, config)
    finally:
        checked = seamline.langgraph.check_thread(saver, config)
        if fixed and not checked.accepted:
            # The reply of the fake provider may make a call that no node runs.
            assert all(finding.message_index == checked.message_count - 1 for finding in checked.findings), checked
