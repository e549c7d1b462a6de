import module from "./openclaw.cjs";

export const { repairTranscript, seamlineContextEngine } = module;
