"use strict";

const { SeamlineError } = require("./error.cjs");
const { Checked, Converted, Repaired, check, classify, convert, endpoint, explain, presets, repair, safeTrim, sanitize } = require("./bodies.cjs");
const { ResponseStream } = require("./stream.cjs");
const { Session, Store, openStore } = require("./session.cjs");

module.exports = {
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
};
