// Node: what a commit into a store costs. node --expose-gc bench/store.mjs FOLDER BATCHES addon: a JSON object a line;
// FOLDER has the payloads, and the files while it runs.

import { rmSync } from "node:fs";
import { join } from "node:path";

import { Host, type } from "../node/dist/node.js";
import { batches, print, warm } from "./world.mjs";

const ROUNDS = 200;
const MANY = 1000;
const path = join(process.argv[2], "store-node.db");

const Kept = type("kept", { documents: { list: { cell: "" } }, history: "all" });
let number = 0;
const cell = (length) => String(number++).padStart(length, "x");

function remove() {
    for (const suffix of ["", "-wal", "-shm", "-owner"]) rmSync(path + suffix, { force: true });
}

/** The time of one commit; `once` makes `each` of them. */
async function measure(name, each, rounds, once) {
    remove();
    const host = new Host({ store: path, types: [Kept] });
    const object = await host.object(Kept);
    const samples = [];
    const processor = [];
    for (let batch = -warm(batches); batch < batches; batch++) {
        const [start, worked] = [performance.now(), process.cpuUsage()];
        for (let i = 0; i < rounds; i++) await once(object);
        const { user, system } = process.cpuUsage(worked);
        const count = rounds * each;
        if (batch >= 0) samples.push(((performance.now() - start) * 1000) / count);
        if (batch >= 0) processor.push((user + system) / count);
    }
    print({ case: `store, ${name}`, unit: "us", samples, processor });
    await host.close();
    remove();
}

for (const length of [10, 10_000]) {
    await measure(`one delta a commit, ${length.toLocaleString("en")} characters`, 1, ROUNDS, (object) =>
        object.transaction((t) => void (t.list.cell = cell(length))),
    );
}
await measure("1,000 commits at once, 10 characters", MANY, 1, (object) => {
    const commits = [];
    for (let i = 0; i < MANY; i++) commits.push(object.transaction((t) => void (t.list.cell = cell(10))));
    return Promise.all(commits);
});
