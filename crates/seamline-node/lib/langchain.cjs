"use strict";
// LangChain.js and LangGraph.js: messages, and middleware for `createAgent`.

const { adapters } = require("./langchain-lens.cjs");

let made;
const installed = () => (made ??= adapters(require("@langchain/core/messages")));

/** Repairs messages of LangChain: the same list where nothing needs a repair. */
const repairMessages = (messages, options) => installed().repairMessages(messages, options);

/** Middleware for `createAgent`: the messages of every model call are repaired. */
const seamlineMiddleware = (options) => installed().seamlineMiddlewareOf(require("langchain").createMiddleware, options);

module.exports = { repairMessages, seamlineMiddleware };
