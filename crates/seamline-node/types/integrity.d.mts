export * from "./integrity.js";
