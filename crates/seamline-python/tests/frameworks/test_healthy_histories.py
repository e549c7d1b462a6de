"""Histories that a framework sends by its own design go on unchanged, also where they look like damage elsewhere."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest

LONG = "chatcmpl-tool-" + "0123456789abcdef" * 2


class TestGoogleAdk:
    """Google ADK gives a call several responses, of which the last one counts."""

    @pytest.fixture(autouse=True)
    def _installed(self) -> None:
        pytest.importorskip("google.adk.agents")

    def run(self, tool: Any, answers: list[tuple[str, dict]], plugins: list[Any]) -> tuple[list[Any], list[Any]]:
        """Runs an agent whose model calls a tool once; what the model read in each request, and what is stored."""
        from google.adk.agents import LlmAgent
        from google.adk.apps import App
        from google.adk.models import BaseLlm, LlmResponse
        from google.adk.runners import Runner
        from google.adk.sessions import InMemorySessionService
        from google.genai import types

        def read_of(contents: list[Any]) -> list[Any]:
            parts = [part for content in contents for part in content.parts]
            made = [
                (part.text, part.function_call and part.function_call.name, part.function_response)
                for part in parts
            ]
            return [(text, call, result and (result.name, result.response)) for text, call, result in made]

        requests: list[Any] = []

        class Scripted(BaseLlm):
            model: str = "gemini-scripted"

            async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
                requests.append(read_of(llm_request.contents))
                is_begun = any(call for _, call, _ in requests[-1])
                call = types.FunctionCall(name="ask", args={"path": "a"})
                part = types.Part(text="noted") if is_begun else types.Part(function_call=call)
                yield LlmResponse(content=types.Content(role="model", parts=[part]))

        async def main() -> list[Any]:
            service = InMemorySessionService()
            await service.create_session(app_name="probe", user_id="u", session_id="s")
            agent = LlmAgent(name="reader", model=Scripted(), tools=[tool])
            runner = Runner(app=App(name="probe", root_agent=agent, plugins=plugins), session_service=service)
            ids: dict[str, str] = {}
            for name, answer in [("", {}), *answers, ("", {})]:
                part = types.Part(text="go on")
                if name:
                    response = types.FunctionResponse(id=ids[name], name=name, response=answer)
                    part = types.Part(function_response=response)
                message = types.Content(role="user", parts=[part])
                async for event in runner.run_async(user_id="u", session_id="s", new_message=message):
                    ids.update((call.name, call.id) for call in event.get_function_calls())
            session = await service.get_session(app_name="probe", user_id="u", session_id="s")
            return read_of([event.content for event in session.events if event.content])

        stored = asyncio.run(main())
        return requests, stored

    def same(self, tool: Any, answers: list[tuple[str, dict]]) -> list[Any]:
        """Checks that the plugin changes nothing, and returns the last request."""
        from seamline.google_adk import SeamlinePlugin

        alone = self.run(tool, answers, [])
        fixed = self.run(tool, answers, [SeamlinePlugin(on_failure="raise")])
        assert fixed == alone
        return fixed[0][-1]

    def test_the_result_of_a_long_running_tool_replaces_the_pending_one(self) -> None:
        from google.adk.tools import LongRunningFunctionTool

        def ask(path: str) -> dict:
            """Asks."""
            return {"status": "pending"}

        answers = [("ask", {"status": "half"}), ("ask", {"status": "approved"})]
        last = self.same(LongRunningFunctionTool(ask), answers)
        assert [result for _, _, result in last if result] == [("ask", {"status": "approved"})]

    def test_a_long_running_tool_without_a_result_stays_open(self) -> None:
        from google.adk.tools import LongRunningFunctionTool

        def ask(path: str) -> None:
            """Asks."""

        from seamline.google_adk import SeamlinePlugin

        _, stored = self.run(LongRunningFunctionTool(ask), [], [SeamlinePlugin()])
        assert not any(result for _, _, result in stored)

    @pytest.mark.parametrize("confirmed", [True, False])
    def test_the_result_of_a_confirmed_tool_replaces_the_question(self, confirmed: bool) -> None:
        from google.adk.tools import FunctionTool

        def ask(path: str) -> dict:
            """Asks."""
            return {"result": "real"}

        tool = FunctionTool(ask, require_confirmation=True)
        last = self.same(tool, [("adk_request_confirmation", {"confirmed": confirmed})])
        results = [result for _, _, result in last if result]
        assert len(results) == 1
        assert ("real" in str(results[0])) == confirmed

    def events(self, *parts: tuple[str, dict]) -> list[Any]:
        """Events with one part each, and an invocation for each event."""
        from google.adk.events import Event
        from google.genai import types

        contents = [types.Content(role=role, parts=[types.Part(**part)]) for role, part in parts]
        return [
            Event(author="reader", invocation_id=f"i{number}", content=content) for number, content in enumerate(contents)
        ]

    def call(self) -> tuple[str, dict]:
        from google.genai import types

        return "model", {"function_call": types.FunctionCall(id="c", name="read", args={})}

    def result(self, text: str) -> tuple[str, dict]:
        from google.genai import types

        return "user", {"function_response": types.FunctionResponse(id="c", name="read", response={"result": text})}

    def test_of_two_results_adk_sends_the_last_and_the_first_is_kept_as_text(self) -> None:
        from seamline.google_adk import SeamlinePlugin

        ask = ("user", {"text": "go"})
        events = self.events(ask, self.call(), self.result("first"), ask, self.result("last"), ask)
        new, _ = SeamlinePlugin()._answers(events, "now")
        assert [event.author for event in new] == ["user"]
        texts = "".join(part.text for part in new[0].content.parts)
        assert "first" in texts
        assert "last" not in texts
        assert SeamlinePlugin()._answers([*events, *new], "later") == ([], None)

    @pytest.mark.parametrize("asked", ["requested_tool_confirmations", "requested_auth_configs"])
    def test_the_response_of_a_call_that_asked_the_user_is_not_kept_as_text(self, asked: str) -> None:
        from google.adk.events import EventActions

        from seamline.google_adk import SeamlinePlugin

        ask = ("user", {"text": "go"})
        events = self.events(ask, self.call(), self.result("asks"), ask, self.result("real"), ask)
        events[2].actions = EventActions.model_construct(**{asked: {"c": None}})
        assert SeamlinePlugin()._answers(events, "now") == ([], None)

    def test_the_events_of_the_store_stay_as_they_are(self) -> None:
        from seamline.google_adk import SeamlinePlugin

        ask = ("user", {"text": "go"})
        stored = self.events(ask, self.call(), self.result("one"), ask, self.call(), self.result("two"), ask)
        before = [event.model_dump() for event in stored]
        events = list(stored)
        SeamlinePlugin()._answers(events, "now")
        assert [event.model_dump() for event in stored] == before
        ids = [one.id for event in events for one in event.get_function_calls()]
        assert ids == ["c", "c_2"]
        events = self.events(ask, self.call(), self.call(), ask)
        events[1].long_running_tool_ids = {"c"}
        assert SeamlinePlugin()._answers(events, "now") == ([], None)
        assert [one.id for event in events for one in event.get_function_calls()] == ["c", "c"]

    def test_calls_that_are_taken_back_or_still_to_be_made_get_no_answer(self) -> None:
        from google.adk.events import Event, EventActions

        from seamline.google_adk import SeamlinePlugin

        ask = ("user", {"text": "go"})
        events = self.events(ask, self.call(), ask)
        assert SeamlinePlugin()._answers(events, "i1") == ([], None)
        actions = EventActions(rewind_before_invocation_id="i1")
        rewound = [*events, Event(author="user", invocation_id="back", actions=actions), *self.events(ask)]
        assert SeamlinePlugin()._answers(rewound, "now") == ([], None)
        assert len(SeamlinePlugin()._answers(events, "now")[0]) == 1


class TestOpenAiAgents:
    """OpenAI Agents sends only new items where the server keeps the conversation."""

    @pytest.fixture(autouse=True)
    def _installed(self) -> None:
        pytest.importorskip("agents")

    @pytest.mark.parametrize(
        "options", [{"auto_previous_response_id": True}, {"conversation_id": "conv_1"}, {"previous_response_id": "resp_0"}]
    )
    def test_the_result_of_a_call_that_the_server_keeps_stays_a_result(self, options: dict) -> None:
        import agents
        from agents import Agent, ModelResponse, RunConfig, Runner, Usage, function_tool
        from agents.models.interface import Model
        from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

        from seamline.openai_agents import repair_input

        agents.set_tracing_disabled(True)
        inputs: list[Any] = []

        @function_tool
        def read(path: str) -> str:
            """Reads."""
            return "real"

        class Scripted(Model):
            async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> Any:
                inputs.append(input)
                call = ResponseFunctionToolCall(type="function_call", call_id="c", name="read", arguments='{"path":"a"}')
                text = ResponseOutputText(type="output_text", text="done", annotations=[])
                said = ResponseOutputMessage(
                    id="msg_1", type="message", role="assistant", status="completed", content=[text]
                )
                output = [call] if len(inputs) == 1 else [said]
                return ModelResponse(output=output, usage=Usage(), response_id=f"resp_{len(inputs)}")

            def stream_response(self, *_: Any, **__: Any) -> Any:
                raise NotImplementedError

        def sent(config: RunConfig) -> list[Any]:
            inputs.clear()
            agent = Agent(name="reader", tools=[read], model=Scripted())
            result = asyncio.run(Runner.run(agent, "read it", run_config=config, **options))
            assert result.final_output == "done"
            return [list(one) for one in inputs]

        alone = sent(RunConfig())
        assert [one["type"] for one in alone[1]] == ["function_call_output"]
        assert sent(RunConfig(call_model_input_filter=repair_input)) == alone

    def repaired(self, items: list[Any], model: Any = None, **options: Any) -> list[Any]:
        from agents.run import CallModelData, ModelInputData

        from seamline.openai_agents import repair_input

        given = ModelInputData(input=items, instructions=None)
        data = CallModelData(model_data=given, agent=SimpleNamespace(model=model), context=None)
        return repair_input(data, on_failure="raise", **options).input

    def test_a_list_with_items_of_the_model_is_the_whole_conversation(self) -> None:
        ask = {"role": "user", "content": "go"}
        said = {"role": "assistant", "content": "I read it."}
        orphan = {"type": "function_call_output", "call_id": "c", "output": "real"}
        part = [orphan, ask]
        assert self.repaired(part) is part
        assert not any(one.get("type") for one in self.repaired(part, server_managed=False))
        whole = [ask, said, orphan, ask]
        assert not any(one.get("type") for one in self.repaired(whole))
        assert "real" in json.dumps(self.repaired(whole))
        assert self.repaired(whole, server_managed=True) is whole

    def test_a_text_between_two_calls_of_a_turn_stays_there(self) -> None:
        from agents import OpenAIChatCompletionsModel

        def call(id: str) -> dict:
            return {"type": "function_call", "call_id": id, "name": "read", "arguments": "{}"}

        def result(id: str) -> dict:
            return {"type": "function_call_output", "call_id": id, "output": "real"}

        said = {"role": "assistant", "content": "And b."}
        items = [{"role": "user", "content": "go"}, call("a"), said, call("b"), result("a"), result("b")]
        assert self.repaired(items) is items
        chat = OpenAIChatCompletionsModel(model="gpt-5", openai_client=SimpleNamespace())
        order = [one.get("call_id") for one in self.repaired(items, chat)]
        assert order == [None, "a", "a", None, "b", "b"]


class TestLiteLlm:
    """LiteLLM."""

    @pytest.fixture(autouse=True)
    def _installed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        pytest.importorskip("litellm")

    def repaired(self, call_type: str, data: dict) -> dict:
        from seamline.litellm import SeamlineCallback

        callback = SeamlineCallback(on_failure="raise")
        return asyncio.run(callback.async_pre_call_hook(None, None, data, call_type))

    @pytest.mark.parametrize("call_type", ["aresponses", "responses"])
    @pytest.mark.parametrize("kept", [{"previous_response_id": "resp_1"}, {"conversation": "conv_1"}])
    def test_a_result_whose_call_the_provider_keeps_stays_a_result(self, call_type: str, kept: dict) -> None:
        result = {"type": "function_call_output", "call_id": "c", "output": "real"}
        data = {"model": "openai/gpt-5", "input": [result], **kept}
        assert self.repaired(call_type, data) is data
        broken = {**data, "input": [{"role": "user", "content": "a \ud83d"}, result]}
        assert self.repaired(call_type, broken) == {**broken, "input": [{"role": "user", "content": "a \ufffd"}, result]}

    def test_each_type_of_call_is_repaired(self) -> None:
        ask, on = {"role": "user", "content": "go"}, {"role": "user", "content": "on"}
        function = {"name": "read", "arguments": "{}"}
        chat = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": function}]}
        block = {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "read", "input": {}}]}
        item = {"type": "function_call", "call_id": "c", "name": "read", "arguments": "{}"}
        for call_type, member, history, answered in (
            ("acompletion", "messages", [ask, chat, on], '"role": "tool"'),
            ("completion", "messages", [ask, chat, on], '"role": "tool"'),
            ("anthropic_messages", "messages", [ask, block, on], '"type": "tool_result"'),
            ("aresponses", "input", [ask, item, on], '"type": "function_call_output"'),
            ("responses", "input", [ask, item, on], '"type": "function_call_output"'),
        ):
            data = {"model": "openai/gpt-5", member: history, "metadata": {"k": 1}}
            made = self.repaired(call_type, data)
            assert answered in json.dumps(made[member])
            assert {**made, member: history} == data
            assert self.repaired(call_type, made) is made
        data = {"model": "openai/gpt-5", "input": ["a text"]}
        assert self.repaired("aembedding", data) is data

    def test_another_server_has_no_limits_of_openai(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
            monkeypatch.delenv(name, raising=False)
        function = {"name": "read", "arguments": "{}"}
        call = {"role": "assistant", "content": None, "tool_calls": [{"id": LONG, "type": "function", "function": function}]}
        messages = [{"role": "user", "content": "go"}, call, {"role": "tool", "tool_call_id": LONG, "content": "x"}]

        def is_kept(model: str, **more: Any) -> bool:
            data = {"model": model, "messages": messages, **more}
            return self.repaired("acompletion", data) is data

        assert is_kept("openai/Qwen/Qwen3-32B", api_base="http://localhost:8000/v1")
        assert is_kept("openai/Qwen/Qwen3-32B")
        assert is_kept("hosted_vllm/Qwen/Qwen3-32B")
        assert is_kept("an-alias")
        assert not is_kept("openai/gpt-5")
        assert not is_kept("gpt-5", api_base="https://api.openai.com/v1")
        assert not is_kept("azure/gpt-5")
        monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:8000/v1")
        assert is_kept("openai/gpt-oss-120b")


class TestPydanticAi:
    """pydantic-ai."""

    @pytest.fixture(autouse=True)
    def _installed(self) -> None:
        pytest.importorskip("pydantic_ai")

    @pytest.mark.parametrize("prompt", [None, "and be quick"])
    def test_an_approved_tool_runs_with_a_prompt_and_without(self, prompt: str | None) -> None:
        from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults
        from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
        from pydantic_ai.models.function import FunctionModel

        from seamline.pydantic_ai import SeamlineHistory

        def answer(messages: list[Any], _: Any) -> Any:
            parts = [part for message in messages for part in message.parts]
            is_done = any(isinstance(part, ToolReturnPart) for part in parts)
            return ModelResponse(parts=[TextPart("done") if is_done else ToolCallPart("wipe", {}, tool_call_id="c")])

        agent = Agent(FunctionModel(answer), output_type=[str, DeferredToolRequests], capabilities=[SeamlineHistory()])

        @agent.tool_plain(requires_approval=True)
        def wipe() -> str:
            """Wipes."""
            return "wiped"

        history = agent.run_sync("wipe a").all_messages()
        approved = DeferredToolResults(approvals={"c": True})
        result = agent.run_sync(prompt, message_history=history, deferred_tool_results=approved)
        returned = [part for message in result.all_messages() for part in message.parts if isinstance(part, ToolReturnPart)]
        assert [part.content for part in returned] == ["wiped"]
        assert result.output == "done"

    def test_another_server_has_no_limits_of_openai(self) -> None:
        from pydantic_ai import messages as parts
        from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
        from pydantic_ai.models.wrapper import WrapperModel
        from pydantic_ai.providers.openai import OpenAIProvider

        from seamline.pydantic_ai import SeamlineHistory

        given = [
            parts.ModelRequest(parts=[parts.UserPromptPart("hi")]),
            parts.ModelResponse(parts=[parts.ToolCallPart("read", {}, tool_call_id=LONG)]),
            parts.ModelRequest(parts=[parts.ToolReturnPart("read", "x", tool_call_id=LONG)]),
        ]

        def is_kept(model: Any) -> bool:
            return SeamlineHistory(on_failure="raise")._repaired(given, model) is given

        openai = OpenAIProvider(base_url="https://api.openai.com/v1", api_key="x")
        vllm = OpenAIProvider(base_url="http://localhost:8000/v1", api_key="x")
        assert not is_kept(OpenAIChatModel("gpt-5", provider=openai))
        assert not is_kept(WrapperModel(OpenAIChatModel("gpt-5", provider=openai)))
        assert is_kept(OpenAIChatModel("Qwen/Qwen3-32B", provider=vllm))
        assert is_kept(WrapperModel(OpenAIChatModel("Qwen/Qwen3-32B", provider=vllm)))
        assert is_kept(OpenAIResponsesModel("gpt-5", provider=openai))


class TestLangChain:
    """LangChain."""

    @pytest.fixture(autouse=True)
    def _installed(self) -> None:
        pytest.importorskip("langchain_openai")

    def history(self) -> list[Any]:
        from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

        turn = AIMessage("", tool_calls=[{"name": "read", "args": {}, "id": LONG}])
        return [HumanMessage("go"), turn, ToolMessage("x", tool_call_id=LONG), HumanMessage("on")]

    def test_another_server_has_no_limits_of_openai(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from langchain_openai import AzureChatOpenAI, ChatOpenAI

        from seamline.langchain import SeamlineMiddleware

        given = self.history()

        def is_kept(model: Any) -> bool:
            request = SimpleNamespace(messages=given, model=model)
            request.override = lambda messages: SimpleNamespace(messages=messages)
            middleware = SeamlineMiddleware(on_failure="raise")
            return middleware.wrap_model_call(request, lambda made: made.messages) is given

        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        assert not is_kept(ChatOpenAI(model="gpt-5", api_key="x"))
        assert not is_kept(ChatOpenAI(model="gpt-5", api_key="x", base_url="https://api.openai.com/v1"))
        assert is_kept(ChatOpenAI(model="Qwen/Qwen3-32B", api_key="x", base_url="http://localhost:8000/v1"))
        assert is_kept(ChatOpenAI(model="gpt-5", api_key="x", use_responses_api=True))
        assert is_kept(ChatOpenAI(model="gpt-5", api_key="x", output_version="responses/v1"))
        azure = {"azure_endpoint": "https://me.openai.azure.com", "api_version": "2025-01-01", "api_key": "x"}
        assert not is_kept(AzureChatOpenAI(azure_deployment="gpt-5", **azure))
        monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:8000/v1")
        assert is_kept(ChatOpenAI(model="Qwen/Qwen3-32B", api_key="x"))

    def test_a_state_gets_only_what_every_provider_demands(self) -> None:
        from seamline.langchain import SeamlineMiddleware

        given = self.history()
        assert SeamlineMiddleware(persist=True).before_agent({"messages": given}, None) is None
        assert SeamlineMiddleware(persist=True, provider="openai").before_agent({"messages": given}, None) is not None
        made = SeamlineMiddleware(persist=True).before_agent({"messages": [*given[:2], given[3]]}, None)
        assert [type(one).__name__ for one in made["messages"][1:]] == [type(one).__name__ for one in given]

    @pytest.mark.parametrize("provider", [None, "openai", "xai", "anthropic", "openai-compatible"])
    def test_a_refusal_is_content(self, provider: str | None) -> None:
        from langchain_core.messages import AIMessage, HumanMessage

        from seamline.langchain import repair_messages

        refusal = AIMessage("", additional_kwargs={"refusal": "I will not."})
        given = [HumanMessage("go"), refusal, HumanMessage("why?")]
        assert repair_messages(given, provider=provider, on_failure="raise") is given

    def test_a_refusal_becomes_text_where_the_provider_takes_no_other(self) -> None:
        from langchain_core.messages import AIMessage, HumanMessage

        from seamline.langchain import repair_messages

        refusal = AIMessage("", additional_kwargs={"refusal": "I will not.", "mood": "good"})
        _, made, _ = repair_messages([HumanMessage("go"), refusal, HumanMessage("why?")], provider="groq")
        assert (made.content, made.additional_kwargs) == ("I will not.", {"mood": "good"})

    @pytest.mark.parametrize("provider", [None, "openai", "xai", "anthropic", "groq", "cohere"])
    def test_a_call_of_the_old_kind_is_content(self, provider: str | None) -> None:
        from langchain_core.messages import AIMessage, FunctionMessage, HumanMessage

        from seamline.langchain import repair_messages

        turn = AIMessage("", additional_kwargs={"function_call": {"name": "read", "arguments": "{}"}})
        given = [HumanMessage("go"), turn, FunctionMessage("real", name="read"), AIMessage("I see."), HumanMessage("on")]
        assert repair_messages(given, provider=provider, on_failure="raise") is given

    def test_a_call_of_the_old_kind_stays_beside_a_repair(self) -> None:
        from langchain_core.messages import AIMessage, HumanMessage

        from seamline.langchain import repair_messages

        turn = AIMessage("", additional_kwargs={"function_call": {"name": "read", "arguments": "{}"}})
        given = [HumanMessage("go"), turn, AIMessage("I see."), HumanMessage("on")]
        made = repair_messages(given, provider="mistral", on_failure="raise")
        assert "seamline" not in str(made)
        assert turn.additional_kwargs in [getattr(one, "additional_kwargs", None) for one in made]
        assert "I see." in str(made)
