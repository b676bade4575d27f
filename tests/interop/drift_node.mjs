// The Node side of the drift (README.md): node drift_node.mjs provide ADDRESS [silent], listen ADDRESS,ADDRESS…,
// follow ADDRESS NAME [text], or relay ADDRESS NAME

import * as chordal from "../../node/dist/node.js";
import { follow, provide } from "./drift.mjs";

const [job, address, word, codec = "binary"] = process.argv.slice(2);

/** Route what is offered here; told to end, say bye. */
async function relay(name) {
    const host = new chordal.Host({ name });
    const server = await host.listen(address, { routeOffers: true });
    console.log("listening", server.address);
    process.on("SIGTERM", () => void host.close().then(() => process.exit()));
}

if (job === "follow") await follow(chordal, address, word, { codec });
else if (job === "relay") await relay(word);
else await provide(chordal, job, address, word === "silent");
