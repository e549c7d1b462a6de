// The plugin of OpenClaw: each request gets a transcript that the provider accepts.

import { delegateCompactionToRuntime } from "openclaw/plugin-sdk/core";
import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
import { seamlineContextEngine } from "seamline/openclaw";

export default definePluginEntry({
  id: "seamline",
  name: "Seamline",
  description: "Repairs the transcript of each request before the provider sees it.",
  register(api) {
    const { policy } = api.pluginConfig ?? {};
    const options = policy ? { policy } : {};
    api.registerContextEngine("seamline", () => seamlineContextEngine(options, { compact: delegateCompactionToRuntime }));
  },
});
