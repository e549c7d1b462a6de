"use strict";
// Loads the native part: the package of this platform, or the file that SEAMLINE_NATIVE names.

const { SeamlineError } = require("./error.cjs");

/** The name of the package of this platform, such as `@seamline/linux-x64-gnu`. */
function platformPackage() {
  const { platform, arch } = process;
  if (platform !== "linux") return `@seamline/${platform}-${arch}`;
  const glibc = process.report?.getReport()?.header?.glibcVersionRuntime;
  return `@seamline/linux-${arch}-${glibc ? "gnu" : "musl"}`;
}

function load() {
  const file = process.env.SEAMLINE_NATIVE;
  if (file) {
    const loaded = { exports: {} };
    process.dlopen(loaded, require("node:path").resolve(file));
    return loaded.exports;
  }
  const name = platformPackage();
  try {
    return require(name);
  } catch (cause) {
    throw new SeamlineError("platform", `cannot load ${name}, the native part of seamline for this machine`, {
      hint: "install with optional dependencies (npm install --include=optional); where there is no such package, build the native part and name it in SEAMLINE_NATIVE",
      cause,
    });
  }
}

let native;

module.exports = {
  platformPackage,
  /** The native part, loaded at the first use. */
  get native() {
    return (native ??= load());
  },
};
