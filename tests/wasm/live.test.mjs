// The TypeScript layer on the WebAssembly core, in Node.

import { liveTests } from "../../node/tests/live.mjs";
import { useWasm } from "../../node/dist/node.js";

useWasm();
liveTests({ forwards: false }); // a tab is never a host in the middle
