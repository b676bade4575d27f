// The TypeScript layer on the addon.

import { liveTests } from "./live.mjs";
import { pieceTests } from "./live_edges.mjs";

liveTests();
pieceTests();
