// Real frameworks with damaged histories against the fake provider: alone they fail, with one line they do not.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";

const PROVIDER = process.env.SEAMLINE_PROVIDER;

/** Starts the fake provider and gives its URL. */
async function provider(context) {
  const child = spawn(PROVIDER, ["0"], { stdio: ["ignore", "pipe", "ignore"] });
  context.after(() => child.kill());
  const [first] = await Promise.race([
    new Promise((resolve) => createInterface({ input: child.stdout }).once("line", (line) => resolve([line]))),
    new Promise((_, reject) => child.once("error", reject)),
  ]);
  return first.split(" ").at(-1);
}

test("every framework fails alone where its table says so, and is accepted with seamline", { skip: PROVIDER ? false : "SEAMLINE_PROVIDER is not set" }, async (context) => {
  const url = await provider(context);
  const { code, stdout } = await new Promise((resolve) => {
    execFile(process.execPath, [path.join(import.meta.dirname, "frameworks.mjs"), url], { timeout: 120_000 }, (error, out) => resolve({ code: error?.code ?? 0, stdout: out }));
  });
  context.diagnostic(stdout);
  assert.equal(code, 0, stdout);
  const rows = stdout.split("\n").filter((line) => /accepted(   WRONG)?$/.test(line));
  assert.equal(rows.length, 6 * 8 + 5, "six lanes with eight damages, and middleware with five");
});
