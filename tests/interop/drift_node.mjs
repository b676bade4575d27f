// The Node side of the drift (README.md): node drift_node.mjs provide ADDRESS [silent], listen ADDRESS,ADDRESS…,
// follow ADDRESS NAME [text], relay ADDRESS NAME, place ADDRESS WORD…, or work

import * as chordal from "../../node/dist/node.js";
import { PATIENT, driftType, follow, provide } from "./drift.mjs";

const [job, address, ...words] = process.argv.slice(2);
const [word, codec = "binary"] = words;

/** Route what is offered here; told to end, say bye. */
async function relay(name) {
    const host = new chordal.Host({ name });
    const server = await host.listen(address, { routeOffers: true });
    console.log("listening", server.address);
    process.on("SIGTERM", () => void host.close().then(() => process.exit()));
}

/** Offer the type at an address; its objects live in a worker, which the words start. */
async function place() {
    const host = new chordal.Host(PATIENT);
    let worker;
    host.place("drift", () => (worker ??= host.worker(words[0], words.slice(1))));
    await host.connect(address, { offer: true }).up;
    console.log("ready");
}

async function work() {
    const host = chordal.parent({ types: [driftType(chordal)], ...PATIENT });
    console.log(`working ${process.pid}`);
    await host.parent().closed;
    await host.close();
    process.exit();
}

if (job === "follow") await follow(chordal, address, word, { codec });
else if (job === "relay") await relay(word);
else if (job === "place") await place();
else if (job === "work") await work();
else await provide(chordal, job, address, word === "silent");
