import module from "./mastra.cjs";

export const { SeamlineProcessor } = module;
