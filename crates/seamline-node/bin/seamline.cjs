#!/usr/bin/env node
"use strict";
// Runs the command line of the package of this platform.

const { spawnSync } = require("node:child_process");
const path = require("node:path");
const { platformPackage } = require("../lib/native.cjs");

function program() {
  if (process.env.SEAMLINE_BIN) return process.env.SEAMLINE_BIN;
  const folder = path.dirname(require.resolve(`${platformPackage()}/package.json`));
  return path.join(folder, process.platform === "win32" ? "seamline.exe" : "seamline");
}

try {
  const { status, signal, error } = spawnSync(program(), process.argv.slice(2), { stdio: "inherit" });
  if (error) throw error;
  if (signal) process.kill(process.pid, signal);
  process.exitCode = status ?? 2;
} catch (error) {
  console.error(`error: cannot run ${platformPackage()}: ${error.message}`);
  console.error("hint: install with optional dependencies (npm install --include=optional)");
  process.exitCode = 2;
}
