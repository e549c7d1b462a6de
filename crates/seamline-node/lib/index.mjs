import seamline from "./index.cjs";

export const {
  Checked,
  Converted,
  Repaired,
  ResponseStream,
  SeamlineError,
  Session,
  Store,
  check,
  classify,
  convert,
  endpoint,
  explain,
  openStore,
  presets,
  repair,
  safeTrim,
  sanitize,
} = seamline;
