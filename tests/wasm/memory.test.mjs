// The allocator of the WASM build, by what it promises: blocks that lie apart, and memory that is used again.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const file = readFileSync(new URL("../../wasm/dist/chordal.wasm", import.meta.url));

async function start() {
    const { instance } = await WebAssembly.instantiate(file, {
        chordal: { entropy: () => 0, read_real: Number, write_real: () => 0 },
    });
    instance.exports._initialize?.();
    return instance.exports;
}

/** The same numbers each time. */
function dice(seed) {
    return (sides) => {
        seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
        return (seed >>> 8) % sides;
    };
}

const bytes = (core, at, size) => new Uint8Array(core.memory.buffer, at, size);

function check(core, { at, size, mark }) {
    assert.ok(
        bytes(core, at, size).every((byte) => byte === mark),
        `a block of ${size} bytes was written to`,
    );
}

function churn(core, steps, largest) {
    const roll = dice(7);
    const blocks = [];
    for (let step = 0; step < steps; step++) {
        if (blocks.length > 200 || (blocks.length && roll(5) < 2)) {
            const [block] = blocks.splice(roll(blocks.length), 1);
            check(core, block);
            core.free(block.at);
            continue;
        }
        const size = roll(1 << (1 + roll(largest)));
        const at = core.malloc(size) >>> 0;
        assert.ok(at !== 0 && at % 8 === 0);
        const mark = roll(256);
        bytes(core, at, size).fill(mark);
        blocks.push({ at, size, mark });
    }
    for (const block of blocks) {
        check(core, block);
        core.free(block.at);
    }
}

test("blocks lie apart, and what is given back is used again", async () => {
    const core = await start();
    churn(core, 20000, 16);
    const pages = core.memory.buffer.byteLength;
    for (let round = 0; round < 5; round++) churn(core, 20000, 16);
    assert.equal(core.memory.buffer.byteLength, pages);
});

test("small blocks given back make room for a large one", async () => {
    const core = await start();
    const blocks = Array.from({ length: 4096 }, () => core.malloc(1000) >>> 0);
    const pages = core.memory.buffer.byteLength;
    for (let start of [1, 0]) for (; start < blocks.length; start += 2) core.free(blocks[start]);
    const large = core.malloc(4096 * 1000) >>> 0;
    assert.ok(large !== 0);
    assert.equal(core.memory.buffer.byteLength, pages);
});

test("what cannot be had is refused, and all goes on", async () => {
    const core = await start();
    const kept = core.malloc(16) >>> 0;
    bytes(core, kept, 16).fill(9);
    for (const size of [0xffffffff, 0x80000000, 0x7fffffff, 0x7ffffff0]) assert.equal(core.malloc(size | 0), 0);
    assert.ok(core.malloc(0) !== 0);
    core.free(0);
    churn(core, 2000, 12);
    check(core, { at: kept, size: 16, mark: 9 });
});
