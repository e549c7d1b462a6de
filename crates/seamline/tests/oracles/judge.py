"""Reads one request body a line and answers with one line each: null, or why it is refused.

Usage: judge.py mistral|converse|langgraph < bodies.jsonl
"""

import json
import sys


def mistral():
    """The generations of Mistral's own validator that take text beside calls, as its servers run them."""
    from mistral_common.protocol.instruct.request import ChatCompletionRequest
    from mistral_common.protocol.instruct.validator import (
        MistralRequestValidatorV5,
        MistralRequestValidatorV13,
        ValidationMode,
    )

    generations = (MistralRequestValidatorV5, MistralRequestValidatorV13)
    validators = [generation(mode=ValidationMode.serving) for generation in generations]

    def judge(body):
        for validator in validators:
            request = ChatCompletionRequest.from_openai(messages=body["messages"], model=body.get("model", "m"))
            # The reader of OpenAI's form does not know the member, which the server takes.
            for read, message in zip(request.messages, body["messages"], strict=True):
                if "prefix" in message:
                    read.prefix = message["prefix"]
            validator.validate_request(request)

    return judge


def converse():
    """The check of parameters that botocore makes before it calls Bedrock."""
    import botocore.session
    from botocore.validate import ParamValidator

    model = botocore.session.get_session().get_service_model("bedrock-runtime")
    shape = model.operation_model("Converse").input_shape
    validator = ParamValidator()

    def judge(body):
        report = validator.validate({"modelId": "m", **body}, shape)
        if report.has_errors():
            raise ValueError(report.generate_report())

    return judge


def langgraph():
    """The demands of LangGraph's agent on a history before it calls a model.

    It looks at calls and results, not at arguments; those are emptied, since its own reader
    refuses some that OpenAI takes.
    """
    from langchain_core.messages import convert_to_messages
    from langgraph.prebuilt.chat_agent_executor import _validate_chat_history

    def judge(body):
        messages = [{"content": "", **message} for message in body["messages"]]
        for message in messages:
            for call in message.get("tool_calls") or []:
                if "function" in call:
                    call["function"]["arguments"] = "{}"
        _validate_chat_history(convert_to_messages(messages))

    return judge


JUDGES = {"mistral": mistral, "converse": converse, "langgraph": langgraph}


def main():
    judge = JUDGES[sys.argv[1]]()
    for line in sys.stdin:
        try:
            judge(json.loads(line))
            verdict = None
        except Exception as error:  # whatever it is, it is a refusal
            verdict = f"{type(error).__name__}: {error}"[:500]
        print(json.dumps(verdict))


if __name__ == "__main__":
    main()
