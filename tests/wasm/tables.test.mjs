// The WebAssembly core has no rows: a type with tables is refused. (What it holds of others: tests/interop.)

import assert from "node:assert/strict";
import { test } from "node:test";

import { Host, type, useWasm } from "../../node/dist/node.js";

useWasm();

test("a type with tables is refused", async () => {
    const Board = type("board", { tables: { tasks: { columns: { id: "integer" }, key: ["id"] } } });
    const host = new Host({ types: [Board] });
    await assert.rejects(host.ready, { name: "unsupported" });
    const other = new Host();
    await other.ready;
    assert.throws(() => other.provide(Board), { name: "unsupported" });
    await other.close();
});
