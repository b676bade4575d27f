// One commit to a hundred readers over loopback WebSockets, all in this process: from the commit until the last reader
// has its frame. node bench/crowd.mjs FOLDER BATCHES addon

import { connect, Host } from "../node/dist/node.js";

import { batches, Counted, print, provide, warm } from "./world.mjs";

const READERS = 100;
const BATCH = 20;
const SMALL = '{"entries":[{"id":"n0","text":"a"}]}';

const server = { of: Counted, provider: new Host({ types: [Counted] }) };
const { address } = await server.provider.listen("ws://127.0.0.1:0");
const object = await provide(server, 0, SMALL);
let waiting = 0;
let arrived = () => {};
const readers = [];
for (let i = 0; i < READERS; i++) {
    const holder = connect(address);
    const notes = holder.get(Counted, { board: 0 });
    await notes.live;
    notes.list.watch(() => {
        if (--waiting === 0) arrived();
    });
    readers.push(holder);
}
await new Promise((resolve) => setTimeout(resolve, 100));

async function once() {
    waiting = READERS;
    const all = new Promise((resolve) => (arrived = resolve));
    await object.transaction((t) => void (t.list.entries[0].text += " tok"));
    await all;
}

const samples = [];
for (let run = -warm(BATCH); run < batches; run++) {
    const start = performance.now();
    for (let i = 0; i < BATCH; i++) await once();
    if (run >= 0) samples.push(((performance.now() - start) * 1000) / BATCH);
}
print({ case: "one commit to 100 WebSockets", unit: "us", samples });
await Promise.all(readers.map((holder) => holder.close()));
await server.provider.close();
process.exit(0);
