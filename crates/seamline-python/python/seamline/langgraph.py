"""LangGraph: a node that repairs the messages of a state, and a check of what a checkpointer holds.

    graph.add_node("repair", seamline.langgraph.repair_node)
    agent = create_react_agent(model, tools, pre_model_hook=seamline.langgraph.pre_model_hook)
"""

from __future__ import annotations

from typing import Any

from langchain_core.messages import RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

import seamline
from seamline import _carried
from seamline.langchain import _FORM, _carry, repair_messages


def repair_node(state: Any, **options: Any) -> dict[str, Any]:
    """A node that rewrites the messages of the state if they are damaged.

    Takes the options of `seamline.langchain.repair_messages`: `functools.partial(repair_node, provider="mistral")`.
    """
    messages = state["messages"] if isinstance(state, dict) else state.messages
    repaired = repair_messages(messages, **options)
    if repaired is messages:
        return {}
    return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *repaired]}


def pre_model_hook(state: Any, **options: Any) -> dict[str, Any]:
    """A hook that repairs the messages of each request; the state keeps its own. Takes the options of `repair_node`."""
    messages = state["messages"] if isinstance(state, dict) else state.messages
    return {"llm_input_messages": repair_messages(messages, **options)}


def check_thread(
    checkpointer: Any, config: dict[str, Any], *, provider: str | None = None
) -> seamline.Checked | None:
    """Checks the messages of a thread that a checkpointer holds; `None` where there is no such thread.

    A damaged thread is false, too: test `found is not None` first, and `found.accepted` then.
    """
    return _checked(checkpointer.get_tuple(config), provider)


async def acheck_thread(
    checkpointer: Any, config: dict[str, Any], *, provider: str | None = None
) -> seamline.Checked | None:
    """Checks the messages of a thread that an asynchronous checkpointer holds, as `check_thread` does."""
    return _checked(await checkpointer.aget_tuple(config), provider)


def _checked(found: Any, provider: str | None) -> seamline.Checked | None:
    if found is None:
        return None
    messages = found.checkpoint["channel_values"].get("messages", [])
    marks = _carried.Marks(_FORM, (message.content for message in messages))
    carried = [_carry(message, marks) for message in messages]
    return seamline.check(carried, dialect=_carried.DIALECT, provider=_carried.demands(provider), kept=True)
