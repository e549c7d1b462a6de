"use strict";
// Names of sessions in a store.

const { createHash } = require("node:crypto");

/** The name of a session in a store: the given one, or a hash of it where a store would refuse its characters. */
function sessionName(name) {
  const text = String(name);
  if (/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/.test(text)) return text;
  return `seamline-${createHash("sha256").update(text, "utf8").digest("hex").slice(0, 40)}`;
}

module.exports = { sessionName };
