// What is misspelt or of the wrong kind is refused by name, at once.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { Host, connect, pair, parent, type } from "../dist/node.js";

const Notes = type("notes", {
    params: ["board"],
    documents: { list: [] },
    methods: { add: (call, text) => void call.transaction((t) => t.list.push(text)) },
});

/** Refused as INVALID, with words that name what is wrong. */
function refused(step, ...words) {
    const check = (error) => {
        assert.equal(error.name, "invalid");
        for (const word of words) assert.ok(error.message.includes(word), `${error.message}: ${word}`);
        return true;
    };
    return step.constructor.name === "AsyncFunction" ? assert.rejects(step, check) : assert.throws(step, check);
}

function opened(t, options) {
    const host = new Host(options);
    t.after(() => host.close());
    return host;
}

test("options of a host", (t) => {
    const folder = mkdtempSync(join(tmpdir(), "chordal-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const store = join(folder, "s.db");
    refused(() => new Host({ tpyes: [Notes] }), "tpyes");
    refused(() => new Host({ store, read_only: true }), "read_only");
    refused(() => new Host({ store, durability: "fast" }), "fast", "normal", "full", "off");
    refused(() => new Host({ store, durability: "toString" }), "toString");
    assert.equal(existsSync(store), false);
    refused(() => new Host({ durability: "fast" }), "fast", "normal");
    refused(() => new Host({ readOnly: true }), "readOnly", "store");
    refused(() => new Host({ outbox: true }), "outbox", "store");
    refused(() => new Host({ durability: "full" }), "durability", "store");
    opened(t, { readOnly: false, outbox: false, durability: "normal" });
    refused(() => new Host({ types: ["notes"] }), '"notes"', "type");
    refused(() => new Host({ types: Notes }), "types", "array");
    refused(() => new Host({ onError: "quiet" }), "onError", "quiet");
    refused(() => new Host(null), "null");
    refused(() => connect("ws://127.0.0.1:1", { tpyes: [Notes] }), "tpyes");
    refused(() => connect("ws://127.0.0.1:1", { credential: "ann" }), "credential");
    refused(() => parent({ tpyes: [Notes] }), "tpyes");
    refused(() => opened(t).provide("notes"), '"notes"');
    refused(() => opened(t).store.read(Notes, { board: "a" }, "list", { att: 1 }), "att");
});

test("a host takes all limits of the core", (t) => {
    const limits = { memory_limit: 1 << 28, ping_timeout: 5, turn_bytes: 1 << 20, dial_timeout: 100, deflate: 0 };
    opened(t, { ...limits, name: "5f0c1c0e-1f4b-4d39-9f0e-0a3f3f6d8f11", placed: true, freeze: false });
});

test("names are listed", () => {
    refused(() => type("t", { params: "board" }), "params", '"board"');
    refused(() => type("t", { params: { board: 1 } }), "params", "object");
    refused(() => type("t", { params: [5] }), "params", "5");
    const methods = { add() {} };
    refused(() => type("t", { methods, idempotent: "add" }), "idempotent", '"add"');
    refused(() => type("t", { methods, durable: "add" }), "durable", '"add"');
    refused(() => type("t", { documents: { list: [] }, inMemory: "list" }), "inMemory", '"list"');
});

test("a host that is not linked after all leaves its store", async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "chordal-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const store = join(folder, "s.db");
    assert.throws(() => connect("http://127.0.0.1:1", { store }));
    assert.throws(() => parent({ store }), { name: "state" });
    await new Promise(setImmediate);
    opened(t, { store });
});

test("options of links", async (t) => {
    const host = opened(t, { types: [Notes] });
    const open = { authentication: () => "anybody" };
    await refused(async () => host.listen("ws://127.0.0.1:0", open), "authentication");
    await refused(async () => host.listen("ws://127.0.0.1:0", { authenticate: "x" }), "authenticate", "function");
    await refused(async () => host.listen("ws://127.0.0.1:0", { path: "/live" }), "path");
    await refused(async () => pair(opened(t), host, open), "authentication");
    await refused(async () => pair(opened(t), host, { authenticate: 5 }), "authenticate");
    const server = createServer();
    refused(() => host.attach(server, open), "authentication");
    refused(() => host.attach(server, { authenticate: null }), "authenticate");
    assert.equal(server.listenerCount("upgrade"), 0);
    refused(() => host.connect("ws://127.0.0.1:1", { credential: "ann" }), "credential");
    refused(() => host.connect("ws://127.0.0.1:1", { codec: "xml" }), "xml", "binary", "text");
    refused(() => host.worker("false", [], { retries: 1 }), "retries");
    refused(() => host.worker("false", [], { types: [5] }), "5");
    refused(() => host.parent({ server: false }), "server");
    await host.close(); // nothing was begun that keeps it
});

test("options of references and calls", async (t) => {
    const host = opened(t, { types: [Notes] });
    const of = { board: "a" };
    refused(() => host.get(Notes, of, { manuel: true }), "manuel");
    refused(() => host.get(Notes, of, { values: "inplace" }), "inplace", "in-place", "shared", "none");
    refused(() => host.get(undefined, of), "undefined");
    const notes = host.get(Notes, of, { values: "in-place", manual: false, version: 0 });
    await refused(async () => notes.call("add", ["milk"], { timeout: "x" }), "timeout", '"x"');
    await refused(async () => notes.call("add", ["milk"], { timeout: NaN }), "timeout", "NaN");
    await refused(async () => notes.call("add", ["milk"], { time: 5 }), "time");
    await refused(async () => notes.call("add", ["milk"], { signal: 5 }), "signal", "5");
    refused(() => notes.list.watch(5), "5", "function");
    refused(() => notes.list.watch(), "undefined");
    refused(() => notes.onState("x"), "x", "function");
    await notes.call("add", ["milk"], { timeout: 5000, signal: new AbortController().signal });
    assert.deepEqual((await host.object(Notes, of)).list, ["milk"]);
});

test("an object by the name of its type", async (t) => {
    const host = opened(t, { types: [Notes] });
    assert.equal(await host.object("notes", { board: "a" }), await host.object(Notes, { board: "a" }));
    await assert.rejects(host.object("nots", { board: "a" }), { name: "no_type", message: /nots/ });
    await refused(async () => host.object(undefined), "undefined");
});

test("declarations", () => {
    const documents = { a: 1 };
    refused(() => type({ documents }), "name", "an object");
    refused(() => type("odd"), "odd", "undefined");
    refused(() => type("odd", { documents, derives: { twice: { from: ["a"] } } }), "twice", "compute");
    refused(() => type("odd", { documents, derives: { twice: { from: "a", compute() {} } } }), "twice", "from");
    refused(() => type("odd", { documents, derives: { twice: { form: ["a"], compute() {} } } }), "twice", "form");
    refused(() => type("odd", { documents, derives: { twice: 5 } }), "twice", "5");
    refused(() => type("odd", { methods: { add() {} }, idempotent: ["ad"] }), "method", "ad");
    refused(() => type("odd", { documents, durable: ["a"] }), "method", "a");
    refused(() => type("odd", { documents, guard: true }), "guard", "true");
});
