export * from "./fetch.js";
