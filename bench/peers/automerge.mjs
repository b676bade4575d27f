// Automerge: a change's bytes, applied to another document with a patch callback.

import * as A from "@automerge/automerge";

import { measure } from "./measure.mjs";

function open(notes) {
    const source = A.from(notes);
    return { source, replica: A.load(A.save(source)), seen: 0 };
}

function change(world, act) {
    world.source = A.change(world.source, act);
    const bytes = A.getLastLocalChange(world.source);
    [world.replica] = A.applyChanges(world.replica, [bytes], { patchCallback: () => world.seen++ });
    return bytes.length;
}

const text = ["entries", 999, "text"];

await measure(
    {
        name: "@automerge/automerge",
        open,
        change,
        plain: ({ source, replica }) => [A.toJS(source), A.toJS(replica)],
        encode: ({ source }) => A.save(source),
        decode: (bytes) => A.toJS(A.load(bytes)),
        acts: {
            token: (state) => A.splice(state, text, state.entries[999].text.length, 0, " tok"),
            field: (state, name) => void (state.entries[500].author = name),
            item: (state, note) => void state.entries.push(note),
            removal: (state) => void state.entries.splice(400, 1),
        },
        undo: {
            cut: (state, { length }) => A.splice(state, text, length, state.entries[999].text.length - length),
            shrink: (state, n) => void state.entries.splice(1000, n),
            grow: (state, notes) => void state.entries.push(...notes),
        },
    },
    10,
);
