// The types of the package fit CommonJS, too.

import seamline = require("seamline");
import fetching = require("seamline/fetch");

export const changed: boolean = seamline.repair("{}").changed;
export const fetcher: typeof fetch = fetching.repairingFetch();
