// The TypeScript layer on the addon.

import { liveTests } from "./live.mjs";

liveTests();
