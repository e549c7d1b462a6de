import * as core from "@langchain/core/messages";
import { createMiddleware } from "langchain";
import lens from "./langchain-lens.cjs";

const { repairMessages, seamlineMiddlewareOf } = lens.adapters(core);
const seamlineMiddleware = (options) => seamlineMiddlewareOf(createMiddleware, options);

export { repairMessages, seamlineMiddleware };
