import module from "./opencode.cjs";

export const { SeamlinePlugin, closeOpenParts } = module;
