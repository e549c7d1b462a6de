"use strict";
// Handles failures of our own code: the original goes on, and the program hears of it.

const { check, chosen } = require("./bodies.cjs");
const { SeamlineError } = require("./error.cjs");

const warned = new Set();
const tried = new WeakSet();
const PROBE = [{ role: "user", content: "hello" }];

/** Throws where options name something that does not exist, such as a provider. */
function validated(options) {
  const choices = chosen(options);
  if (tried.has(choices)) return;
  try {
    check(PROBE, options);
  } catch (error) {
    // Some dialects cannot read the probe.
    if (error.code === "option") throw error;
  }
  tried.add(choices);
}

/** An error without content: our own messages hold none, those of others may. */
const described = (error) => (error instanceof SeamlineError ? error.message : String(error?.name ?? typeof error));

/** Tells a program of an error: its own `onError`, or else a warning of the process, once for each text. */
function told(onError, error, what) {
  try {
    if (onError) return void settled(onError(error), () => {});
    const text = `${what}: ${described(error)}`;
    if (warned.has(text)) return;
    warned.add(text);
    process.emitWarning(text, "SeamlineWarning");
  } catch {
    // A program that cannot take the error must not lose its request as well.
  }
}

/** Gives the rejection of a callback to another one. A callback without a promise has none. */
function settled(value, rejected) {
  if (typeof value?.then === "function") value.then(undefined, rejected);
}

/**
 * The options of an adapter: `repairing` are those of the repair, and `guarded(original, work)` gives what `work` makes, or
 * the original where it fails. Options that do not exist are thrown, because the caller has to correct them. `own` names the
 * options that belong to the adapter itself.
 */
function adapting(what, options, own = []) {
  const { onError, onFailure = "pass", ...repairing } = options ?? {};
  for (const name of own) delete repairing[name];
  if (!["pass", "throw"].includes(onFailure)) {
    throw new SeamlineError("option", `\`onFailure\` cannot be \`${onFailure}\``, { hint: "use `pass` or `throw`" });
  }
  try {
    validated(repairing);
  } catch (error) {
    // Without the native part the program goes on, and hears of it at the first call.
    if (error.code === "option" || onFailure === "throw") throw error;
  }
  const guarded = (original, work) => {
    try {
      return work();
    } catch (error) {
      if (onFailure === "throw") throw error;
      told(onError, error, `${what} goes on without a repair`);
      return original;
    }
  };
  return { repairing, guarded };
}

module.exports = { adapting, settled, told };
