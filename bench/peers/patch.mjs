// fast-json-patch: the patch that its observer finds, sent as JSON, applied to the replica.

import patch from "fast-json-patch";

import { fromBytes, measure, plainActs, toBytes } from "./measure.mjs";

function open(notes) {
    return { source: notes, replica: structuredClone(notes), observer: patch.observe(notes) };
}

function change(world, act) {
    act(world.source);
    const bytes = toBytes(patch.generate(world.observer));
    patch.applyPatch(world.replica, fromBytes(bytes));
    return bytes.length;
}

await measure(
    { name: "fast-json-patch", open, change, plain: ({ source, replica }) => [source, replica], ...plainActs },
    10,
);
