export * from "./openclaw.js";
