// The package as npm ships it.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";

const MODULES = path.join(import.meta.dirname, "../node_modules");
const FOLDER = path.join(MODULES, "seamline");
const manifest = JSON.parse(fs.readFileSync(path.join(FOLDER, "package.json")));
const require = createRequire(import.meta.url);

test("the versions are those of the workspace", () => {
  const cargo = fs.readFileSync(path.join(process.env.SEAMLINE_ROOT, "Cargo.toml")).toString();
  const [, version] = /^\[workspace\.package\][^[]*?^version = "(.+?)"/ms.exec(cargo);
  assert.equal(manifest.version, version);
  assert.deepEqual(new Set(Object.values(manifest.optionalDependencies)), new Set([version]));
});

test("the packages of platforms are those that a release builds", () => {
  const workflow = fs.readFileSync(path.join(process.env.SEAMLINE_ROOT, ".github/workflows/release.yml")).toString();
  const [, runners] = /^ +os: \[(.+)\]$/m.exec(workflow);
  const platforms = { "ubuntu-24.04": "linux-x64-gnu", "ubuntu-24.04-arm": "linux-arm64-gnu", "macos-15": "darwin-arm64", "macos-15-intel": "darwin-x64" };
  const built = runners.split(", ").map((runner) => `@seamline/${platforms[runner]}`);
  assert.deepEqual(Object.keys(manifest.optionalDependencies).sort(), built.sort());
});

test("npm packs every file that the package loads, and the licences", () => {
  const [{ files }] = JSON.parse(execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: FOLDER, stdio: ["ignore", "pipe", "ignore"] }));
  const packed = new Set(files.map((file) => file.path));
  const named = Object.values(manifest.exports).flatMap((entry) => (typeof entry === "string" ? [entry] : Object.values(entry).flatMap(Object.values)));
  const wanted = [...named, ...Object.values(manifest.bin), manifest.main, manifest.types].map((name) => path.normalize(name));
  const shipped = ["lib", "types"].flatMap((folder) => fs.readdirSync(path.join(FOLDER, folder)).map((name) => `${folder}/${name}`));
  for (const name of [...wanted, ...shipped, "LICENSE-APACHE", "LICENSE-MIT", "README.md"]) assert.ok(packed.has(name), name);
});

test("both forms of each entry export the same names, and have types of their own", async () => {
  for (const [entry, { import: module, require: script }] of Object.entries(manifest.exports).filter(([, value]) => typeof value !== "string")) {
    const name = path.posix.join("seamline", entry);
    assert.deepEqual(Object.keys(await import(name)).sort(), Object.keys(require(name)).sort(), name);
    assert.ok(module.types.endsWith(".d.mts") && script.types.endsWith(".d.ts"), name);
    const types = fs.readFileSync(path.join(FOLDER, script.types)).toString();
    for (const known of Object.keys(require(name))) assert.match(types, new RegExp(`export (declare )?(function|class|const) ${known}\\b`), `${name}: ${known}`);
  }
});

test("frameworks are peers that need not be installed", () => {
  assert.deepEqual(Object.keys(manifest.peerDependencies), Object.keys(manifest.peerDependenciesMeta));
  assert.ok(Object.values(manifest.peerDependenciesMeta).every(({ optional }) => optional));
  const sources = fs.readdirSync(path.join(FOLDER, "lib")).map((name) => fs.readFileSync(path.join(FOLDER, "lib", name)).toString()).join("\n");
  const loaded = [...sources.matchAll(/(?:from|require\(|import\() ?"((?:@[^/"]+\/)?[^./"@:][^/":]*)["/]/g)].map(([, name]) => name);
  // Comments name the package itself.
  assert.deepEqual([...new Set(loaded)].filter((name) => name !== "seamline").sort(), ["@langchain/core", "langchain"]);
});

test("messages of LangChain are repaired where only @langchain/core is installed", (context) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "seamline-core-"));
  context.after(() => fs.rmSync(folder, { recursive: true }));
  fs.mkdirSync(path.join(folder, "node_modules"));
  for (const name of fs.readdirSync(MODULES).filter((found) => found !== "langchain" && !found.startsWith("."))) {
    fs.symlinkSync(path.join(MODULES, name), path.join(folder, "node_modules", name));
  }
  const script = `
    import { HumanMessage, ToolMessage } from "@langchain/core/messages";
    import { repairMessages, seamlineMiddleware } from "seamline/langchain";
    const repaired = repairMessages([new HumanMessage("go"), new ToolMessage({ tool_call_id: "c", content: "ok" })]);
    let code;
    try { seamlineMiddleware(); } catch (error) { code = error.code; }
    console.log(repaired.map((message) => message.getType()).join(), code);`;
  fs.writeFileSync(path.join(folder, "script.mjs"), script);
  const output = execFileSync(process.execPath, ["--preserve-symlinks", "--preserve-symlinks-main", "script.mjs"], { cwd: folder });
  assert.equal(output.toString().trim(), "human,human platform");
});
