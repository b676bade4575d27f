// Yjs: a transaction's update, applied to another document whose deep observer is called.

import * as Y from "yjs";

import { measure } from "./measure.mjs";

function shared(note) {
    const map = new Y.Map(Object.entries(note));
    map.set("text", new Y.Text(note.text));
    return map;
}

function open(notes) {
    const world = { source: new Y.Doc(), replica: new Y.Doc(), sent: [], seen: 0 };
    world.entries = world.source.getArray("entries");
    world.entries.push(notes.entries.map(shared));
    Y.applyUpdate(world.replica, Y.encodeStateAsUpdate(world.source));
    world.source.on("update", (update) => world.sent.push(update));
    world.replica.getArray("entries").observeDeep(() => world.seen++);
    return world;
}

function change(world, act) {
    world.source.transact(() => act(world.entries));
    const [update] = world.sent.splice(0);
    Y.applyUpdate(world.replica, update);
    return update.length;
}

const plainOf = (doc) => ({ entries: doc.getArray("entries").toJSON() });

function decode(bytes) {
    const doc = new Y.Doc();
    Y.applyUpdate(doc, bytes);
    return plainOf(doc);
}

const textOf = (entries) => entries.get(999).get("text");

await measure({
    name: "yjs",
    open,
    change,
    plain: ({ source, replica }) => [plainOf(source), plainOf(replica)],
    encode: ({ source }) => Y.encodeStateAsUpdate(source),
    decode,
    acts: {
        token: (entries) => textOf(entries).insert(textOf(entries).length, " tok"),
        field: (entries, name) => void entries.get(500).set("author", name),
        item: (entries, note) => entries.push([shared(note)]),
        removal: (entries) => entries.delete(400, 1),
    },
    undo: {
        cut: (entries, text) => textOf(entries).delete(text.length, textOf(entries).length - text.length),
        shrink: (entries, n) => entries.delete(1000, n),
        grow: (entries, notes) => entries.push(notes.map(shared)),
    },
});
