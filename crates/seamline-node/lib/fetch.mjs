import module from "./fetch.cjs";

export const { repairingFetch } = module;
