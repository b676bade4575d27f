// The shared vectors on the WebAssembly core.

import { vectorTests } from "../../node/tests/vectors.mjs";
import { useWasm } from "../../node/dist/node.js";

useWasm();
vectorTests();
