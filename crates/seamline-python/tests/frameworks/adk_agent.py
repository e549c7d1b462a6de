"""Google ADK with a plugin."""

from __future__ import annotations

import asyncio
import base64
import json
import os
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.events import Event
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types

from damage import IMAGE, Call, Look, Result, Text, User
from seamline.google_adk import SeamlinePlugin

FIX = "App(name=..., root_agent=agent, plugins=[SeamlinePlugin()])"


def read(path: str) -> str:
    """Reads a file."""
    return "from the tool"


def events(steps: list[Any]) -> list[Event]:
    """The steps as events of a session."""
    made = []
    for number, step in enumerate(steps):
        match step:
            case User(text):
                author, role, parts = "user", "user", [types.Part(text=text)]
            case Look(text):
                image = types.Blob(data=base64.b64decode(IMAGE), mime_type="image/png")
                author, role, parts = "user", "user", [types.Part(text=text), types.Part(inline_data=image)]
            case Text(text):
                author, role, parts = "reader", "model", [types.Part(text=text)]
            case Call(id, arguments, times):
                try:
                    given = json.loads(arguments)
                except ValueError:
                    given = {"cut": arguments}
                author, role = "reader", "model"
                parts = [types.Part(function_call=types.FunctionCall(id=id, name="read", args=given))] * times
            case Result(id, text):
                author, role = "reader", "user"
                response = types.FunctionResponse(id=id, name="read", response={"result": text})
                parts = [types.Part(function_response=response)]
        content = types.Content(role=role, parts=parts)
        made.append(Event(author=author, invocation_id=f"old-{number}", content=content))
    return made


def run(url: str, steps: list[Any], fixed: bool) -> None:
    """Runs the agent on the history."""
    os.environ |= {"GOOGLE_GEMINI_BASE_URL": url, "GOOGLE_API_KEY": "dummy"}

    async def main() -> None:
        agent = LlmAgent(name="reader", model="gemini-2.5-pro", tools=[read])
        app = App(name="probe", root_agent=agent, plugins=[SeamlinePlugin()] if fixed else [])
        service = InMemorySessionService()
        session = await service.create_session(app_name="probe", user_id="u", session_id="s")
        for event in events(steps[:-1]):
            await service.append_event(session, event)
        runner = Runner(app=app, session_service=service)
        message = types.Content(role="user", parts=[types.Part(text=steps[-1].text)])
        async for event in runner.run_async(user_id="u", session_id="s", new_message=message):
            if event.error_code:
                raise RuntimeError(f"{event.error_code}: {event.error_message}")

    asyncio.run(main())
