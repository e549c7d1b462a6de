import * as core from "@langchain/core/messages";
import error from "./error.cjs";
import lens from "./langchain-lens.cjs";

const { repairMessages, seamlineMiddlewareOf } = lens.adapters(core);

// A graph without agents has no need of `langchain`.
const langchain = await import("langchain").catch((cause) => ({
  createMiddleware() {
    throw new error.SeamlineError("platform", "seamlineMiddleware cannot load the package `langchain`", { hint: "npm install langchain", cause });
  },
}));
const seamlineMiddleware = (options) => seamlineMiddlewareOf(langchain.createMiddleware, options);

export { repairMessages, seamlineMiddleware };
