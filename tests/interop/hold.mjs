// The Node holder of the interop square (README.md): node hold.mjs ADDRESS NAME

import * as chordal from "../../node/dist/node.js";
import { hold } from "./work.mjs";

console.log(JSON.stringify(await hold(chordal, process.argv[2], process.argv[3])));
