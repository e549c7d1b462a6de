import module from "./openai-agents.cjs";

export const { SeamlineSession, repairInput, repairItems } = module;
