// The shared fixtures give the outcomes that the library in Rust gives, byte for byte.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { ResponseStream, check, convert, repair } from "seamline";

const FIXTURES = process.env.SEAMLINE_FIXTURES ?? path.join(import.meta.dirname, "../../../fixtures");

function folders(root, depth) {
  if (depth === 0) return [root];
  const inner = fs.readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return inner.map((entry) => entry.name).sort().flatMap((name) => folders(path.join(root, name), depth - 1));
}

const read = (...names) => fs.readFileSync(path.join(...names));
const optional = (...names) => (fs.existsSync(path.join(...names)) ? read(...names) : undefined);

/** The flat `key = "value"` lines before the first table, and the text of the table `[policy]`. */
function caseFile(folder) {
  const text = read(folder, "case.toml").toString();
  const [head, table] = text.split("[policy]\n");
  const keys = {};
  for (const line of head.split(/^\[/m)[0].split("\n")) {
    const found = /^(\w+) = "(.*)"$/.exec(line);
    if (found) keys[found[1]] = found[2];
  }
  return { ...keys, ...(table ? { policy: table.replaceAll("[policy.", "[") } : {}) };
}

function described(findings) {
  if (findings.length === 0) return "no findings\n";
  let out = "";
  for (const { code, name, severity, pointer, message, predicts, fix } of findings) {
    out += `${`${code} ${name} ${severity} ${pointer}`.trimEnd()}\n  message: ${message}\n`;
    if (predicts) out += `  predicts: ${predicts}\n`;
    if (fix) out += `  fix: ${fix.safety}, ${fix.title}\n`;
  }
  return out;
}

function runs(folder) {
  const { dialect, provider, policy } = caseFile(folder);
  const options = { dialect, provider, policy };
  const input = read(folder, "input.json");
  const checked = check(input, options);
  const repaired = repair(input, options);
  assert.deepEqual(repaired.findings, checked.findings, folder);
  assert.equal(described(checked.findings), read(folder, "findings.snap").toString(), folder);
  const expected = optional(folder, "repaired.json");
  assert.equal(repaired.changed, expected !== undefined, folder);
  if (expected) assert.ok(expected.equals(repaired.body), folder);
  else assert.equal(repaired.body, input, `${folder}: the same object`);
}

test("every case of a rule", () => {
  const cases = folders(path.join(FIXTURES, "rules"), 3);
  assert.ok(cases.length > 500);
  for (const folder of cases) runs(folder);
});

test("every case of a source document", () => {
  const cases = folders(path.join(FIXTURES, "presets"), 2);
  assert.ok(cases.length > 100);
  for (const folder of cases) runs(folder);
});

test("every document of a dialect", () => {
  const cases = folders(path.join(FIXTURES, "dialects"), 2);
  assert.ok(cases.length > 30);
  for (const folder of cases) {
    const input = read(folder, "input.json");
    const detected = check(input).dialect;
    const checked = check(input, { dialect: path.basename(path.dirname(folder)) });
    const lines = read(folder, "transcript.snap").toString().split("\n");
    assert.equal(lines[0], `detected as ${detected}; messages: ${checked.messages}, calls: ${checked.calls}`, folder);
    const found = checked.findings.map(({ code, name, pointer }) => `found ${code} ${name} ${pointer}`.trimEnd());
    assert.deepEqual(lines.filter((line) => line.startsWith("found ")), found, folder);
  }
});

test("every conversion", () => {
  const root = path.join(FIXTURES, "convert");
  const pairs = folders(root, 1).map((folder) => path.basename(folder));
  assert.equal(pairs.length, 30);
  for (const pair of pairs) {
    const [from, to] = pair.split("-");
    const converted = convert(read(root, `${from}.json`), { from, to });
    assert.equal(`${converted.body}\n`, read(root, pair, "converted.json").toString(), pair);
    assert.equal(reported(converted), read(root, pair, "report.snap").toString(), pair);
  }
});

/** A conversion as the corpus writes it. */
function reported({ repairs, lost, ids, tools, adjustments, remaining }) {
  const lines = [
    ...repairs.map(({ code, pointer, action }) => `repaired ${code} ${pointer || "-"} ${action}`),
    ...lost.map(({ fate, pointer, what, note }) => `${fate} ${pointer || "-"} ${what}: ${note}`),
    ...[...ids, ...tools].map(({ from, to }) => `renamed ${from} ${to}`),
    ...adjustments.map(({ code, action }) => `adjusted ${code} ${action}`),
    ...remaining.map(({ code, message }) => `remains ${code} ${message}`),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

const assembled = (options, pieces) => {
  const stream = new ResponseStream(options);
  for (const piece of pieces) stream.feed(piece);
  return stream.finish();
};

/** A text as Rust shows it for debugging. */
function debugged(text) {
  const escapes = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0" };
  const isShown = (one) => one === " " || !/[\p{C}\p{Z}]/u.test(one);
  return `"${[...text].map((one) => escapes[one] ?? (isShown(one) ? one : `\\u{${one.codePointAt(0).toString(16)}}`)).join("")}"`;
}

/** A response as the corpus writes it, up to its message. */
function written(response, byItself) {
  const lines = [
    `dialect: ${response.dialect} (by itself: ${byItself})`,
    `ending: ${response.ending}${response.cut ? `, cut by ${response.cut}` : ""}`,
    `stop reason: ${response.stop_reason ?? "none"}`,
    ...response.blocks.map(({ kind, text }) => `block: ${kind} ${debugged(text)}`),
  ];
  for (const { id, name, arguments: input, why_not } of response.calls) {
    lines.push(`call: \`${id}\` ${name} ${input} (${why_not ? `not to be run: ${why_not}` : "may be run"})`);
  }
  for (const { code, name, call_id } of response.findings) {
    lines.push(`found: ${code} ${name}${call_id ? ` \`${call_id}\`` : ""}`);
  }
  if (response.error) lines.push(`error: ${response.error.class} ${response.error.name}: ${response.error.text}`);
  return `${lines.join("\n")}\n`;
}

test("every stream, whole and cut", () => {
  const cases = folders(path.join(FIXTURES, "streams"), 2);
  assert.ok(cases.length > 200);
  for (const folder of cases) {
    const { framing, arg_source } = caseFile(folder);
    const dialect = path.basename(path.dirname(folder));
    const policy = arg_source ? { stream: { arg_source } } : undefined;
    const options = { dialect, ...(framing ? { framing } : {}), ...(policy ? { policy } : {}) };
    const input = read(folder, "input.bin");
    const whole = assembled(options, [input]);
    const snap = read(folder, "assembled.snap").toString();
    const at = snap.indexOf("message: ");
    const [, byItself] = /by itself: (.*)\)\n/.exec(snap);
    assert.equal(written(whole, byItself), snap.slice(0, at), folder);
    assert.equal(JSON.stringify(whole.message), JSON.stringify(JSON.parse(snap.slice(at + "message: ".length))), folder);
    const middle = Math.floor(input.length / 3);
    const cut = assembled(options, [input.subarray(0, middle), input.subarray(middle, middle + 1), input.subarray(middle + 1)]);
    assert.deepEqual(cut, whole, folder);
  }
});
