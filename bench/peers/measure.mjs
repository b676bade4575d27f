// What the peers of JavaScript have in common: a change made, encoded to bytes, decoded and applied to a replica in the
// same process, without commit, link or watch; and a snapshot encoded and decoded, from and to plain values.
// Each is a program: node bench/peers/NAME.mjs FOLDER BATCHES
//
// A peer: {name, open(notes) → world, change(world, act) → bytes sent, plain(world) → [the source's value, the
// replica's], encode(world) → bytes, decode(bytes) → value, acts: {token, field, item, removal}, and what undoes a
// batch of them: {cut, shrink, grow}}.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

const [folder, batchesText] = process.argv.slice(2);
const batches = Number(batchesText);
const read = (name) => JSON.parse(readFileSync(join(folder, name), "utf8"));
const WARM_BATCHES = batches > 1 ? 25 : 1;
const WARM_MS = 1000; // what is slow takes fewer batches to be warm
const note = read("item.json");

const encoder = new TextEncoder();
const decoder = new TextDecoder();
export const toBytes = (value) => encoder.encode(JSON.stringify(value));
export const fromBytes = (bytes) => JSON.parse(decoder.decode(bytes));

/** The installed version of a package. */
export function version(name) {
    const path = join(import.meta.dirname, "node_modules", name, "package.json");
    return JSON.parse(readFileSync(path, "utf8")).version;
}

/** The time of one operation in each batch, in microseconds; `once` may return a promise. */
export async function times(batch, once, restore) {
    const samples = [];
    const processor = [];
    const began = performance.now();
    for (let warm = 0; samples.length < batches; warm++) {
        const counts = warm >= WARM_BATCHES || performance.now() - began > WARM_MS;
        const [start, worked] = [performance.now(), process.cpuUsage()];
        for (let i = 0; i < batch; i++) {
            const promise = once();
            if (promise) await promise;
        }
        const { user, system } = process.cpuUsage(worked);
        const time = performance.now() - start;
        if (counts) samples.push((time * 1000) / batch);
        if (counts) processor.push((user + system) / batch);
        restore?.(batch);
    }
    return { samples, processor };
}

export function print(name, system, row) {
    const known = { case: name, system, version: row.version ?? version(system), unit: "us" };
    process.stdout.write(`${JSON.stringify({ ...known, ...row })}\n`);
}

export const READERS = 100;
const CROWD_BATCH = 20;
let waiting = 0;
let arrived = () => {};

/** One of the readers has it. */
export function took() {
    if (--waiting === 0) arrived();
}

/** A change sent to all readers over WebSockets, until the last one took it. `version`: when no package tells it. */
export async function measureCrowd(system, { send, close, version: told }) {
    const toAll = () => {
        waiting = READERS;
        const all = new Promise((resolve) => (arrived = resolve));
        send();
        return all;
    };
    const row = await times(CROWD_BATCH, toAll);
    print("one commit to 100 WebSockets", system, { ...row, ...(told && { version: told }) });
    await close();
}

async function measureChange(peer, name, batch, act, restore) {
    const world = peer.open(read("notes.json"));
    let bytes;
    const once = () => void (bytes = peer.change(world, act));
    const row = await times(batch, once, restore && ((n) => peer.change(world, (state) => restore(state, n))));
    once();
    const [source, replica] = peer.plain(world);
    if (source.entries.length < 999 || !isDeepStrictEqual(source, replica)) throw new Error(`${peer.name}: ${name}`);
    print(`commit to frame, ${name}, binary`, peer.name, { ...row, bytes });
}

async function measureSnapshot(peer) {
    const notes = read("notes.json");
    const world = peer.open(notes);
    const bytes = peer.encode(world);
    if (!isDeepStrictEqual(peer.decode(bytes), notes)) throw new Error(`${peer.name}: snapshot`);
    const size = { bytes: bytes.length };
    const encoded = await times(10, () => void peer.encode(world));
    print("snapshot encode, 1,000 notes", peer.name, { ...encoded, ...size });
    const decoded = await times(10, () => void peer.decode(bytes));
    print("snapshot decode, 1,000 notes", peer.name, { ...decoded, ...size });
}

let number = 0;
const author = () => `name-${String(number++ % 1000).padStart(3, "0")}`;
const copies = (n) => Array.from({ length: n }, () => ({ ...note }));

/** All cases of a peer. `batch` is smaller for slow ones. */
export async function measure(peer, batch = 100) {
    const { token, field, item, removal } = peer.acts;
    const { cut, shrink, grow } = peer.undo;
    await measureChange(peer, "token appended", batch, token, (state) => cut(state, "a".repeat(80)));
    await measureChange(peer, "changed field", batch, (state) => field(state, author()));
    await measureChange(peer, "appended item", batch, (state) => item(state, { ...note }), shrink);
    await measureChange(peer, "removed item", batch, removal, (state, n) => grow(state, copies(n)));
    if (peer.encode) await measureSnapshot(peer);
}

/** The acts of peers whose state is drafted or observed as plain values. */
export const plainActs = {
    acts: {
        token: (state) => void (state.entries[999].text += " tok"),
        field: (state, name) => void (state.entries[500].author = name),
        item: (state, added) => void state.entries.push(added),
        removal: (state) => void state.entries.splice(400, 1),
    },
    undo: {
        cut: (state, text) => void (state.entries[999].text = text),
        shrink: (state, n) => void state.entries.splice(1000, n),
        grow: (state, added) => void state.entries.push(...added),
    },
};
