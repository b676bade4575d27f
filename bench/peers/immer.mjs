// Immer: the patches of a draft, sent as JSON, applied to the replica.

import { applyPatches, enablePatches, produceWithPatches } from "immer";

import { fromBytes, measure, plainActs, toBytes } from "./measure.mjs";

enablePatches();

function change(world, act) {
    const [next, patches] = produceWithPatches(world.source, act);
    world.source = next;
    const bytes = toBytes(patches);
    world.replica = applyPatches(world.replica, fromBytes(bytes));
    return bytes.length;
}

await measure(
    {
        name: "immer",
        open: (notes) => ({ source: notes, replica: structuredClone(notes) }),
        change,
        plain: ({ source, replica }) => [source, replica],
        ...plainActs,
    },
    20,
);
