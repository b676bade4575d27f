// When a host takes its turns: in microtasks, one step for all that wait, and not without end.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { Host, type } from "../dist/node.js";

const TURNS = 64; // pump.ts: without a pause
const Kept = type("kept", {
    params: ["key"],
    documents: { number: 0, text: "" },
    methods: {
        async add(call, number, text) {
            return [await call.transaction((t) => void (t.number = number)), text];
        },
    },
});

async function open(t, stored = false) {
    const made = mkdtempSync(join(tmpdir(), "chordal-"));
    const host = new Host({ types: [Kept], ...(stored && { store: join(made, "kept.db") }) });
    t.after(async () => {
        await host.close();
        rmSync(made, { recursive: true });
    });
    const kept = await host.object(Kept, { key: "a" });
    const reference = host.get(Kept, { key: "a" });
    await reference.live;
    return { host, kept, reference };
}

const commit = (kept, number) => kept.transaction((t) => void (t.number = number));
const steps = (host) => Number(host.counters().steps);

/** Counts how often the loop goes round, until it is stopped. */
function rounds() {
    const counted = { count: 0, stop: () => clearImmediate(next) };
    const on = () => {
        counted.count++;
        next = setImmediate(on);
    };
    let next = setImmediate(on);
    return counted;
}

test("commits one after the other do not wait for the loop", async (t) => {
    const { host, kept } = await open(t, true);
    const before = steps(host);
    const counted = rounds();
    const numbers = [];
    for (let i = 1; i <= 4 * TURNS; i++) numbers.push(await commit(kept, i));
    counted.stop();
    assert.equal(steps(host) - before, 4 * TURNS);
    assert.deepEqual(
        numbers,
        numbers.map((_, i) => numbers[0] + i),
    );
    assert.ok(counted.count <= 2 * 4 + 1, `${counted.count} rounds`);
});

for (const [what, start] of [
    ["timers", (seen) => setTimeout(seen, 1)],
    ["immediates", (seen) => setImmediate(seen)],
]) {
    test(`the loop goes round for ${what}`, async (t) => {
        const { kept } = await open(t);
        let seen = false;
        start(() => (seen = true));
        const due = performance.now() + 3;
        while (performance.now() < due); // it is due, and only the loop is wanted
        let commits = 0;
        while (!seen && commits < 10 * TURNS) await commit(kept, ++commits);
        assert.ok(seen && commits <= 3 * TURNS, `${commits} commits`);
    });
}

test("what is committed together is one step", async (t) => {
    const { host, kept } = await open(t, true);
    const before = steps(host);
    const tickets = [];
    for (let i = 1; i <= 300; i++) tickets.push(commit(kept, i));
    const numbers = await Promise.all(tickets);
    assert.equal(steps(host), before + 1);
    const inOrder = [...numbers].sort((a, b) => a - b);
    assert.deepEqual(numbers, inOrder);
});

test("those who commit together go on together", async (t) => {
    const { host, kept } = await open(t, true);
    const before = steps(host);
    async function some(which) {
        for (let i = 0; i < 2 * TURNS; i++) await commit(kept, which * 1000 + i + 1);
    }
    await Promise.all(Array.from({ length: 20 }, (_, which) => some(which)));
    assert.equal(steps(host), before + 2 * TURNS);
});

test("frames come in the order of commits, before the promise of each is kept", async (t) => {
    const { kept, reference } = await open(t);
    const seen = [];
    reference.number.watch(({ value, commit }) => seen.push([value, commit]));
    await new Promise(setImmediate);
    seen.length = 0;
    for (let i = 1; i <= 2 * TURNS; i++) {
        const number = await commit(kept, i);
        assert.deepEqual(seen.at(-1).map(Number), [i, number]);
    }
    assert.equal(seen.length, 2 * TURNS);
});

test("no turn is taken within one", async (t) => {
    const { kept, reference } = await open(t);
    let inside = 0;
    const seen = [];
    reference.number.watch(({ value }) => {
        assert.equal(++inside, 1);
        seen.push(value);
        if (value > 0 && value < 100) void commit(kept, value + 1);
        inside--;
    });
    await commit(kept, 1);
    while (seen.at(-1) < 100) await new Promise(setImmediate);
    assert.deepEqual(
        seen.filter((value) => value > 0),
        Array.from({ length: 100 }, (_, i) => i + 1),
    );
});

test("what is lent to the core is read before it is written anew", async (t) => {
    const { kept, reference } = await open(t);
    const texts = ["", "a", "é", "b".repeat(39), "c".repeat(41), "d".repeat(3000), "e".repeat(2 ** 21)];
    const calls = texts.map((text, i) => reference.add(i + 1, text));
    for (const text of texts) {
        const both = kept.transaction((t) => {
            t.text = text;
            t.number = -1;
            void kept.transaction((other) => void (other.number = 77));
        });
        if (text !== "") assert.ok((await both) > 0);
        assert.equal(kept.text, text);
        await commit(kept, 0);
    }
    const answers = await Promise.all(calls);
    assert.deepEqual(
        answers.map(([, text]) => text),
        texts,
    );
    while (reference.text.value !== texts.at(-1)) await new Promise(setImmediate);
    assert.equal(reference.number.value, 0);
});

test("a commit that waits when its host is closed is refused", async () => {
    const host = new Host({ types: [Kept] });
    const kept = await host.object(Kept, { key: "a" });
    const ticket = commit(kept, 1);
    host.closeNow();
    await assert.rejects(ticket, { name: "closed" });
    await host.close();
});
