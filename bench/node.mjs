// Node: what the TypeScript layer costs, on the addon or on WebAssembly.
// node --expose-gc bench/node.mjs FOLDER BATCHES addon|wasm: a JSON object a line; FOLDER has the payloads.

import { isDeepStrictEqual } from "node:util";

import { append } from "../node/dist/node.js";
import { ChangeLog, DraftDocument } from "../node/dist/draft.js";
import { Frame } from "../node/dist/frame.js";
import { pack, unpack } from "../node/dist/packed.js";
import { patchMember } from "../node/dist/patch.js";
import {
    batches,
    closeWorld,
    counters,
    Counted,
    hold,
    isWasm,
    openWorld,
    pause,
    print,
    taken,
    text,
    warm,
} from "./world.mjs";

async function watch(world, member = "list") {
    world.reference = await hold(world);
    world.stop = world.reference[member].watch(() => world.arrived());
    await frameAfter(world, (object) => object.transaction((t) => void (t.list.entries[999].text = "x")));
}

// ---- what is done to the notes ----

const token = (t) => append(t.list.entries[999], "text", " tok");
let number = 0;
const field = (t) => void (t.list.entries[500].author = `name-${String(number++ % 1000).padStart(3, "0")}`);
const item = (t) => void t.list.entries.push(JSON.parse(text.item));
const removal = (t) => void t.list.entries.splice(400, 1);

const commit = (change) => (world) => world.object.transaction(change);
function frameAfter(world, act) {
    return new Promise((resolve) => {
        world.arrived = resolve;
        void act(world.object);
    });
}
const commitToFrame = (change) => (world) => frameAfter(world, (object) => object.transaction(change));
const call = (world) => world.reference.ping("milk");
async function holdOnce(world) {
    (await hold(world)).release();
}

/** Another object each time, made when it is asked for. */
let board = 0;
async function activationOnce(world) {
    (await hold(world, (board += 1))).release();
}
const megabyte = new Uint8Array(1 << 20);
const callWithBytes = (world) => world.reference.ping(megabyte);
const READS = 1000;
function readOften({ reference }) {
    for (let i = 0; i < READS; i++) if (reference.list.value === undefined) throw new Error("nothing is held");
}
/** Until the replica has the text of the provider. */
async function caughtUp({ reference, object }) {
    while (reference.list.value.entries[999].text.length < object.list.entries[999].text.length) await pause();
}

const cutToken = (t) => void (t.list.entries[999].text = "a".repeat(80));
const cutAppended = (t, n) => void t.list.entries.splice(1000, n);
const growRemoved = (t, n) => void t.list.entries.push(...Array.from({ length: n }, () => JSON.parse(text.item)));

const restoreToken = (world) => world.object.transaction(cutToken);
const restoreAppended = (world, n) => world.object.transaction((t) => cutAppended(t, n));
const restoreRemoved = (world, n) => world.object.transaction((t) => growRemoved(t, n));

const { notes, document } = text;
const local = { linked: false, payload: notes, batch: 200 };
const linked = { linked: true, payload: notes, batch: 200 };
const CASES = [
    ["local call", { ...local, once: call }],
    ["commit without a watch", { ...local, once: commit(token), restore: restoreToken }],
    ["commit with a watch", { ...local, watched: "list", once: commitToFrame(token), restore: restoreToken }],
    [
        "commit with a watched derive",
        { ...local, of: Counted, watched: "count", once: commitToFrame(token), restore: restoreToken },
    ],
    [
        "commit of the same value",
        { ...local, watched: "list", once: commit((t) => void (t.list.entries[500].author = "name-500")) },
    ],
    ["read of a held value", { ...local, once: readOften, times: READS }],
    ["activation, hold and release", { ...local, held: false, once: activationOnce }],
    ["call round trip, binary", { ...linked, once: call }],
    ["call round trip, 1 MiB of bytes, binary", { ...linked, batch: 10, once: callWithBytes }],
    [
        "streamed reply, 2,000 tokens, binary",
        {
            ...linked,
            batch: batches === 1 ? 200 : 2000,
            watched: "list",
            once: commit(token),
            finish: caughtUp,
            restore: restoreToken,
        },
    ],
    ["commit to frame, token appended, binary", follow(token, restoreToken)],
    ["commit to frame, changed field, binary", follow(field)],
    ["commit to frame, appended item, binary", follow(item, restoreAppended, 100)],
    ["commit to frame, removed item, binary", follow(removal, restoreRemoved, 100)],
    ["hold to live, 1,000 notes, binary", { ...linked, batch: 10, once: holdOnce, held: false }],
    [
        "hold to live, 500 x 960 document, binary",
        { ...linked, batch: 5, once: holdOnce, held: false, payload: document },
    ],
];

function follow(change, restore, batch = 200) {
    return { ...linked, batch, watched: "list", once: commitToFrame(change), restore };
}

// ---- measuring ----

async function measure(name, { linked, payload, of, batch, watched, held = true, once, times = 1, finish, restore }) {
    const world = await openWorld(linked, payload, of);
    if (watched) await watch(world, watched);
    else if (held) world.reference = await hold(world);
    const samples = [];
    const processor = [];
    let before, after;
    for (let round = -warm(batch); round < batches; round++) {
        before = counters(world);
        const [start, worked] = [performance.now(), process.cpuUsage()];
        for (let i = 0; i < batch; i++) await once(world);
        await finish?.(world);
        const { user, system } = process.cpuUsage(worked);
        const time = ((performance.now() - start) * 1000) / batch / times;
        after = counters(world);
        if (round >= 0) samples.push(time);
        if (round >= 0) processor.push((user + system) / batch / times);
        await restore?.(world, batch);
        await pause();
    }
    const per = (counter) => Math.round(((after[counter] - before[counter]) / batch / times) * 100) / 100;
    print({
        case: name,
        system: "chordal",
        unit: "us",
        samples,
        processor,
        bytes: per("bytes_out"),
        counts: {
            messages: per("messages_out"),
            encodes: per("changes_encoded"),
            allocations: per("allocations"),
            entries: per("entries"),
        },
    });
    await closeWorld(world);
}

async function measurePlain(name, system, once, bytes) {
    const samples = [];
    for (let round = -warm(1); round < batches; round++) {
        const start = performance.now();
        for (let i = 0; i < 20; i++) once();
        if (round >= 0) samples.push(((performance.now() - start) * 1000) / 20);
    }
    const heap = await taken(() => {
        for (let i = 0; i < 20; i++) once();
    });
    print({ case: name, system, unit: "us", samples, bytes, counts: { heap: Math.round(heap / 20) } });
}

/** A change of the source noted as the bytes that the core is given, then applied to the replica as frames are. */
function change(world, act) {
    const log = new ChangeLog(false);
    const draft = new DraftDocument(world.source, 0, log);
    act({ list: draft.read() });
    const bytes = log.out.take();
    world.source = draft.finish();
    log.end();
    world.replica = patchMember(world.replica, 0, bytes, {}).value;
    world.frame = new Frame(world.replica, 0, bytes);
    return bytes.length;
}

/** Native values at both ends, without a host: what the peers' rows are, too. */
async function measureDelta(name, act, restore, batch = 200) {
    const world = { source: JSON.parse(notes), replica: JSON.parse(notes) };
    const samples = [];
    let bytes;
    for (let round = -warm(batch); round < batches; round++) {
        const start = performance.now();
        for (let i = 0; i < batch; i++) bytes = change(world, act);
        if (round >= 0) samples.push(((performance.now() - start) * 1000) / batch);
        if (!isDeepStrictEqual(world.source, world.replica)) throw new Error(name);
        if (restore) change(world, (t) => restore(t, batch));
    }
    print({ case: `delta to replica, ${name}, binary`, system: "chordal", unit: "us", samples, bytes });
}

/** V8's own JSON, of text and to text that are there already. */
async function measureJson(name, json) {
    const value = JSON.parse(json);
    await measurePlain(name, "limit: JSON.parse", () => JSON.parse(json), json.length);
    await measurePlain(name, "limit: JSON.stringify", () => JSON.stringify(value), json.length);
}

/** Native values to bytes and back, without a host; and the same by JSON. */
async function measureSnapshot(name, json) {
    const value = JSON.parse(json);
    const packed = pack(value);
    const bytes = new TextEncoder().encode(json);
    const [encode, decode] = [`snapshot encode, ${name}`, `snapshot decode, ${name}`];
    await measurePlain(encode, "chordal", () => pack(value), packed.length);
    await measurePlain(decode, "chordal", () => unpack(packed), packed.length);
    if (isWasm) return;
    await measurePlain(encode, "limit: JSON", () => new TextEncoder().encode(JSON.stringify(value)), bytes.length);
    await measurePlain(decode, "limit: JSON", () => JSON.parse(new TextDecoder().decode(bytes)), bytes.length);
}

for (const [name, options] of CASES) await measure(name, options);
await measureDelta("token appended", token, cutToken);
await measureDelta("changed field", field);
await measureDelta("appended item", item, cutAppended, 100);
await measureDelta("removed item", removal, growRemoved, 100);
await measureSnapshot("1,000 notes", notes);
await measureSnapshot("500 x 960 document", document);
if (!isWasm) {
    await measureJson("hold to live, 1,000 notes, binary", notes);
    await measureJson("hold to live, 500 x 960 document, binary", document);
}
