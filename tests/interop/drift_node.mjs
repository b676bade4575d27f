// The Node side of the drift (README.md): node drift_node.mjs provide ADDRESS [silent], listen ADDRESS,ADDRESS…, or
// follow ADDRESS NAME [text]

import * as chordal from "../../node/dist/node.js";
import { follow, provide } from "./drift.mjs";

const [job, address, word, codec = "binary"] = process.argv.slice(2);
if (job === "follow") await follow(chordal, address, word, { codec });
else await provide(chordal, job, address, word === "silent");
