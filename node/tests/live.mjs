// Hosts, objects, references and links by the TypeScript layer, for any core that it stands on.

import assert from "node:assert/strict";
import { test } from "node:test";

import { append, ChordalError, connect, Host, MethodError, pair, truncate, type, versions } from "../dist/node.js";
import { entriesOf, Notes, pause, permutations, quiet, ways } from "./live_setup.mjs";
import { edgeTests } from "./live_edges.mjs";

export { Notes, pause } from "./live_setup.mjs";

export function liveTests({ forwards = true } = {}) {
    for (const [way, make] of Object.entries(ways)) {
        test(`${way}: state and calls`, async () => {
            const { holder, end } = await make();
            const notes = holder.get(Notes, { board: "lunch" });
            assert.equal(notes.state, "pending");
            assert.equal(notes.list.value, undefined);
            const frames = [];
            notes.list.watch((frame) => frames.push(frame));
            await notes.live;
            assert.equal(notes.state, "live");
            assert.deepEqual(notes.list.value, { entries: [], text: "" });
            assert.equal(notes.count.value, 0);
            assert.equal(await notes.add("milk"), 1);
            assert.equal(notes.list.value.entries[0].text, "milk", "the change is here before the result");
            assert.equal(notes.count.value, 1);
            assert.equal(notes.twice.value, 2);
            const first = notes.list.value.entries;
            await notes.say("abc");
            assert.equal(notes.list.value.text, "abc");
            assert.equal(notes.list.value.entries, first, "what did not change is shared");
            assert.equal(await notes.say("def"), null);
            assert.equal(frames[0].snapshot, true);
            assert.deepEqual(frames.at(-1).ops, [{ op: "append", path: ["text"], text: "def" }]);
            assert.equal(frames.at(-1).value, notes.list.value);
            assert.equal(await notes.digest(), holder.digest(notes.list.value));
            await end();
        });

        test(`${way}: values of all kinds, as arguments, results and state`, async () => {
            const { holder, end } = await make();
            const notes = holder.get("notes", { board: "ключ \ud83d" });
            const values = [null, true, 0, -1, 2 ** 53 - 1, 2n ** 53n, -(2n ** 63n), 2n ** 64n - 1n, 1.5, 1e300];
            values.push("", "\ud83d", "漢", [[]], {}, JSON.parse('{"__proto__": 1, "": {}}'));
            assert.deepEqual(await notes.echo(...values), values);
            for (const size of [0, 3, 70000]) {
                const bytes = new Uint8Array(size).fill(200);
                assert.deepEqual(await notes.bytes(bytes), bytes);
            }
            assert.equal(await notes.odd("nothing"), null);
            for (const token of ["\ud83d", "\ude00"]) await notes.say(token);
            assert.equal(notes.list.value.text, "😀");
            await end();
        });

        test(`${way}: failures have their codes`, async () => {
            const { holder, end } = await make();
            const notes = holder.get(Notes, { board: "x" });
            await assert.rejects(notes.fail("full", "no room"), (error) => {
                assert.ok(error instanceof MethodError && error instanceof ChordalError);
                assert.equal(error.name, "full");
                assert.equal(error.message, "no room");
                return true;
            });
            const internal = { name: "internal", message: "the provider failed" };
            await assert.rejects(notes.crash(), internal);
            for (const what of ["function", "number", "date"]) await assert.rejects(notes.odd(what), internal);
            await assert.rejects(notes.none(), { name: "no_member" });
            await assert.rejects(notes.list(), { name: "no_member" });
            assert.throws(() => notes.none.value, { name: "no_member" });
            assert.throws(() => notes.add.watch(() => {}), { name: "no_member" });
            assert.equal(await notes.add("still there"), 1);
            await end();
        });

        test(`${way}: timeouts and aborts`, async () => {
            const { holder, end } = await make();
            const notes = holder.get(Notes, { board: "x" });
            await notes.live;
            await assert.rejects(notes.call("never", [], { timeout: 20 }), { name: "deadline" });
            const stop = new AbortController();
            const waiting = notes.call("wait", [50], { signal: stop.signal });
            setTimeout(() => stop.abort(), 10);
            await assert.rejects(waiting, { name: "AbortError" });
            await assert.rejects(notes.call("wait", [0], { signal: AbortSignal.abort("gone") }), /gone/);
            assert.equal(await notes.call("wait", [1], { timeout: 5000, signal: new AbortController().signal }), false);
            await end();
        });

        test(`${way}: many calls at once keep their order`, async () => {
            const { holder, end } = await make();
            const notes = holder.get(Notes, { board: "x" });
            const calls = [];
            for (let i = 0; i < 500; i++) calls.push(notes.add(String(i)));
            assert.deepEqual(
                await Promise.all(calls),
                Array.from({ length: 500 }, (_, i) => i + 1),
            );
            assert.deepEqual(notes.list.value.entries.map((entry) => entry.text).join(), [...Array(500).keys()].join());
            await end();
        });
    }

    test("own changes can be read at once", async () => {
        const host = new Host({ types: [Notes] });
        const notes = await host.object(Notes, { board: "a" });
        const ticket = notes.transaction((t) => {
            t.list.entries.push({ id: "1", text: "x" });
            t.other = 5;
        });
        assert.equal(notes.list.entries.length, 1);
        assert.equal(notes.count, 1);
        assert.equal(notes.twice, 2);
        assert.equal(notes.other, 5);
        assert.equal(await ticket, 1);
        assert.equal(await notes.transaction(() => {}), 0);
        notes.release();
        await host.close();
    });

    test("a commit is one crossing", async () => {
        const Plain = type("plain", { documents: { a: { list: [] }, b: "" } });
        const host = new Host({ types: [Plain] });
        const [one, two] = [await host.object(Plain), await host.object(Plain)];
        assert.equal(one, two);
        (void one.a, one.b);
        await pause(5);
        const crossings = entriesOf(host, () => {
            one.transaction((t) => {
                for (let i = 0; i < 100; i++) t.a.list.push(i);
                t.a.list.reverse();
                t.b += "text";
                t.a.map = { x: 1 };
            });
        });
        assert.equal(crossings, 1);
        assert.equal(one.a.list[0], 99);
        await host.close();
    });

    test("a transaction over several objects is seen whole, or leaves nothing", async () => {
        const { holder, provider, end } = await ways.memory();
        const [a, b] = [await provider.object(Notes, { board: "a" }), await provider.object(Notes, { board: "b" })];
        const [farA, farB] = [holder.get(Notes, { board: "a" }), holder.get(Notes, { board: "b" })];
        await Promise.all([farA.live, farB.live]);
        const seen = [];
        farA.other.watch(({ value }) => seen.push([value, farB.other.value]));
        farB.other.watch(({ value }) => seen.push([farA.other.value, value]));
        const commit = await provider.transaction((t) => {
            t.of(a).other = 1;
            t.of(b).other = 1;
        });
        assert.ok(commit > 0);
        assert.throws(() => {
            provider.transaction((t) => {
                t.of(a).other = 7;
                throw new Error("no");
            });
        }, /no/);
        assert.throws(() => provider.transaction((t) => t.of({}).other), { name: "invalid" });
        assert.throws(() => a.transaction(async (t) => void (t.other = 3)), { name: "state" });
        assert.throws(() => a.transaction((t) => void (t.none = 3)), TypeError);
        assert.throws(() => a.transaction((t) => void (t.other = undefined)), { name: "type" });
        await pause(20);
        assert.deepEqual(
            seen.filter(([x, y]) => x !== y),
            [],
        );
        assert.deepEqual([a.other, b.other, farA.other.value, farB.other.value], [1, 1, 1, 1]);
        await end();
    });

    test("text is appended and cut by functions, too", async () => {
        const host = new Host({ types: [Notes] });
        const notes = await host.object(Notes, { board: "a" });
        await notes.transaction((t) => {
            t.other = "abc";
            append(t, "other", "def");
            truncate(t, "other", 2);
            append(t.list, "text", "x");
        });
        assert.deepEqual([notes.other, notes.list.text], ["cdef", "x"]);
        await host.close();
    });

    test("what one object is assigned travels as the difference", async () => {
        const { holder, provider, end } = await ways.memory();
        const notes = await provider.object(Notes, { board: "a" });
        const far = holder.get(Notes, { board: "a" });
        notes.transaction((t) => (t.list.entries = [{ id: "1" }, { id: "2" }, { id: "3" }]));
        await far.live;
        const frames = [];
        far.list.watch((frame) => frames.push(frame));
        await pause(10);
        const before = far.list.value.entries;
        notes.transaction((t) => (t.list = { entries: [{ id: "1" }, { id: "2b" }, { id: "3" }], text: "" }));
        await pause(10);
        assert.equal(far.list.value.entries[1].id, "2b");
        assert.equal(far.list.value.entries[0], before[0]);
        assert.equal(frames.at(-1).ops.length, 1);
        assert.ok(JSON.stringify(frames.at(-1).ops).length < 80, JSON.stringify(frames.at(-1).ops));
        await end();
    });

    test("a derive that throws keeps its value and recovers", async () => {
        const Fragile = type("fragile", {
            documents: { a: 1 },
            derives: {
                half: {
                    from: ["a"],
                    compute({ a }) {
                        if (a === 13) throw new MethodError("unlucky", "no thirteen");
                        if (a === 14) throw new Error("a secret");
                        return a / 2;
                    },
                },
            },
        });
        for (const linked of [false, true]) {
            const provider = new Host({ types: [Fragile], ...quiet });
            const holder = linked ? new Host() : provider;
            if (linked) await pair(holder, provider);
            const object = await provider.object(Fragile);
            const held = holder.get(Fragile);
            await held.live;
            const frames = [];
            held.half.watch((frame) => frames.push([frame.value, frame.error?.name, frame.error?.message]));
            for (const a of [13, 14, 4]) {
                await object.transaction((t) => (t.a = a));
                await pause(10);
            }
            assert.deepEqual(frames, [
                [0.5, undefined, undefined],
                [0.5, "unlucky", "no thirteen"],
                [0.5, "internal", "the provider failed"],
                [2, undefined, undefined],
            ]);
            assert.equal(held.half.error, undefined);
            await Promise.all([holder.close(), provider.close()]);
        }
    });

    test("a derive over two documents is computed once for a commit of both", async () => {
        const Sum = type("sum", {
            documents: { a: 1, b: 2 },
            derives: { total: { from: ["a", "b"], compute: ({ a, b }) => a + b } },
            methods: {
                async set(call, a, b) {
                    await call.transaction((t) => {
                        t.a = a;
                        t.b = b;
                    });
                },
            },
        });
        const [provider, holder] = [new Host({ types: [Sum] }), new Host()];
        await pair(holder, provider);
        const sum = holder.get(Sum, {});
        await sum.live;
        assert.equal(sum.total.value, 3);
        const before = provider.counters().computes;
        const seen = [];
        sum.total.watch(({ value }) => seen.push(value));
        await pause(5);
        await sum.set(10, 20);
        assert.equal(sum.total.value, 30);
        assert.equal(provider.counters().computes - before, 1n);
        assert.deepEqual(seen, [3, 30]);
        await Promise.all([holder.close(), provider.close()]);
    });

    test("a derive that never answers is given up, and later commits go on", async () => {
        let answer = true;
        const Slow = type("slow", {
            documents: { a: 1 },
            derives: { copy: { from: ["a"], compute: ({ a }) => (answer ? a : new Promise(() => {})) } },
        });
        const host = new Host({ types: [Slow], compute_timeout: 50, ...quiet });
        const slow = host.get(Slow);
        const object = await host.object(Slow);
        await slow.live;
        answer = false;
        const stuck = object.transaction((t) => (t.a = 2));
        const next = object.transaction((t) => (t.a = 3));
        await stuck;
        assert.equal(slow.copy.value, 1);
        assert.equal(slow.copy.error.code, -84);
        answer = true;
        await next;
        await object.transaction((t) => (t.a = 4));
        assert.equal(slow.copy.value, 4);
        assert.equal(slow.copy.error, undefined);
        await host.close();
    });

    test("derives may be asynchronous, and see the commit that they belong to", async () => {
        const seen = [];
        const Later = type("later", {
            documents: { a: 0 },
            derives: {
                copy: {
                    from: ["a"],
                    async compute({ a }) {
                        seen.push(a);
                        await pause(2);
                        return a;
                    },
                },
            },
        });
        const host = new Host({ types: [Later] });
        const object = await host.object(Later);
        const held = host.get(Later);
        await held.live;
        const commits = [1, 2, 3].map((n) => object.transaction((t) => (t.a = n)));
        await Promise.all(commits);
        assert.deepEqual(seen, [0, 1, 2, 3]);
        assert.equal(held.copy.value, 3);
        await host.close();
    });

    test("frames that nobody takes are folded into one", async () => {
        const { holder, provider, end } = await ways.memory();
        const notes = await provider.object(Notes, { board: "a" });
        const far = holder.get(Notes, { board: "a" });
        await far.live;
        const frames = far.list.frames();
        assert.equal((await frames.next()).value.snapshot, true);
        for (const letter of "abcdef") await notes.transaction((t) => (t.list.text += letter));
        await pause(20);
        const { value: frame } = await frames.next();
        assert.equal(frame.value.text, "abcdef");
        assert.ok(frame.folded);
        const asked = frames.next();
        await notes.transaction((t) => (t.list.text += "!"));
        assert.deepEqual((await asked).value.ops, [{ op: "append", path: ["text"], text: "!" }]);
        const ending = frames.next();
        far.release();
        assert.equal((await ending).done, true);
        assert.equal((await frames.next()).done, true);
        await end();
    });

    test("a manual reference moves as fast as its frames are taken", async () => {
        const { holder, provider, end } = await ways.memory({ window_messages: 4 });
        const notes = await provider.object(Notes, { board: "a" });
        const far = holder.get(Notes, { board: "a" }, { manual: true });
        await far.live;
        const frames = far.list.frames();
        await frames.next();
        const letters = "abcdefghijklmnopqrstuvwxyz";
        for (const letter of letters) await notes.transaction((t) => (t.list.text += letter));
        await pause(20);
        assert.ok(far.list.value.text.length < letters.length, far.list.value.text);
        let text = "";
        let taken = 0;
        while (text !== letters) {
            text = (await frames.next()).value.value.text;
            taken++;
        }
        assert.ok(taken < 10, String(taken));
        await end();
    });

    test("for await ends with the object", async () => {
        const { holder, provider, end } = await ways.memory();
        const notes = await provider.object(Notes, { board: "a" });
        const far = holder.get(Notes, { board: "a" });
        await far.live;
        const texts = [];
        const loop = (async () => {
            for await (const { value } of far.list.frames()) texts.push(value.text);
        })();
        await notes.transaction((t) => (t.list.text = "x"));
        await pause(10);
        notes.retire();
        await loop;
        assert.equal(far.state, "retired");
        assert.deepEqual(texts, ["", "x"]);
        assert.throws(() => far.list.watch(() => {}), { name: "retired" });
        await assert.rejects(far.live, { name: "retired" });
        await assert.rejects(far.add("x"), { name: "retired" });
        await end();
    });

    test("values in place, and ops alone", async () => {
        const { holder, provider, end } = await ways.memory();
        const notes = await provider.object(Notes, { board: "a" });
        const place = holder.get(Notes, { board: "a" }, { values: "in-place" });
        const ops = holder.get(Notes, { board: "a" }, { values: "none" });
        const seen = [];
        ops.list.watch((frame) => seen.push(frame));
        await Promise.all([place.live, ops.live]);
        const value = place.list.value;
        await notes.transaction((t) => t.list.entries.push({ id: "1" }));
        await pause(10);
        assert.equal(place.list.value, value);
        assert.equal(value.entries.length, 1);
        assert.equal(ops.list.value, undefined);
        assert.deepEqual(seen[0].ops[0].value, { entries: [], text: "" });
        assert.deepEqual(seen[1].ops[0].values, [{ id: "1" }]);
        assert.deepEqual([seen[0].snapshot, seen[1].snapshot], [true, false]);
        await end();
    });

    test("ops alone that wait are folded, and too many become a whole value", async () => {
        const { holder, provider, end } = await ways.memory();
        const notes = await provider.object(Notes, { board: "a" });
        const ops = holder.get(Notes, { board: "a" }, { values: "none" });
        const frames = ops.list.frames();
        await ops.live;
        for (let n = 0; n < 3; n++) await notes.transaction((t) => (t.list.text += n));
        await pause(10);
        const first = (await frames.next()).value;
        assert.ok(first.snapshot && first.folded);
        assert.deepEqual(
            first.ops.slice(1),
            [0, 1, 2].map((n) => ({ op: "append", path: ["text"], text: String(n) })),
        );
        const more = "x".repeat(300_000);
        for (let n = 0; n < 5; n++) {
            await notes.transaction((t) => (t.list.text += more));
            await pause(5);
        }
        await pause(50);
        let text;
        do {
            const { value } = await frames.next();
            for (const op of value.ops) text = op.op === "replace" ? op.value.text : text + op.text;
        } while (text?.length !== 1_500_003);
        assert.ok(text.startsWith("012x"));
        await end();
    });

    test("start holds an object back or fails it; retired is told", async () => {
        const told = [];
        let broken = true;
        const Careful = type("careful", {
            params: ["name"],
            documents: { a: 0 },
            async start(object) {
                await pause(1);
                if (object.params.name === "bad" && broken) throw new MethodError("closed_today", "come back");
                object.transaction((t) => (t.a = 7));
            },
            retired: (object) => told.push(object.params.name),
        });
        const host = new Host({ types: [Careful], ...quiet });
        const good = host.get(Careful, { name: "good" });
        const bad = host.get(Careful, { name: "bad" });
        await good.live;
        assert.equal(good.a.value, 7);
        await assert.rejects(bad.live, { message: /come back/ });
        assert.equal(bad.state, "failed");
        broken = false;
        bad.retry();
        await pause(20);
        assert.equal(bad.state, "live");
        good.release();
        await pause(20);
        assert.deepEqual(told, ["good"]);
        await host.close();
    });

    test("what cannot be held fails", async () => {
        const { holder, end } = await ways.memory();
        const none = holder.get("none", {});
        await assert.rejects(none.live, { name: "no_type" });
        assert.equal(none.state, "failed");
        await assert.rejects(none.anything(), { name: "no_type" });
        await assert.rejects(holder.get("notes", { wrong: 1 }).live, { name: "params" });
        const lonely = new Host();
        await assert.rejects(lonely.get("notes", {}).live, { name: "no_type" });
        await lonely.close();
        assert.throws(() => holder.get("notes", { board: () => 1 }), { name: "type" });
        await end();
    });

    test("references to the same object share one copy", async () => {
        const { holder, provider, end } = await ways.memory();
        const [a, b] = [holder.get(Notes, { board: "a" }), holder.get("notes", { board: "a" })];
        await Promise.all([a.live, b.live]);
        assert.equal(a.list.value, b.list.value);
        assert.equal(provider.counters().snapshots_encoded, 1n);
        a.release();
        assert.equal(a.state, "released");
        assert.equal(b.state, "live");
        await assert.rejects(a.add("x"), { name: "released" });
        assert.equal(await b.add("x"), 1);
        await end();
    });

    test("what is misspelt is told", async () => {
        for (const declaration of [
            { param: ["board"] },
            { methods: { add: "x" } },
            { documents: { a: 1 }, derives: { a: {} } },
        ])
            assert.throws(() => type("odd", declaration), { name: "invalid" });
        const host = new Host({ types: [Notes] });
        for (const address of ["http://x", "ws://", "ws://127.0.0.1:99999", "ipc:", "127.0.0.1:7777", ""]) {
            assert.throws(() => host.connect(address), { name: "invalid" }, address);
            await assert.rejects(host.listen(address), { name: "invalid" }, address);
        }
        const notes = host.get("notes", { board: "a" });
        await assert.rejects(notes.call("add", "milk"), { name: "invalid" });
        await host.close();
    });

    test("a change is encoded once for all who hold the object", async () => {
        const provider = new Host({ types: [Notes] });
        const server = await provider.listen("ws://127.0.0.1:0");
        const holders = Array.from({ length: 4 }, () => connect(server.address));
        const held = holders.map((holder) => holder.get(Notes, { board: "a" }));
        await Promise.all(held.map(({ live }) => live));
        const before = provider.counters();
        const notes = await provider.object(Notes, { board: "a" });
        for (let i = 0; i < 10; i++) {
            await notes.transaction((t) => t.list.entries.push({ id: String(i) }));
            while (held.some(({ list }) => list.value.entries.length <= i)) await pause(1);
        }
        const counters = provider.counters();
        assert.equal(counters.changes_encoded - before.changes_encoded, 10n);
        await Promise.all([...holders, provider].map((host) => host.close()));
    });

    test("calls before the link is up, and while it is down, wait and leave in order", async () => {
        const provider = new Host({ types: [Notes] });
        await provider.object(Notes, { board: "a" }); // it stays when its holder is gone
        const server = await provider.listen("ws://127.0.0.1:0");
        const holder = connect(server.address, { backoff_first: 10, backoff_limit: 20 });
        const notes = holder.get(Notes, { board: "a" });
        const states = [];
        notes.onState(({ state }) => states.push(state));
        assert.equal(await notes.add("one"), 1);
        server.close();
        while (notes.state !== "down") await pause(5);
        assert.equal(notes.list.value.entries.length, 1, "the last values stay readable");
        const waiting = [notes.add("two"), notes.add("three")];
        const again = await provider.listen(server.address);
        assert.deepEqual(await Promise.all(waiting), [2, 3]);
        assert.equal(notes.list.value.entries.length, 3);
        assert.deepEqual(states, ["pending", "live", "down", "live"]);
        void again;
        await Promise.all([holder.close(), provider.close()]);
    });

    test("everything that waits is settled when a host closes", async () => {
        const { holder, provider } = await ways.binary();
        const notes = holder.get(Notes, { board: "a" });
        await notes.live;
        const waiting = [
            assert.rejects(notes.never(), { name: "closed" }),
            assert.rejects(holder.get("notes", { board: "b" }).live, { name: "closed" }),
            assert.rejects(holder.connect("ws://127.0.0.1:1").up, { name: /closed|bye/ }),
        ];
        const frames = notes.list.frames();
        await frames.next();
        waiting.push(frames.next().then(({ done }) => assert.ok(done)));
        holder.closeNow();
        await Promise.all(waiting);
        await assert.rejects(notes.add("x"), { name: "closed" });
        assert.throws(() => holder.get("notes", { board: "c" }), { name: "closed" });
        assert.deepEqual(notes.list.value, { entries: [], text: "" });
        await holder.close();
        holder.closeNow();
        await provider.close();
    });

    test("closed in every order", async () => {
        let steps = 0;
        for (const order of permutations(["holder", "provider", "link", "reference", "watch", "call"])) {
            const [provider, holder] = [new Host({ types: [Notes], ...quiet }), new Host()];
            const link = await pair(holder, provider);
            const reference = holder.get(Notes, { board: "a" });
            await reference.live;
            const watch = reference.list.watch(() => {});
            const stop = new AbortController();
            const call = reference.call("never", [], { signal: stop.signal }).catch(() => "settled");
            const closers = {
                holder: () => holder.closeNow(),
                provider: () => provider.closeNow(),
                link: () => link.close(),
                reference: () => reference.release(),
                watch,
                call: () => stop.abort(),
            };
            for (const name of order) {
                closers[name]();
                if (++steps % 7 === 0) await pause(0);
            }
            assert.equal(await call, "settled", order.join());
        }
    });

    test("wrong arguments throw and harm nothing", async () => {
        const host = new Host({ types: [Notes], ...quiet });
        const notes = host.get(Notes, { board: "a" });
        for (const bad of [undefined, null, 1, "x", {}, [], () => {}, Symbol("s"), 1n, NaN]) {
            for (const call of [
                () => void host.get(bad, bad),
                () => void host.get("notes", bad),
                () => host.provide(bad),
                () => host.connect(bad),
                () => host.connect("ws://127.0.0.1:1", { codec: bad }).close(),
                () => type(bad, bad),
                () => new Host({ memory_limit: bad }).closeNow(),
                () => new Host({ types: bad }).closeNow(),
                () => notes.call(bad, bad, bad)?.catch?.(() => {}),
                () => notes.list.watch(bad)(),
            ]) {
                try {
                    void call()?.catch?.(() => {});
                } catch (error) {
                    assert.ok(error instanceof Error);
                }
            }
        }
        for (const url of ["ws://", "wss:", "http://x", "ipc:", "", "\0"]) {
            try {
                host.connect(url).close();
            } catch (error) {
                assert.ok(error instanceof Error);
            }
        }
        assert.equal(await notes.add("fine"), 1);
        await host.close();
    });

    test("a type that is there already is refused", async () => {
        const host = new Host({ types: [Notes] });
        await host.ready;
        assert.throws(() => host.provide(Notes), { name: "exists" });
        assert.throws(() => type("twice", { documents: { a: 1 }, derives: { a: { from: [], compute: () => 1 } } }), {
            name: "invalid",
        });
        await host.close();
    });

    test("a host tells of itself", async () => {
        const host = new Host();
        await host.ready;
        assert.match(host.run, /^[0-9a-f]{32}$/);
        assert.equal(host.digest({ a: [1, "x"] }), host.digest({ a: [1n, "x"] }));
        assert.equal(typeof versions().chordal, "string");
        assert.equal(versions().protocol, 1);
        assert.equal(host.closed, false);
        await host[Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]();
        assert.equal(host.closed, true);
        assert.throws(() => host.counters(), { name: "closed" });
    });

    test("values are frozen in development", async () => {
        for (const freeze of [true, false]) {
            const { holder, end } = await ways.memory({ freeze });
            const notes = holder.get(Notes, { board: "a" });
            await notes.add("x");
            assert.equal(Object.isFrozen(notes.list.value.entries[0]), freeze);
            assert.equal(Object.isFrozen(notes.list.value), freeze);
            await end();
        }
    });

    test("an object routed through another host", { skip: !forwards }, async () => {
        const relay = new Host();
        const server = await relay.listen("ws://127.0.0.1:0", { routeOffers: true });
        const provider = new Host({ types: [Notes] });
        await provider.connect(server.address, { offer: true }).up;
        const holder = connect(server.address);
        const notes = holder.get(Notes, { board: "a" });
        await notes.live;
        assert.equal(await notes.add("x"), 1);
        assert.equal(notes.list.value.entries.length, 1);
        await Promise.all([holder.close(), provider.close(), relay.close()]);
    });

    edgeTests();
}
