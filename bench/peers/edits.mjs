// How large the peers' deltas of the edits are, as the bytes that one end sends and the other applies: drafted, each
// with its own types and calls, and where the peer can, by value: the document assigned anew, or compared.
// node bench/peers/edits.mjs FOLDER: a JSON object a line. FOLDER has edits.json.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

import * as A from "@automerge/automerge";
import { applyImmutable, decoder, encoder, track } from "@earendil-works/chord/delta";
import patch from "fast-json-patch";
import { applyPatches, enablePatches, produceWithPatches } from "immer";
import { LoroDoc, LoroMap, LoroMovableList, LoroText } from "loro-crdt";
import json1 from "ot-json1";
import * as Y from "yjs";

const edits = JSON.parse(readFileSync(join(process.argv[2], "edits.json"), "utf8"));
const { editOp, insertOp, moveOp, removeOp, replaceOp, type } = json1;
const require = createRequire(import.meta.url);

const encode = (value) => new TextEncoder().encode(JSON.stringify(value));
const decode = (bytes) => JSON.parse(new TextDecoder().decode(bytes));
const clone = (value) => structuredClone(value);

function version(name) {
    try {
        return require(`${name}/package.json`).version;
    } catch {
        return JSON.parse(readFileSync(join(import.meta.dirname, "node_modules", name, "package.json"))).version;
    }
}

/** The paths of texts that are changed within. */
const textsOf = ({ acts }) =>
    acts.filter(({ op }) => op === "append" || op === "truncate").map(({ path }) => path.join("/"));

// ---- plain values: what a program does to a draft of {v: document} ----

const follow = (value, path) => path.reduce((inner, segment) => inner[segment], value);

/** What holds the place, and its last segment. */
function place(root, path) {
    const whole = ["v", ...path];
    return [follow(root, whole.slice(0, -1)), whole.at(-1)];
}

const PLAIN = {
    append: (holder, key, { text }) => void (holder[key] += text),
    truncate: (holder, key, { count }) => void (holder[key] = holder[key].slice(count)),
    set: (holder, key, { value }) => void (holder[key] = value),
    replace: (holder, key, { value }) => void (holder[key] = value),
    delete: (holder, key) => void (Array.isArray(holder) ? holder.splice(key, 1) : delete holder[key]),
    splice: (holder, key, { index, remove, values }) => void holder[key].splice(index, remove, ...values),
    move: (holder, key, { from, to }) => void holder[key].splice(to, 0, ...holder[key].splice(from, 1)),
    permute: (holder, key, { indexes }) => {
        const items = [...holder[key]];
        holder[key] = indexes.map((index) => items[index]);
    },
};

function actPlainly(root, { acts }) {
    for (const act of acts) PLAIN[act.op](...place(root, act.path), clone(act));
}

const assign = (root, { after }) => void (root.v = clone(after));

function chord(edit, work) {
    const tracker = track({ v: clone(edit.before) });
    const [out, into] = [encoder(), decoder()];
    const send = () => encode(out.encode(tracker.flush()));
    let replica = applyImmutable(undefined, into.decode(decode(send())));
    work(tracker.state, edit);
    const bytes = send();
    replica = applyImmutable(replica, into.decode(decode(bytes)));
    return [bytes.length, replica.v];
}

enablePatches();

function immer({ before, ...edit }, work) {
    const [, patches] = produceWithPatches({ v: before }, (draft) => work(draft, edit));
    const bytes = encode(patches);
    return [bytes.length, applyPatches({ v: before }, decode(bytes)).v];
}

function fastJsonPatch({ before, after }) {
    const bytes = encode(patch.compare({ v: before }, { v: after }));
    return [bytes.length, patch.applyPatch({ v: clone(before) }, decode(bytes)).newDocument.v];
}

// ---- ot-json1: without what was removed, which it could carry to be inverted ----

const OT = {
    append: (path, { text }, value) => editOp(path, "text-unicode", [[...value].length, text]),
    truncate: (path, { count }) => editOp(path, "text-unicode", [{ d: count }]),
    set: (path, { value: to }, value) => (value === undefined ? insertOp(path, to) : replaceOp(path, true, to)),
    replace: (path, { value: to }) => replaceOp(path, true, to),
    delete: (path) => removeOp(path),
    move: (path, { from, to }) => moveOp([...path, from], [...path, to]),
    splice: (path, { index, remove, values }) =>
        [
            ...Array.from({ length: remove }, () => removeOp([...path, index])),
            ...values.map((value, i) => insertOp([...path, index + i], value)),
        ].reduce(type.compose),
    /** The moves of a sort by insertion. */
    permute: (path, { indexes }) => {
        const now = indexes.map((_, i) => i);
        const moves = [];
        indexes.forEach((wanted, to) => {
            const from = now.indexOf(wanted);
            if (from === to) return;
            now.splice(to, 0, ...now.splice(from, 1));
            moves.push(moveOp([...path, from], [...path, to]));
        });
        return halves(moves);
    },
};

/** Composed by halves: one after the other is quadratic. */
function halves(ops) {
    if (ops.length < 2) return ops[0];
    const middle = ops.length >> 1;
    return type.compose(halves(ops.slice(0, middle)), halves(ops.slice(middle)));
}

function otJson1({ before, acts }) {
    const begin = { v: before };
    let [state, op] = [begin, null];
    for (const act of acts) {
        const path = ["v", ...act.path];
        const next = OT[act.op](path, act, follow(state, path));
        state = type.apply(state, next);
        op = type.compose(op, next);
    }
    const bytes = encode(op);
    return [bytes.length, type.apply(begin, decode(bytes)).v];
}

// ---- shared types: a document's containers, and texts where they are changed within ----

/** `make` has map(entries), list(items), text(string); plain values stay. */
function shared(make, value, texts, path = "") {
    const inside = (key, item) => shared(make, item, texts, path === "" ? String(key) : `${path}/${key}`);
    if (typeof value === "string") return texts.includes(path) ? make.text(value) : value;
    if (value === null || typeof value !== "object") return value;
    if (Array.isArray(value)) return make.list(value.map((item, i) => inside(i, item)));
    return make.map(Object.entries(value).map(([key, item]) => [key, inside(key, item)]));
}

const yMake = {
    map: (entries) => new Y.Map(entries),
    list: (items) => Y.Array.from(items),
    text: (string) => new Y.Text(string),
};

const yGet = (value, path) => path.reduce((inner, segment) => inner.get(segment), value);
const yPlain = (value) => (value instanceof Y.AbstractType ? value.toJSON() : value);

function yPut(holder, key, value) {
    if (holder instanceof Y.Map) return void holder.set(key, value);
    holder.delete(key, 1);
    holder.insert(key, [value]);
}

function yAct(root, act) {
    const path = ["v", ...act.path];
    const [target, holder, key] = [yGet(root, path), yGet(root, path.slice(0, -1)), path.at(-1)];
    const make = (value) => shared(yMake, value, []);
    const again = (items) => {
        target.delete(0, target.length);
        target.insert(0, items.map(make));
    };
    if (act.op === "append") target.insert(target.length, act.text);
    else if (act.op === "truncate") target.delete(0, act.count);
    else if (act.op === "set" || act.op === "replace") yPut(holder, key, make(act.value));
    else if (act.op === "delete") holder instanceof Y.Map ? holder.delete(key) : holder.delete(key, 1);
    else if (act.op === "splice") {
        target.delete(act.index, act.remove);
        if (act.values.length) target.insert(act.index, act.values.map(make));
    } else if (act.op === "move") {
        const item = yPlain(target.get(act.from));
        target.delete(act.from, 1);
        target.insert(act.to, [make(item)]);
    } else {
        const items = target.toJSON();
        again(act.indexes.map((index) => items[index]));
    }
}

function yjs(edit) {
    const [source, replica] = [new Y.Doc(), new Y.Doc()];
    const root = source.getMap("root");
    source.transact(() => root.set("v", shared(yMake, edit.before, textsOf(edit))));
    Y.applyUpdate(replica, Y.encodeStateAsUpdate(source));
    let update;
    source.on("update", (bytes) => (update = bytes));
    source.transact(() => edit.acts.forEach((act) => yAct(root, act)));
    Y.applyUpdate(replica, update);
    return [update.length, yPlain(replica.getMap("root").get("v"))];
}

function automerge(edit) {
    const text = (state, { op, path, ...act }) => {
        const whole = ["v", ...path];
        const end = follow(state, whole).length;
        if (op === "append") A.splice(state, whole, end, 0, act.text);
        else A.splice(state, whole, 0, act.count);
    };
    const plainly = (state, act) => actPlainly(state, { acts: [act] });
    /** An object that is in a list cannot be put there again. */
    const listed = (state, { op, path, from, to, indexes }) => {
        const list = follow(state, ["v", ...path]);
        const items = JSON.parse(JSON.stringify(list));
        if (op === "move") {
            list.deleteAt(from);
            list.insertAt(to, clone(items[from]));
        } else {
            list.splice(0, items.length, ...indexes.map((index) => clone(items[index])));
        }
    };
    const how = { append: text, truncate: text, move: listed, permute: listed };
    let source = A.from({ v: edit.before });
    let replica = A.load(A.save(source));
    source = A.change(source, (state) => edit.acts.forEach((act) => (how[act.op] ?? plainly)(state, act)));
    const bytes = A.getLastLocalChange(source);
    [replica] = A.applyChanges(replica, [bytes]);
    return [bytes.length, A.toJS(replica).v];
}

const loroContainers = {
    map: (entries) => entries.reduce((map, [key, value]) => (loroPut(map, key, value), map), new LoroMap()),
    list: (items) => items.reduce((list, item, i) => (loroInsert(list, i, item), list), new LoroMovableList()),
    text: (string) => {
        const text = new LoroText();
        text.insert(0, string);
        return text;
    },
};

const isContainer = (value) => typeof value?.kind === "function";

function loroInsert(list, at, value) {
    if (isContainer(value)) list.insertContainer(at, value);
    else list.insert(at, value);
}

function loroPut(holder, key, value) {
    if (isContainer(value)) holder.setContainer(key, value);
    else holder.set(key, value);
}

function loroAct(root, act) {
    const path = ["v", ...act.path];
    const [target, holder, key] = [yGet(root, path), yGet(root, path.slice(0, -1)), path.at(-1)];
    const make = (value) => shared(loroContainers, value, []);
    if (act.op === "append") target.insert(target.length, act.text);
    else if (act.op === "truncate") target.delete(0, act.count);
    else if (act.op === "set" || act.op === "replace") loroPut(holder, key, make(act.value));
    else if (act.op === "delete") holder.kind() === "Map" ? holder.delete(key) : holder.delete(key, 1);
    else if (act.op === "splice") {
        if (act.remove) target.delete(act.index, act.remove);
        act.values.forEach((value, i) => loroInsert(target, act.index + i, make(value)));
    } else if (act.op === "move") {
        target.move(act.from, act.to);
    } else {
        const now = act.indexes.map((_, i) => i);
        act.indexes.forEach((wanted, to) => {
            const from = now.indexOf(wanted);
            if (from === to) return;
            now.splice(to, 0, ...now.splice(from, 1));
            target.move(from, to);
        });
    }
}

function loro(edit) {
    const [source, replica] = [new LoroDoc(), new LoroDoc()];
    const root = source.getMap("root");
    loroPut(root, "v", shared(loroContainers, edit.before, textsOf(edit)));
    source.commit();
    replica.import(source.export({ mode: "snapshot" }));
    const from = source.version();
    edit.acts.forEach((act) => loroAct(root, act));
    source.commit();
    const bytes = source.export({ mode: "update", from });
    replica.import(bytes);
    return [bytes.length, replica.toJSON().root.v];
}

// ---- all of them ----

const DRAFTED = {
    "@earendil-works/chord": (edit) => chord(edit, actPlainly),
    immer: (edit) => immer(edit, actPlainly),
    "ot-json1": otJson1,
    yjs,
    "@automerge/automerge": automerge,
    "loro-crdt": loro,
};
const BY_VALUE = {
    "@earendil-works/chord": (edit) => chord(edit, assign),
    immer: (edit) => immer(edit, assign),
    "fast-json-patch": fastJsonPatch,
};

for (const edit of edits) {
    for (const [how, peers] of Object.entries({ "": DRAFTED, ", by value": BY_VALUE })) {
        for (const [system, work] of Object.entries(peers)) {
            const [bytes, value] = work(edit);
            if (!isDeepStrictEqual(value, edit.after)) throw new Error(`${system}: ${edit.name}${how}`);
            const row = { case: `delta size, ${edit.name}${how}`, system, version: version(system), unit: "B" };
            process.stdout.write(`${JSON.stringify({ ...row, samples: [bytes], bytes })}\n`);
        }
    }
}
process.exit();
