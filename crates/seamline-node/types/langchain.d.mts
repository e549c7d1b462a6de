export * from "./langchain.js";
