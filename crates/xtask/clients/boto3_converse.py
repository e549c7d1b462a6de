"""Histories of Bedrock Converse with boto3: python boto3_converse.py URL CASE."""

import subprocess
import sys

import boto3
from botocore.config import Config

URL, CASE = sys.argv[1:]
CLIENT = boto3.client(
    "bedrock-runtime",
    endpoint_url=f"{URL}/bedrock",
    region_name="us-east-1",
    aws_access_key_id="dummy",
    aws_secret_access_key="dummy",
    config=Config(retries={"total_max_attempts": 1}),
)
SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
TOOLS = {"tools": [{"toolSpec": {"name": "run_shell_command", "inputSchema": {"json": SCHEMA}}}]}
MODEL = "anthropic.claude-3-5-sonnet-20241022-v2:0"


def shell(command):
    return subprocess.run(command, shell=True, capture_output=True, text=True).stdout


def result(call_id, text):
    return {"toolResult": {"toolUseId": call_id, "content": [{"text": text}]}}


def ask(messages):
    return CLIENT.converse(modelId=MODEL, messages=messages, toolConfig=TOOLS)["output"]["message"]


def turn():
    messages = [{"role": "user", "content": [{"text": "run the probe"}]}]
    said = ask(messages)
    calls = [block["toolUse"] for block in said["content"] if "toolUse" in block]
    results = [result(call["toolUseId"], shell(**call["input"])) for call in calls]
    messages += [said, {"role": "user", "content": results}]
    events = CLIENT.converse_stream(modelId=MODEL, messages=messages, toolConfig=TOOLS)["stream"]
    deltas = [event["contentBlockDelta"]["delta"] for event in events if "contentBlockDelta" in event]
    return "".join(delta.get("text", "") for delta in deltas)


ASKED = {"role": "user", "content": [{"text": "run the probe"}]}
CALL = {"toolUse": {"toolUseId": "tooluse_1", "name": "run_shell_command", "input": {"command": "true"}}}
CALLED = {"role": "assistant", "content": [CALL]}
SAID = {"role": "assistant", "content": [{"text": "I ran it."}]}
RESULT = {"role": "user", "content": [result("tooluse_1", "probe-output-4711")]}
GO_ON = {"role": "user", "content": [{"text": "go on"}]}

CASES = {
    "turn": turn,
    "missing": lambda: ask([ASKED, CALLED, GO_ON])["content"],
    "orphan": lambda: ask([ASKED, SAID, RESULT, SAID, GO_ON])["content"],
}
print(CASES[CASE]())
