// Who is let in, what those may hold and call, and how it is taken back.

import assert from "node:assert/strict";
import { test } from "node:test";

import { connect, Host, MethodError, pair, type } from "../dist/node.js";
import { folder, pause } from "./live_setup.mjs";

const reported = [];
const quiet = { onError: (error, where) => reported.push([where, error]) };

function board(verdicts, asked = []) {
    return type("board", {
        params: ["name"],
        documents: { text: "" },
        methods: {
            who: (call) => call.authority,
            forever: (call) => new Promise((resolve) => call.signal.addEventListener("abort", resolve)),
        },
        async guard(ask) {
            asked.push(ask);
            await pause(1);
            const verdict = verdicts[ask.method ?? ask.params.name];
            if (verdict instanceof Error) throw verdict;
            return verdict;
        },
    });
}

const Plain = type("plain", {
    documents: { text: "" },
    methods: { who: (call) => [call.authority, call.origin !== 0n] },
});

const letIn = async (user) => ({ user });

async function failure(promise) {
    const error = await promise.then(
        () => assert.fail("not refused"),
        (error) => error,
    );
    return [error.name, error.detail ?? error.message];
}

async function until(condition) {
    for (let i = 0; i < 2000 && !condition(); i++) await pause(1);
    assert.ok(condition());
}

/** Two hosts, one of which lets the other in. */
async function joined(types, options = {}, credentials = "ann") {
    const server = new Host({ types, ...quiet, ...options });
    const host = new Host(quiet);
    const link = await pair(host, server, { credentials, authenticate: letIn });
    return { server, host, link, end: () => Promise.all([host.close(), server.close()]) };
}

for (const codec of ["binary", "text"]) {
    test(`over a WebSocket, ${codec}`, async () => {
        const seen = [];
        const server = new Host({ types: [Plain], ...quiet });
        const listening = await server.listen("ws://127.0.0.1:0", {
            async authenticate(credentials) {
                seen.push(credentials);
                await pause(5);
                if (credentials?.token !== "new") throw new MethodError("refused", "the token is too old");
                return "ann";
            },
        });
        const host = connect(listening.address, { codec, credentials: { token: "new" } });
        const plain = host.get(Plain, {});
        await plain.live;
        assert.deepEqual(await plain.who(), ["ann", true]);
        const other = new Host(quiet);
        const link = other.connect(listening.address, { codec, credentials: { token: "old" } });
        const held = other.get(Plain, {});
        assert.deepEqual(await failure(link.up), ["refused", "the token is too old"]);
        assert.equal(link.state, "closed");
        assert.equal((await failure(held.live))[0], "refused");
        await pause(30);
        assert.equal(seen.length, 2); // it does not come back
        await Promise.all([host.close(), other.close()]);
        await server.close();
    });
}

test("credentials are asked for at each dial", async () => {
    const seen = [];
    let shown = 0;
    const address = `ipc:${folder}/authority`;
    const authenticate = (credentials) => void seen.push(credentials);
    const server = new Host({ types: [Plain], ...quiet });
    const first = await server.listen(address, { authenticate });
    const host = connect(address, { credentials: async () => shown++, backoff_first: 1, ...quiet });
    const plain = host.get(Plain, {});
    await plain.live;
    assert.deepEqual(await plain.who(), [null, true]); // let in, without an authority
    first.close();
    await until(() => plain.state !== "live");
    const second = await server.listen(address, { authenticate });
    await until(() => plain.state === "live");
    assert.deepEqual(seen.length, 2);
    assert.ok(seen[1] > seen[0]);
    second.close();
    await Promise.all([host.close(), server.close()]);
});

test("credentials that cannot be had", async () => {
    reported.length = 0;
    let tries = 0;
    const server = new Host(quiet);
    const listening = await server.listen("ws://127.0.0.1:0");
    const credentials = () => {
        tries++;
        throw new Error("no vault");
    };
    const host = connect(listening.address, { credentials, backoff_first: 1, ...quiet });
    await until(() => tries > 1);
    assert.ok(reported.length > 1);
    await host.close();
    await server.close();
});

test("renewed credentials", async () => {
    const seen = [];
    const [server, host] = [new Host(quiet), new Host(quiet)];
    const link = await pair(host, server, { credentials: "first", authenticate: (shown) => void seen.push(shown) });
    await link.up;
    link.renew("second");
    assert.throws(() => link.renew(NaN));
    await pause(5);
    assert.deepEqual(seen, ["first"]);
    await Promise.all([host.close(), server.close()]);
});

for (const fault of [new Error("secret words"), new MethodError("own", "secret words"), undefined]) {
    test(`what fails lets nobody in: ${fault}`, async () => {
        const [server, host] = [new Host({ types: [Plain], ...quiet }), new Host(quiet)];
        const link = await pair(host, server, { authenticate: () => Promise.reject(fault) });
        const plain = host.get(Plain, {});
        const [name, detail] = await failure(link.up);
        assert.equal(name, "refused");
        assert.ok(!detail.includes("secret"));
        assert.equal(plain.state, "failed");
        assert.equal(server.counters().live_objects, 0n);
        await Promise.all([host.close(), server.close()]);
    });
}

test("an authority that is no value", async () => {
    const [server, host] = [new Host(quiet), new Host(quiet)];
    const link = await pair(host, server, { authenticate: () => () => 1 });
    assert.equal((await failure(link.up))[0], "refused");
    await Promise.all([host.close(), server.close()]);
});

test("one that never answers", async () => {
    const [server, host] = [
        new Host({ handshake_timeout: 20, ...quiet }),
        new Host({ backoff_first: 10000, ...quiet }),
    ];
    const link = await pair(host, server, { authenticate: () => new Promise(() => {}) });
    await until(() => link.state === "wait");
    assert.equal(link.error.name, "timeout");
    await Promise.all([host.close(), server.close()]);
});

test("a guard is asked", async () => {
    const asked = [];
    const Board = board({ lunch: true, who: true }, asked);
    const { host, end } = await joined([Board]);
    const lunch = host.get(Board, { name: "lunch" });
    await lunch.live;
    assert.deepEqual(await lunch.who(), { user: "ann" });
    assert.deepEqual(
        asked.map(({ authority, params, method }) => [authority, params, method]),
        [
            [{ user: "ann" }, { name: "lunch" }, undefined],
            [{ user: "ann" }, { name: "lunch" }, "who"],
        ],
    );
    assert.notEqual(asked[0].origin, 0n);
    assert.equal((await failure(lunch.forever()))[0], "denied");
    await end();
});

test("all calls of a hold", async () => {
    const asked = [];
    const Board = board({ lunch: "all" }, asked);
    const { host, end } = await joined([Board]);
    const lunch = host.get(Board, { name: "lunch" });
    await lunch.live;
    await lunch.who();
    assert.equal(asked.length, 1);
    await end();
});

for (const verdict of [false, undefined, null, "yes", 1, new Error("secret"), new MethodError("a", "b")]) {
    test(`what is not allowed is denied: ${verdict}`, async () => {
        const Board = board({ lunch: verdict });
        const seen = [];
        for (const exists of [false, true]) {
            const { server, host, end } = await joined([Board]);
            if (exists) await server.object(Board, { name: "lunch" });
            seen.push(await failure(host.get(Board, { name: "lunch" }).live));
            assert.equal(server.counters().live_objects, exists ? 1n : 0n);
            await end();
        }
        assert.equal(seen[0][0], "denied");
        assert.deepEqual(seen[0], seen[1]);
    });
}

test("own references are not asked about", async () => {
    const asked = [];
    const Board = board({}, asked);
    const server = new Host({ types: [Board], ...quiet });
    const own = server.get(Board, { name: "lunch" });
    await own.live;
    assert.equal(await own.who(), null);
    assert.equal(asked.length, 0);
    await server.close();
});

test("a guard without an answer", async () => {
    const Slow = type("slow", { guard: () => new Promise(() => {}) });
    const { host, end } = await joined([Slow], { guard_timeout: 20 });
    assert.equal((await failure(host.get(Slow, {}).live))[0], "denied");
    await end();
});

test("revoked", async () => {
    const Board = board({ lunch: "all" });
    const { server, host: ann, end } = await joined([Plain, Board]);
    const bob = new Host(quiet);
    await pair(bob, server, { credentials: "bob", authenticate: letIn });
    const lunch = ann.get(Board, { name: "lunch" });
    const plain = ann.get(Plain, {});
    const other = bob.get(Plain, {});
    await Promise.all([lunch.live, plain.live, other.live]);
    const frames = [];
    plain.text.watch(({ value }) => frames.push(value));
    const running = failure(lunch.forever());
    await pause(10);
    server.revoke({ user: "ann" }, "ann has left");
    assert.deepEqual(await running, ["outcome_unknown", "ann has left"]);
    await until(() => plain.state === "revoked");
    assert.equal(plain.error.detail, "ann has left");
    assert.deepEqual(await failure(lunch.who()), ["revoked", "ann has left"]);
    assert.equal(other.state, "live");
    const own = await server.object(Plain, {});
    await own.transaction((t) => (t.text = "later"));
    await until(() => other.text.value === "later");
    assert.deepEqual(frames, [""]);
    assert.deepEqual(await failure(ann.get(Plain, {}).live), ["revoked", "ann has left"]);
    await bob.close();
    await end();
});

test("one object revoked", async () => {
    const verdicts = { lunch: "all", tea: "all" };
    const Board = board(verdicts);
    const { server, host, end } = await joined([Board]);
    const [lunch, tea] = ["lunch", "tea"].map((name) => host.get(Board, { name }));
    await Promise.all([lunch.live, tea.live]);
    const own = await server.object(Board, { name: "lunch" });
    own.revoke({ user: "ann" }, "a secret board");
    await until(() => lunch.state === "revoked");
    assert.equal(lunch.error.detail, "a secret board");
    assert.equal(tea.state, "live");
    verdicts.lunch = false;
    assert.equal((await failure(host.get(Board, { name: "lunch" }).live))[0], "denied");
    await end();
});

test("through a host in the middle", async () => {
    const asked = [];
    const Board = board({ lunch: true, who: true, forever: true }, asked);
    const [middle, worker] = [new Host(quiet), new Host({ types: [Board], ...quiet })];
    await pair(middle, worker, { routeOffers: true, trusted: true });
    await pause(10);
    const listening = await middle.listen("ws://127.0.0.1:0", { authenticate: letIn });
    const host = connect(listening.address, { codec: "text", credentials: "ann", ...quiet });
    const lunch = host.get(Board, { name: "lunch" });
    await lunch.live;
    assert.deepEqual(await lunch.who(), { user: "ann" });
    const running = failure(lunch.forever());
    await until(() => asked.length === 3);
    await pause(10);
    middle.revoke({ user: "ann" }, "ann has left");
    assert.deepEqual(await running, ["outcome_unknown", "ann has left"]);
    assert.equal(lunch.state, "revoked");
    assert.deepEqual(new Set(asked.map(({ authority }) => authority.user)), new Set(["ann"]));
    await until(() => worker.counters().live_objects === 0n);
    await Promise.all([host.close(), worker.close()]);
    await middle.close();
});
