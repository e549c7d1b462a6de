"""The shared corpus: every case gives byte for byte what the Rust library gives."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import CORPUS, case_of, described

import seamline


def folders(name: str, file: str) -> list[Path]:
    found = sorted(path.parent for path in (CORPUS / name).rglob(file))
    assert found, f"there are no cases in {name}"
    return found


def named(folder: Path) -> str:
    return str(folder.relative_to(CORPUS))


def options(folder: Path) -> dict:
    case = case_of(folder)
    return {"dialect": case["dialect"], "provider": case["provider"], "policy": case["policy"]}


BODIES = folders("rules", "case.toml") + folders("presets", "case.toml")


@pytest.mark.parametrize("folder", BODIES, ids=named)
def test_a_case_gives_its_expected_output(folder: Path) -> None:
    body = (folder / "input.json").read_bytes()
    repaired = seamline.repair(body, **options(folder))
    checked = seamline.check(body, **options(folder))
    assert described(checked.findings) == (folder / "findings.snap").read_text()
    assert repaired.findings == checked.findings
    expected = folder / "repaired.json"
    if expected.exists():
        assert repaired.changed
        assert repaired.body == expected.read_bytes()
    else:
        assert not repaired.changed
        assert repaired.body is body


@pytest.mark.parametrize("folder", BODIES, ids=named)
def test_objects_give_the_outcome_of_bytes(folder: Path) -> None:
    body = (folder / "input.json").read_bytes()
    try:
        given = json.loads(body)
    except ValueError:
        pytest.skip("Python cannot read the body")
    if not isinstance(given, (dict, list)):
        pytest.skip("the body is not an object")
    compact = json.dumps(given, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
    try:
        compact.decode()
    except UnicodeDecodeError:
        compact = json.dumps(given, separators=(",", ":")).encode()
    of_bytes = seamline.repair(compact, **options(folder))
    of_objects = seamline.repair(given, **options(folder))
    assert of_objects.report["found"] == of_bytes.report["found"]
    assert of_objects.changed == of_bytes.changed
    assert of_objects.body == json.loads(of_bytes.body)
    if not of_objects.changed:
        assert of_objects.body is given


@pytest.mark.parametrize("folder", folders("dialects", "input.json"), ids=named)
def test_a_document_is_detected_as_its_dialect(folder: Path) -> None:
    read = (folder / "transcript.snap").read_text()
    found = re.match(r"detected as (\w+); messages: (\d+), calls: (\d+)", read)
    body = (folder / "input.json").read_bytes()
    if not found:
        pytest.skip("the dialect of the document cannot be detected")
    checked = seamline.check(body)
    assert (checked.dialect, checked.message_count, checked.call_count) == (
        found[1],
        int(found[2]),
        int(found[3]),
    )


def debugged(text: str) -> str:
    """A text as Rust shows it for debugging."""
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}
    return '"' + "".join(escapes.get(one, one if one.isprintable() else f"\\u{{{ord(one):x}}}") for one in text) + '"'


def of_response(response: seamline.Response, by_itself: str) -> str:
    """A response as the corpus writes it, up to its message."""
    report = response.report
    cut = f", cut by {report['cut']}" if report["cut"] else ""
    lines = [
        f"dialect: {response.dialect} (by itself: {by_itself})",
        f"ending: {response.ending}{cut}",
        f"stop reason: {response.stop_reason or 'none'}",
    ]
    lines += [f"block: {block['kind']} {debugged(block['text'])}" for block in report["blocks"]]
    for call in response.calls:
        fate = "may be run" if call["why_not"] is None else f"not to be run: {call['why_not']}"
        lines.append(f"call: `{call['id']}` {call['name']} {call['arguments']} ({fate})")
    for finding in response.findings:
        about = f" `{finding.call_id}`" if finding.call_id else ""
        lines.append(f"found: {finding.code} {finding.name}{about}")
    if response.error:
        lines.append(f"error: {response.error['class']} {response.error['name']}: {response.error['text']}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("folder", folders("streams", "case.toml"), ids=named)
@pytest.mark.parametrize("size", [1 << 30, 31], ids=["whole", "pieces"])
def test_a_stream_gives_its_expected_response(folder: Path, size: int) -> None:
    case = case_of(folder)
    policy = {"arg_source": case["arg_source"]} if "arg_source" in case else None
    stream = seamline.ResponseStream(folder.parent.name, framing=case.get("framing"), policy=policy)
    body = (folder / "input.bin").read_bytes()
    for start in range(0, len(body), size):
        stream.feed(body[start : start + size])
    response = stream.finish()
    expected, _, message = (folder / "assembled.snap").read_text().partition("message: ")
    by_itself = re.search(r"by itself: (.*)\)\n", expected)[1]
    assert of_response(response, by_itself) == expected
    assert json.dumps(response.message) == json.dumps(json.loads(message))


def of_conversion(converted: seamline.Converted) -> str:
    """A conversion as the corpus writes it."""
    lines = [f"repaired {action.code} {action.pointer or '-'} {action.action}" for action in converted.repairs]
    for lost in converted.lost:
        lines.append(f"{lost['fate']} {lost['pointer'] or '-'} {lost['what']}: {lost['note']}")
    for renamed in converted.report["ids"] + converted.report["tools"]:
        lines.append(f"renamed {renamed['from']} {renamed['to']}")
    lines += [f"adjusted {action.code} {action.action}" for action in converted.adjustments]
    lines += [f"remains {finding.code} {finding.message}" for finding in converted.remaining]
    return "".join(line + "\n" for line in lines)


@pytest.mark.parametrize("folder", folders("convert", "converted.json"), ids=named)
def test_a_conversion_gives_its_expected_output(folder: Path) -> None:
    source, target = folder.name.split("-")
    body = (CORPUS / "convert" / f"{source}.json").read_bytes()
    converted = seamline.convert(body, target, source=source)
    assert converted.body + b"\n" == (folder / "converted.json").read_bytes()
    assert of_conversion(converted) == (folder / "report.snap").read_text()

