// ot-json1: an operation applied at the source, sent as JSON, applied at the replica.

import json1 from "ot-json1";

import { fromBytes, measure, toBytes } from "./measure.mjs";

const { editOp, insertOp, removeOp, replaceOp, type } = json1;

function change(world, act) {
    const op = act(world.source);
    world.source = type.apply(world.source, op);
    const bytes = toBytes(op);
    world.replica = type.apply(world.replica, fromBytes(bytes));
    return bytes.length;
}

const text = ["entries", 999, "text"];
const each = (ops) => ops.reduce(type.compose);

await measure({
    name: "ot-json1",
    open: (notes) => ({ source: notes, replica: structuredClone(notes) }),
    change,
    plain: ({ source, replica }) => [source, replica],
    encode: ({ source }) => toBytes(source),
    decode: fromBytes,
    acts: {
        token: ({ entries }) => editOp(text, "text-unicode", [entries[999].text.length, " tok"]),
        field: ({ entries }, name) => replaceOp(["entries", 500, "author"], entries[500].author, name),
        item: ({ entries }, note) => insertOp(["entries", entries.length], note),
        removal: () => removeOp(["entries", 400]),
    },
    undo: {
        cut: ({ entries }, short) => replaceOp(text, entries[999].text, short),
        shrink: (_, n) => each(Array.from({ length: n }, () => removeOp(["entries", 1000]))),
        grow: ({ entries }, notes) => each(notes.map((note, i) => insertOp(["entries", entries.length + i], note))),
    },
});
