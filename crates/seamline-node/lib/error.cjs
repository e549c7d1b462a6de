"use strict";

/** An operation that failed, with the reason and the advice. A broken conversation is a finding and never an error. */
class SeamlineError extends Error {
  /**
   * @param {string} code the kind of the error: `input`, `body`, `option`, `stream`, `session`, `store` or `platform`
   * @param {string} message
   * @param {{hint?: string | null, cause?: unknown}} [more]
   */
  constructor(code, message, { hint, cause } = {}) {
    super(hint ? `${message}\nhint: ${hint}` : message, cause === undefined ? undefined : { cause });
    this.name = "SeamlineError";
    this.code = code;
    this.hint = hint ?? undefined;
  }
}

/** Makes a SeamlineError of an error of the native part. */
function translated(error) {
  if (error instanceof SeamlineError) return error;
  try {
    const { code, message, hint } = JSON.parse(error.message);
    return new SeamlineError(code, message, { hint });
  } catch {
    return new SeamlineError("native", String(error?.message ?? error), { cause: error });
  }
}

/** Calls a native function. */
function calling(work) {
  try {
    return work();
  } catch (error) {
    throw translated(error);
  }
}

/** Waits for a native function. */
async function awaiting(work) {
  try {
    return await work();
  } catch (error) {
    throw translated(error);
  }
}

module.exports = { SeamlineError, awaiting, calling };
