"""Google ADK: a plugin that answers the open calls of a session and repairs the contents of each request.

    runner = Runner(app=App(name="app", root_agent=agent, plugins=[SeamlinePlugin()]), ...)

Without it ADK deletes a call that has no response, and the model forgets that a tool may have run.
"""

from __future__ import annotations

from typing import Any

from google.adk.events import Event
from google.adk.plugins import BasePlugin
from google.genai import types

import seamline
from seamline._wire import OnRepair

_DIALECT = "gemini_generate"


def _carry(content: types.Content) -> dict[str, Any]:
    return content.model_dump(mode="json", by_alias=True, exclude_none=True)


def _demoted(events: list[Event], repaired: seamline.Repaired) -> list[types.Part]:
    """The results without a call, as the texts that the repair keeps of them. ADK drops such results."""
    known = {part.text for event in events for part in event.content.parts if part.text}
    texts = []
    for content, origin in zip(repaired.messages, repaired.origins):
        if origin is None or not events[origin].get_function_responses():
            continue
        texts += [part["text"] for part in content.get("parts", ()) if "text" in part]
    return [types.Part(text=text) for text in texts if text not in known]


class SeamlinePlugin(BasePlugin):
    """Repairs the conversation of an agent."""

    def __init__(
        self,
        name: str = "seamline",
        *,
        policy: str | dict[str, Any] | None = None,
        on_repair: OnRepair | None = None,
    ) -> None:
        super().__init__(name=name)
        self._policy = policy
        self._on_repair = on_repair

    def _repair(self, contents: list[dict[str, Any]]) -> seamline.Repaired:
        return seamline.repair(contents, dialect=_DIALECT, provider="gemini", policy=self._policy, kept=True)

    async def before_run_callback(self, *, invocation_context: Any) -> None:
        """Answers the calls that a crash left open, as events of the session."""
        session = invocation_context.session
        events = [event for event in session.events if event.content and event.content.parts]
        waiting = {id for event in events for id in event.long_running_tool_ids or ()}
        repaired = self._repair([_carry(event.content) for event in events]) if events else None
        if repaired is None or not repaired.changed:
            return
        answered = {action.call_id for action in repaired.actions if action.synthetic} - waiting
        parts = [part for content in repaired.messages for part in content.get("parts", ())]
        responses = [part["functionResponse"] for part in parts if "functionResponse" in part]
        made = [
            types.Part(function_response=types.FunctionResponse.model_validate(one))
            for one in responses
            if one.get("id") in answered and one.get("id")
        ]
        author = next((event.author for event in reversed(events) if event.get_function_calls()), "user")
        for by, kept in ((author, made), ("user", _demoted(events, repaired))):
            if not kept:
                continue
            content = types.Content(role="user", parts=kept)
            event = Event(author=by, content=content, invocation_id=invocation_context.invocation_id)
            await invocation_context.session_service.append_event(session=session, event=event)
        if made and self._on_repair is not None:
            self._on_repair(repaired)

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Repairs the contents of a request."""
        contents = llm_request.contents
        carried = [_carry(content) for content in contents]
        repaired = self._repair(carried) if carried else None
        if repaired is None or not repaired.changed:
            return
        known = {id(content): index for index, content in enumerate(carried)}
        llm_request.contents = [
            contents[known[id(content)]] if id(content) in known else types.Content.model_validate(content)
            for content in repaired.messages
        ]
        if self._on_repair is not None:
            self._on_repair(repaired)
