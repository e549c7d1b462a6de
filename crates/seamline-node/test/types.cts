// The types of the package fit CommonJS, too.

import seamline = require("seamline");
import fetching = require("seamline/fetch");

import agents = require("seamline/openai-agents");
import models = require("seamline/ai-sdk");

export const items: object[] = agents.repairItems([{}], { onFailure: "throw" });
export const messages: { role: string }[] = models.repairModelMessages([{ role: "user" }]);
export const changed: boolean = seamline.repair("{}").changed;
export const fetcher: typeof fetch = fetching.repairingFetch();
