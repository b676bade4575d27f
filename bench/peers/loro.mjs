// Loro: the update since the last one, imported by another document that is subscribed to.

import { LoroDoc, LoroMap, LoroText } from "loro-crdt";

import { measure } from "./measure.mjs";

function add(entries, { text, ...rest }) {
    const map = entries.pushContainer(new LoroMap());
    for (const [name, value] of Object.entries(rest)) map.set(name, value);
    map.setContainer("text", new LoroText()).insert(0, text);
}

function open(notes) {
    const world = { source: new LoroDoc(), replica: new LoroDoc(), seen: 0 };
    world.entries = world.source.getList("entries");
    for (const note of notes.entries) add(world.entries, note);
    world.source.commit();
    world.replica.import(world.source.export({ mode: "snapshot" }));
    world.replica.subscribe(() => world.seen++);
    world.sent = world.source.version();
    return world;
}

function change(world, act) {
    act(world.entries);
    world.source.commit();
    const bytes = world.source.export({ mode: "update", from: world.sent });
    world.sent = world.source.version();
    world.replica.import(bytes);
    return bytes.length;
}

const textOf = (entries) => entries.get(999).get("text");

await measure(
    {
        name: "loro-crdt",
        open,
        change,
        plain: ({ source, replica }) => [source.toJSON(), replica.toJSON()],
        encode: ({ source }) => source.export({ mode: "snapshot" }),
        decode: (bytes) => LoroDoc.fromSnapshot(bytes).toJSON(),
        acts: {
            token: (entries) => textOf(entries).insert(textOf(entries).length, " tok"),
            field: (entries, name) => entries.get(500).set("author", name),
            item: add,
            removal: (entries) => entries.delete(400, 1),
        },
        undo: {
            cut: (entries, text) => textOf(entries).delete(text.length, textOf(entries).length - text.length),
            shrink: (entries, n) => entries.delete(1000, n),
            grow: (entries, notes) => notes.forEach((note) => add(entries, note)),
        },
    },
    50,
);
