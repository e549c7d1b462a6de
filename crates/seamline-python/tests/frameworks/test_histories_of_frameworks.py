"""The adapters read and write histories: no content is lost, and a failure of ours stops no request."""

from __future__ import annotations

import base64
import logging
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import seamline

sys.path.insert(0, str(Path(__file__).parent))

from damage import HALF, IMAGE

PNG = base64.b64decode(IMAGE)
MENDED = "\ufffd"


class TestLangChain:
    """LangChain and LangGraph."""

    @pytest.fixture(autouse=True)
    def _installed(self) -> None:
        pytest.importorskip("langchain")

    def test_a_text_beside_an_image_is_repaired_in_its_part(self) -> None:
        from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

        from seamline.langchain import repair_messages

        image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{IMAGE}"}}
        text = {"type": "text", "text": f"see {HALF}", "cache_control": {"type": "ephemeral"}}
        call = {"name": "read", "args": {}, "id": "call_1"}
        given = [
            HumanMessage([text, image], name="ada"),
            AIMessage([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": f"ok {HALF}"}], tool_calls=[call]),
            ToolMessage(f"result {HALF}", tool_call_id="call_1", artifact={"rows": 3}, name="read"),
            ToolMessage(["lone ", {"type": "text", "text": f"{HALF}"}, image], tool_call_id="none", name="read"),
        ]
        human, answer, result, orphan = repair_messages(given)
        assert human.content == [{**text, "text": f"see {MENDED}"}, image]
        assert human.content[1] is given[0].content[1]
        assert human.name == "ada"
        assert answer.content == [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": f"ok {MENDED}"}]
        assert answer.tool_calls == given[1].tool_calls
        assert (result.content, result.artifact, result.tool_call_id) == (f"result {MENDED}", {"rows": 3}, "call_1")
        assert isinstance(orphan, HumanMessage)
        assert image in orphan.content
        assert "lone " in str(orphan.content)
        assert "seamline" not in str(orphan.content)

    def test_blocks_of_calls_get_the_new_ids_by_their_order(self) -> None:
        from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

        from seamline.langchain import repair_messages

        call = {"name": "read", "args": {}, "id": "call_1", "type": "tool_call"}
        block = {"type": "tool_use", "id": "call_1", "name": "read", "input": {}}
        turn = AIMessage([{"type": "text", "text": "ok"}, block, block], tool_calls=[call, call])
        results = [ToolMessage(text, tool_call_id="call_1") for text in ("one", "two")]
        _, made, *answers = repair_messages([HumanMessage("go"), turn, *results])
        ids = [one["id"] for one in made.tool_calls]
        assert len(set(ids)) == 2
        assert [one["id"] for one in made.content[1:]] == ids
        assert [(one.tool_call_id, one.content) for one in answers] == [(ids[0], "one"), (ids[1], "two")]

    def test_ids_get_the_form_of_a_provider_that_refuses_others(self) -> None:
        from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

        from seamline.langchain import repair_messages

        call = {"name": "read", "args": {}, "id": "functions.read:0", "type": "tool_call"}
        cycle = [AIMessage("", tool_calls=[call]), ToolMessage("one", tool_call_id="functions.read:0")]
        given = [HumanMessage("go"), *cycle, HumanMessage("again"), *cycle]
        assert repair_messages(given) is given
        made = repair_messages(given, provider="anthropic")
        ids = [one.tool_call_id for one in made if isinstance(one, ToolMessage)]
        assert ids == ["functions_read_0", "functions_read_0_2"]
        assert made[0] is given[0]

    def test_a_text_that_looks_like_a_mark_stays_a_text(self) -> None:
        from langchain_core.messages import HumanMessage

        from seamline.langchain import repair_messages

        image = {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}
        given = [HumanMessage([{"type": "text", "text": f"⟦seamline:0⟧ ⟦seamline·:0⟧ {HALF}"}, image])]
        (human,) = repair_messages(given)
        assert human.content == [{"type": "text", "text": f"⟦seamline:0⟧ ⟦seamline·:0⟧ {MENDED}"}, image]

    def test_blocks_of_calls_get_the_new_ids(self) -> None:
        from langchain_core.messages import AIMessage, ToolMessage

        from seamline.langchain import repair_messages

        long = "toolu_" + "x" * 60
        block = {"type": "tool_use", "id": long, "name": "read", "input": {}}
        calls = [{"name": "read", "args": {}, "id": long}]
        given = [AIMessage([{"type": "text", "text": "I look."}, block], tool_calls=calls), ToolMessage("x", tool_call_id=long)]
        answer, result = repair_messages(given)
        new = answer.tool_calls[0]["id"]
        assert len(new) <= 40
        assert result.tool_call_id == new
        assert answer.content == [{"type": "text", "text": "I look."}, {**block, "id": new}]

    def test_the_provider_is_that_of_the_model(self) -> None:
        from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
        from langchain_openai import ChatOpenAI

        from seamline.langchain import SeamlineMiddleware, repair_messages

        long = "toolu_" + "x" * 60
        given = [
            HumanMessage("hi"),
            AIMessage("", tool_calls=[{"name": "read", "args": {}, "id": long}]),
            ToolMessage("x", tool_call_id=long),
        ]
        assert repair_messages(given, provider="anthropic") is given
        assert len(repair_messages(given, provider="mistral")[2].tool_call_id) == 9
        assert len(repair_messages(given)[2].tool_call_id) <= 40

        class Claude:
            def _get_ls_params(self) -> dict:
                return {"ls_provider": "anthropic"}

        seen: list[Any] = []

        def sent(model: Any, **options: Any) -> Any:
            request = SimpleNamespace(messages=given, model=model)
            request.override = lambda messages: SimpleNamespace(messages=messages)
            SeamlineMiddleware(**options).wrap_model_call(request, lambda made: seen.append(made.messages))
            return seen.pop()

        assert sent(Claude()) is given
        assert len(sent(Claude(), provider="mistral")[2].tool_call_id) == 9
        assert len(sent(ChatOpenAI(model="gpt-5", api_key="x"))[2].tool_call_id) <= 40
        assert len(sent(object())[2].tool_call_id) <= 40

    def test_a_message_that_cannot_be_read_goes_on(self, caplog: pytest.LogCaptureFixture) -> None:
        from langchain_core.messages import AIMessage, HumanMessage

        from seamline.langchain import SeamlineMiddleware, repair_messages

        call = {"name": "read", "args": {"secret": object()}, "id": "call_1"}
        given = [HumanMessage("hi"), AIMessage.model_construct(content="", tool_calls=[call], invalid_tool_calls=[])]
        check_failure(lambda **options: repair_messages(given, **options), given, caplog)
        with pytest.raises(seamline.OptionError):
            SeamlineMiddleware(policy="losless")


class TestPydanticAi:
    """pydantic-ai."""

    @pytest.fixture(autouse=True)
    def _installed(self) -> None:
        pytest.importorskip("pydantic_ai")

    def test_texts_are_repaired_in_their_parts(self) -> None:
        from pydantic_ai import messages as parts

        from seamline.pydantic_ai import repair_messages

        image = parts.BinaryContent(PNG, media_type="image/png")
        tagged = parts.TextContent(f"b {HALF}", metadata={"k": 1})
        thinking = parts.ThinkingPart("hm", signature="sig")
        call = parts.ToolCallPart("read", {"path": "a"}, tool_call_id="call_1")
        structured = parts.ToolReturnPart("read", {"rows": [f"x {HALF}", 1]}, tool_call_id="call_2")
        with_image = parts.ToolReturnPart("read", [f"y {HALF}", image], tool_call_id="call_3")
        given = [
            parts.ModelRequest(parts=[parts.UserPromptPart([f"a {HALF}", image, tagged])], instructions="be brief"),
            parts.ModelResponse(
                parts=[
                    thinking,
                    call,
                    parts.TextPart(f"ok {HALF}", id="t1"),
                    parts.ToolCallPart("read", {}, tool_call_id="call_2"),
                    parts.ToolCallPart("read", {}, tool_call_id="call_3"),
                ]
            ),
            parts.ModelRequest(
                parts=[
                    parts.ToolReturnPart("read", f"result {HALF}", tool_call_id="call_1", metadata={"m": 1}),
                    structured,
                    with_image,
                ]
            ),
        ]
        request, response, results = repair_messages(given)
        assert request.instructions == "be brief"
        text, kept, tagged_again = request.parts[0].content
        assert (text, kept) == (f"a {MENDED}", image)
        assert kept is image
        assert (tagged_again.content, tagged_again.metadata) == (f"b {MENDED}", {"k": 1})
        assert response.parts[0] is thinking
        assert [part.part_kind for part in response.parts] == [part.part_kind for part in given[1].parts]
        assert (response.parts[2].content, response.parts[2].id) == (f"ok {MENDED}", "t1")
        assert (results.parts[0].content, results.parts[0].metadata) == (f"result {MENDED}", {"m": 1})
        assert results.parts[1].content == {"rows": [f"x {MENDED}", 1]}
        assert results.parts[2].content == [f"y {MENDED}", image]

    def test_a_result_without_its_call_keeps_its_image(self) -> None:
        from pydantic_ai import messages as parts

        from seamline.pydantic_ai import repair_messages

        image = parts.BinaryContent(PNG, media_type="image/png")
        given = [
            parts.ModelRequest(parts=[parts.UserPromptPart("hi")]),
            parts.ModelResponse(parts=[parts.TextPart("hello")]),
            parts.ModelRequest(parts=[parts.ToolReturnPart("read", ["real", image], tool_call_id="none")]),
        ]
        orphan = repair_messages(given)[2].parts[0]
        assert isinstance(orphan, parts.UserPromptPart)
        assert image in orphan.content
        assert "real" in orphan.content

    def test_a_request_with_instructions_only_stays(self) -> None:
        from pydantic_ai import messages as parts

        from seamline.pydantic_ai import repair_messages

        bare = [parts.ModelRequest(parts=[], instructions=f"part {number}") for number in range(3)]
        call = parts.ToolCallPart("read", {}, tool_call_id="call_1")
        given = [
            bare[0],
            parts.ModelRequest(parts=[parts.UserPromptPart("hi")]),
            parts.ModelResponse(parts=[call]),
            bare[1],
            parts.ModelRequest(parts=[parts.UserPromptPart("go on")]),
            bare[2],
        ]
        repaired = repair_messages(given)
        assert [message for message in repaired if not message.parts] == bare
        assert repaired[0] is bare[0]
        assert repaired[-1] is bare[2]
        assert any(isinstance(part, parts.ToolReturnPart) for message in repaired for part in message.parts)
        assert repair_messages(repaired) is repaired

    def test_the_provider_is_that_of_the_model(self) -> None:
        from pydantic_ai import messages as parts

        from seamline.pydantic_ai import SeamlineHistory, repair_messages

        long = "toolu_" + "x" * 60
        given = [
            parts.ModelRequest(parts=[parts.UserPromptPart("hi")]),
            parts.ModelResponse(parts=[parts.ToolCallPart("read", {}, tool_call_id=long)]),
            parts.ModelRequest(parts=[parts.ToolReturnPart("read", "x", tool_call_id=long)]),
        ]
        assert repair_messages(given, provider="anthropic") is given
        assert len(repair_messages(given)[2].parts[0].tool_call_id) <= 40
        history = SeamlineHistory()
        assert history._repaired(given, SimpleNamespace(system="anthropic")) is given
        assert len(history._repaired(given, SimpleNamespace(system="mistral"))[2].parts[0].tool_call_id) == 9

    def test_a_message_that_cannot_be_read_goes_on(self, caplog: pytest.LogCaptureFixture) -> None:
        from pydantic_ai import messages as parts

        from seamline.pydantic_ai import repair_messages

        given = [parts.ModelRequest(parts=[parts.UserPromptPart("hi")]), "secret"]
        check_failure(lambda **options: repair_messages(given, **options), given, caplog)


class TestStrands:
    """Strands Agents."""

    @pytest.fixture(autouse=True)
    def _installed(self) -> None:
        pytest.importorskip("strands")

    def test_a_text_beside_an_image_is_repaired_and_the_image_stays(self, caplog: pytest.LogCaptureFixture) -> None:
        from seamline.strands import SeamlineHook

        image = {"image": {"format": "png", "source": {"bytes": PNG}}}
        kept = {"role": "assistant", "content": [{"text": "ok"}]}
        messages = [{"role": "user", "content": [{"text": f"see {HALF}"}, image]}, kept]
        SeamlineHook()._repair(SimpleNamespace(agent=SimpleNamespace(messages=messages, model=None)))
        assert messages == [{"role": "user", "content": [{"text": f"see {MENDED}"}, image]}, kept]
        assert messages[1] is kept
        assert caplog.records == []

    def test_a_message_that_cannot_be_read_goes_on(self, caplog: pytest.LogCaptureFixture) -> None:
        from seamline.strands import SeamlineHook

        def repaired(**options: Any) -> Any:
            messages = [{"role": "user", "content": [{"text": {"secret"}}]}]
            SeamlineHook(**options)._repair(SimpleNamespace(agent=SimpleNamespace(messages=messages, model=None)))
            return messages

        check_failure(repaired, [{"role": "user", "content": [{"text": {"secret"}}]}], caplog)


class TestGoogleAdk:
    """Google ADK."""

    @pytest.fixture(autouse=True)
    def _installed(self) -> None:
        pytest.importorskip("google.adk.agents")

    def test_a_text_beside_an_image_is_repaired_and_the_image_stays(self) -> None:
        import asyncio

        from google.genai import types

        from seamline.google_adk import SeamlinePlugin

        image = types.Part(inline_data=types.Blob(data=PNG, mime_type="image/png"))
        call = types.FunctionCall(id="c", name="read", args={})
        signed = types.Part(function_call=call, thought_signature=b"\x00\xff\xfe")
        given = [
            types.Content(role="user", parts=[types.Part(text=f"see {HALF}"), image]),
            types.Content(role="model", parts=[signed]),
            types.Content(role="user", parts=[types.Part(text="go on")]),
        ]
        request = SimpleNamespace(contents=list(given))
        asyncio.run(SeamlinePlugin().before_model_callback(callback_context=None, llm_request=request))
        assert request.contents[0].parts[0].text == f"see {MENDED}"
        assert request.contents[0].parts[1] is image
        assert request.contents[1].parts[0].thought_signature == b"\x00\xff\xfe"
        assert any(part.function_response for content in request.contents for part in content.parts)

    def test_calls_with_one_id_get_ids_of_their_own_in_this_run(self) -> None:
        from google.adk.events import Event
        from google.genai import types

        from seamline.google_adk import SeamlinePlugin

        def part(**members: Any) -> types.Content:
            return types.Content(role=members.pop("role"), parts=[types.Part(**one) for one in members["parts"]])

        call = {"function_call": types.FunctionCall(id="c", name="read", args={})}
        results = [{"function_response": types.FunctionResponse(id="c", name="read", response={"n": n})} for n in (1, 2)]
        contents = [part(role="user", parts=[{"text": "hi"}]), part(role="model", parts=[call, call])]
        contents += [part(role="user", parts=[one]) for one in results]
        events = [Event(author="reader", content=content) for content in contents]
        SeamlinePlugin()._answers(events, "run")
        calls = [one.id for event in events for one in event.get_function_calls()]
        answers = [one.id for event in events for one in event.get_function_responses()]
        assert len(set(calls)) == 2
        assert calls == answers

    def test_a_result_that_adk_does_not_send_is_added_once(self) -> None:
        from google.adk.events import Event
        from google.genai import types

        from seamline.google_adk import SeamlinePlugin

        def event(role: str, **part: Any) -> Event:
            content = types.Content(role=role, parts=[types.Part(**part)])
            return Event(author="reader", invocation_id="i", content=content)

        call = event("model", function_call=types.FunctionCall(id="a", name="read", args={}))
        result = event("user", function_response=types.FunctionResponse(id="a", name="read", response={"result": "one"}))
        events = [event("user", text="go"), result, call, event("user", text="on")]
        new, _ = SeamlinePlugin()._answers(events, "i")
        assert [one.content.parts[0].function_response.response for one in new] == [{"result": "one"}]
        assert SeamlinePlugin()._answers([*events, *new], "i") == ([], None)

    def test_a_content_that_cannot_be_read_goes_on(self, caplog: pytest.LogCaptureFixture) -> None:
        import asyncio

        from seamline.google_adk import SeamlinePlugin

        def repaired(**options: Any) -> Any:
            request = SimpleNamespace(contents=["secret"])
            plugin = SeamlinePlugin(**options)
            asyncio.run(plugin.before_model_callback(callback_context=None, llm_request=request))
            return request.contents

        check_failure(repaired, ["secret"], caplog)


class TestLiteLlm:
    """LiteLLM."""

    @pytest.fixture(autouse=True)
    def _installed(self) -> None:
        pytest.importorskip("litellm")

    def test_a_history_that_cannot_be_read_goes_on(self, caplog: pytest.LogCaptureFixture) -> None:
        from seamline.litellm import SeamlineCallback

        data = {"model": "openai/gpt-5", "messages": [{"role": "user", "content": {"secret"}}]}
        check_failure(lambda **options: SeamlineCallback(**options).repaired(data, "acompletion"), data, caplog)

    def test_the_provider_is_that_of_the_model(self) -> None:
        from seamline.litellm import SeamlineCallback

        long = "toolu_" + "x" * 60
        function = {"name": "read", "arguments": "{}"}
        messages = [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": None, "tool_calls": [{"id": long, "type": "function", "function": function}]},
            {"role": "tool", "tool_call_id": long, "content": "x"},
        ]

        def id_for(model: str) -> str:
            data = SeamlineCallback().repaired({"model": model, "messages": messages}, "acompletion")
            return data["messages"][2]["tool_call_id"]

        assert id_for("anthropic/claude-sonnet-4-5") == long
        assert len(id_for("mistral/mistral-large-latest")) == 9
        assert len(id_for("openai/gpt-5")) <= 40

    def test_arguments_are_objects_where_litellm_reads_them(self) -> None:
        import json

        from seamline.litellm import SeamlineCallback

        def turn(arguments: str) -> dict[str, Any]:
            function = {"name": "read", "arguments": arguments}
            return {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": function}]}

        def sent(arguments: str, **options: Any) -> str:
            history = [{"role": "user", "content": "go"}, turn(arguments), {"role": "tool", "tool_call_id": "c", "content": "x"}]
            data = SeamlineCallback(**options).repaired({"model": "an-alias", "messages": history}, "acompletion")
            return data["messages"][1]["tool_calls"][0]["function"]["arguments"]

        assert json.loads(sent('{"pa')) == {"raw": '{"pa'}
        assert json.loads(sent("[1]")) == {"value": [1]}
        assert sent('{"a": 1}') == '{"a": 1}'
        assert sent('{"pa', provider="openai") == '{"pa'


class TestOpenAiAgents:
    """OpenAI Agents."""

    URL = "memory:"

    @pytest.fixture(autouse=True)
    def _installed(self) -> None:
        pytest.importorskip("agents")

    def test_an_input_that_cannot_be_read_goes_on(self, caplog: pytest.LogCaptureFixture) -> None:
        from agents.run import CallModelData, ModelInputData

        from seamline.openai_agents import repair_input

        given = ModelInputData(input=[{"role": "user", "content": {"secret"}}], instructions=None)
        data = CallModelData(model_data=given, agent=None, context=None)
        check_failure(lambda **options: repair_input(data, **options), given, caplog)

    def test_a_cleared_session_is_empty(self) -> None:
        import asyncio

        from seamline.openai_agents import SeamlineSession

        async def main() -> None:
            session = SeamlineSession("s", self.URL)
            for _ in range(2):
                await session.add_items([{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}])
                await session.clear_session()
                assert await session.get_items() == []
            await session.add_items([{"role": "user", "content": "again"}])
            assert len(await session.get_items()) == 1
            await session.close()

        asyncio.run(main())

    def test_items_are_popped_one_by_one(self) -> None:
        import asyncio

        from seamline.openai_agents import SeamlineSession

        async def main() -> None:
            session = SeamlineSession("s", self.URL)
            items = [{"role": "user", "content": str(number)} for number in range(6)]
            await session.add_items(items[:3])
            await session.add_items(items[3:])
            popped = [await session.pop_item() for _ in range(6)]
            assert popped == items[::-1]
            assert await session.pop_item() is None
            await session.close()

        asyncio.run(main())

    def test_a_long_session_keeps_few_checkpoints(self) -> None:
        import asyncio

        from seamline.openai_agents import SeamlineSession

        async def main() -> None:
            session = SeamlineSession("s", self.URL)
            counts = []
            for number in range(60):
                await session.add_items([{"role": "user", "content": str(number)}])
                counts.append(len(await session._session.checkpoints()))
            assert max(counts) == max(counts[:30])
            assert sum(one["state"] == "open" for one in await session._session.checkpoints()) <= 2
            assert (await session.pop_item())["content"] == "59"
            await session.close()

        asyncio.run(main())

    @pytest.mark.parametrize("limit", range(1, 12))
    def test_the_latest_items_begin_at_a_cycle(self, limit: int) -> None:
        import asyncio

        from seamline.openai_agents import SeamlineSession

        def cycle(number: int) -> list[dict]:
            call = {"type": "function_call", "call_id": f"c{number}", "name": "read", "arguments": "{}"}
            other = {**call, "call_id": f"d{number}"}
            outputs = [{"type": "function_call_output", "call_id": f"{one}{number}", "output": "x"} for one in "cd"]
            thought = {"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": "x"}
            return [{"role": "user", "content": str(number)}, thought, call, other, *outputs]

        async def main() -> None:
            session = SeamlineSession("s", self.URL)
            items = [item for number in range(2) for item in cycle(number)]
            await session.add_items(items)
            latest = await session.get_items(limit)
            calls = {one["call_id"] for one in latest if one.get("type") == "function_call"}
            answers = {one["call_id"] for one in latest if one.get("type") == "function_call_output"}
            thoughts = [one for one in latest if one.get("type") == "reasoning"]
            assert calls == answers
            assert len(thoughts) * 2 == len(calls)
            assert latest == (await session.get_items())[len(items) - len(latest) :]
            await session.close()

        asyncio.run(main())

    def repaired(self, items: list[Any]) -> list[Any]:
        from agents.run import CallModelData, ModelInputData

        from seamline.openai_agents import repair_input

        data = CallModelData(model_data=ModelInputData(input=items, instructions=None), agent=None, context=None)
        return repair_input(data).input

    def test_each_call_has_an_id_of_its_own_and_its_result_behind_it(self) -> None:
        def call(id: str) -> dict[str, Any]:
            return {"type": "function_call", "call_id": id, "name": "read", "arguments": "{}"}

        def result(id: str, text: str) -> dict[str, Any]:
            return {"type": "function_call_output", "call_id": id, "output": text}

        ask = {"role": "user", "content": "go"}
        clean = [ask, call("a"), result("a", "one")]
        assert self.repaired(clean) is clean
        twice = self.repaired([*clean, ask, call("a"), result("a", "two")])
        assert [one.get("call_id") for one in twice] == [None, "a", "a", None, "a_2", "a_2"]
        displaced = self.repaired([ask, call("a"), ask, result("a", "one")])
        assert [one.get("type") for one in displaced] == [None, "function_call", "function_call_output", None]

    def test_a_session_may_have_any_name(self) -> None:
        import asyncio

        from seamline.openai_agents import SeamlineSession

        async def main(name: str) -> list[Any]:
            session = SeamlineSession(name, "memory:")
            await session.add_items([{"role": "user", "content": "go"}])
            items = await session.get_items()
            await session.close()
            assert session.session_id == name
            return items

        for name in ("user@example.com", "a/b", "\u00fc", "", "x" * 600):
            assert len(asyncio.run(main(name))) == 1


def check_failure(repaired: Any, given: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Checks that the original goes on with one warning without content, unless the caller wants the exception."""
    with caplog.at_level(logging.INFO, logger="seamline"):
        made = repaired()
    assert made is given or made == given
    warned = [record for record in caplog.records if record.name == "seamline" and record.levelno >= logging.WARNING]
    assert len(warned) == 1
    assert "secret" not in warned[0].getMessage()
    with pytest.raises(Exception):  # noqa: B017
        repaired(on_failure="raise")
    with pytest.raises(seamline.OptionError):
        repaired(on_failure="ignore")
