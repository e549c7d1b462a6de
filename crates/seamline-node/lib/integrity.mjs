import module from "./integrity.cjs";

export const { SessionIntegrityError, createSessionIntegrity } = module;
