// Every runnable block of the documentation runs, and each framework's line is one that the framework tests use.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

const ROOT = process.env.SEAMLINE_ROOT;
const blocks = (text, language) => [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, "gm"))].map(([, code]) => code);

for (const page of ["docs/node.md", "crates/seamline-node/README.md"]) {
  const text = fs.readFileSync(path.join(ROOT, page), "utf8");
  blocks(text, "js").forEach((code, index) => {
    test(`${page}: block ${index + 1} runs`, async (context) => {
      const failed = [];
      context.mock.method(console, "assert", (isTrue, why) => isTrue || failed.push(why ?? "an assertion"));
      context.mock.method(console, "log", () => {});
      const file = path.join(import.meta.dirname, `block-${path.basename(page)}-${index}.mjs`);
      fs.writeFileSync(file, code);
      try {
        await import(file);
      } finally {
        fs.rmSync(file);
      }
      assert.deepEqual(failed, []);
    });
  });
}

test("the lines of frameworks are those that run against the frameworks", () => {
  const page = fs.readFileSync(path.join(ROOT, "docs/node.md"), "utf8");
  const script = fs.readFileSync(path.join(ROOT, "crates/xtask/clients/frameworks.mjs"), "utf8");
  for (const line of ["prepareStep: repairStep()", "callModelInputFilter: repairInput()", "middleware: [seamlineMiddleware()]"]) {
    assert.ok(page.includes(line) && script.includes(line), line);
  }
});
