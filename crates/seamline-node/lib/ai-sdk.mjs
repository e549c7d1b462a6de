import module from "./ai-sdk.cjs";

export const { repairModelMessages, repairStep, repairUIMessages, seamlineMiddleware } = module;
