export * from "./opencode.js";
