import module from "./pi.cjs";

export const { seamlineExtension } = module;
