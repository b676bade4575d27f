// The Node provider of the interop square (README.md): node provide.mjs ADDRESS

import * as chordal from "../../node/dist/node.js";
import { provide } from "./work.mjs";

await provide(chordal, process.argv[2]);
console.log("ready");
