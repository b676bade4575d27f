// Workers: real processes that serve placed objects, and what becomes of them.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { connect, Host, MethodError, parent, type } from "../dist/node.js";
import { Board } from "./worker_program.mjs";

const PROGRAM = fileURLToPath(new URL("./worker_program.mjs", import.meta.url));

function isGone(pid) {
    try {
        process.kill(pid, 0);
        return false;
    } catch {
        return true;
    }
}

async function until(condition) {
    for (const end = Date.now() + 10000; !condition();) {
        assert.ok(Date.now() < end, `never: ${condition}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
    }
}

/** A server that places boards, and one who holds them there. */
async function world(mode, work, options = {}, limits = {}) {
    const folder = mkdtempSync(join(tmpdir(), "chordal-"));
    const it = { questions: [], worker: undefined };
    const start = () => it.server.worker(process.execPath, [PROGRAM, mode], { backoffFirst: 10, ...options });
    it.place = ({ name }) => {
        it.questions.push(name);
        if (it.worker === undefined || it.worker.isGone) it.worker = start();
        return it.worker;
    };
    it.server = new Host({ backoff_first: 20, backoff_limit: 100, ...limits });
    it.server.place(Board, it.place);
    const { address } = await it.server.listen(`ipc:${folder}/socket`);
    it.holder = connect(address, { backoff_first: 20, backoff_limit: 100 });
    try {
        await work(it);
    } finally {
        const { pid } = it.worker ?? {};
        await it.holder.close();
        await it.server.close();
        rmSync(folder, { recursive: true });
        assert.ok(pid === undefined || isGone(pid));
    }
}

test("a worker serves and stops", () =>
    world(
        "serve",
        async (it) => {
            const board = it.holder.get(Board, { name: "a" });
            await board.live;
            for (let i = 1; i <= 20; i++) assert.equal(await board.add("x"), i);
            const { worker } = it;
            await worker.ready;
            assert.deepEqual(board.list.value, { text: "x".repeat(20), process: worker.pid });
            const own = it.server.get(Board, { name: "b" });
            assert.equal(await own.add("y"), 1);
            assert.deepEqual(it.questions, ["a", "b"]);
            const counters = it.server.counters();
            assert.equal(counters.questions, 2n);
            assert.equal(counters.live_objects, 0n);
            assert.ok(counters.parts_forwarded > 40n);
            const { pid } = worker;
            await worker.stop();
            assert.deepEqual(
                [worker.state, worker.exitCode, worker.error, worker.pid],
                ["ended", 0, undefined, undefined],
            );
            assert.ok(isGone(pid));
            await until(() => board.state === "live" && board.list.value.process !== pid); // another was started
            assert.equal(board.list.value.process, it.worker.pid);
        },
        { types: [Board] },
    ));

for (const mode of ["serve", "named"]) {
    test(`it is killed under its holders: ${mode}`, () =>
        world(mode, async (it) => {
            const board = it.holder.get(Board, { name: "a" });
            await board.live;
            await board.add("before");
            const first = it.worker.pid;
            const hung = assert.rejects(board.hang(), { name: "outcome_unknown" });
            const repeated = board.slowly(200);
            await new Promise((resolve) => setTimeout(resolve, 100));
            process.kill(first, "SIGKILL");
            await hung;
            const second = await repeated; // it ran again, in the next process
            assert.equal(second, it.worker.pid);
            assert.notEqual(second, first);
            assert.deepEqual(board.list.value, { text: "", process: second });
            assert.equal(it.worker.signal, "SIGKILL");
            assert.equal(it.questions.length, 2);
            assert.equal(await board.add("after"), 5);
        }));
}

test("it leaves and another comes", () =>
    world("serve", async (it) => {
        const board = it.holder.get(Board, { name: "a" });
        await board.live;
        const first = it.worker;
        await board.leave();
        await first.ended;
        assert.deepEqual([first.exitCode, first.error], [0, undefined]);
        await until(() => it.worker !== first && board.state === "live");
        assert.equal(await board.add("x"), 1);
    }));

/** It is started again. */
async function failedOnce(it, board, first, pid) {
    await until(() => first.pid !== undefined && first.pid !== pid);
    await until(() => board.state === "live" && board.list.value.process === first.pid);
    assert.equal(it.worker, first);
    assert.deepEqual([first.exitCode, first.error, first.failures], [0, undefined, 1]);
}

test("it vanishes: without a bye it may only have lost its parent", () =>
    world("serve", async (it) => {
        const board = it.holder.get(Board, { name: "a" });
        await board.live;
        const first = it.worker;
        const { pid } = first;
        await board.vanish();
        await failedOnce(it, board, first, pid);
    }));

test("it loses its parent, and ends with 0 when it hears of it", () =>
    world(
        "serve",
        async (it) => {
            const board = it.holder.get(Board, { name: "a" });
            await board.live;
            const first = it.worker;
            const { pid } = first;
            await first.ready;
            process.kill(pid, "SIGSTOP");
            await until(() => first.state === "starting");
            process.kill(pid, "SIGCONT");
            await failedOnce(it, board, first, pid);
        },
        {},
        { ping_interval: 300, ping_timeout: 300 },
    ));

for (const [mode, exitCode, signal] of [
    ["silent", undefined, "SIGTERM"],
    ["bare", undefined, "SIGTERM"],
    ["crash", 3, undefined],
]) {
    test(`it never gets ready: ${mode}`, async () => {
        const host = new Host();
        const options = { restarts: 0, types: ["board"], startTimeout: mode === "crash" ? 10000 : 1500 };
        const worker = host.worker(process.execPath, [PROGRAM, mode], options);
        await assert.rejects(worker.ready, { name: "limit" });
        await worker.ended;
        assert.deepEqual([worker.exitCode, worker.signal, worker.pid], [exitCode, signal, undefined]);
        await host.close();
    });
}

test("a crash is tried again and told", () =>
    world(
        "crash",
        async (it) => {
            const board = it.holder.get(Board, { name: "a" });
            await assert.rejects(board.live, { name: "no_route" });
            await it.worker.ended;
            assert.equal(it.worker.error.name, "limit");
        },
        { restarts: 2 },
    ));

test("there is no such program", async () => {
    const host = new Host();
    const worker = host.worker("/no/such/program");
    await assert.rejects(worker.ready, { name: "invalid" });
    assert.equal(worker.state, "ended");
    await host.close();
});

test("one that is stubborn is killed", async () => {
    const host = new Host();
    const options = { stopTimeout: 100, killTimeout: 100 };
    const worker = host.worker(process.execPath, [PROGRAM, "stubborn"], options);
    await worker.ready;
    const { pid } = worker;
    await worker.stop();
    assert.equal(worker.signal, "SIGKILL");
    assert.ok(isGone(pid));
    await host.close();
});

test("a host that closes leaves nobody behind", async () => {
    const host = new Host();
    const ready = host.worker(process.execPath, [PROGRAM, "serve"]);
    await ready.ready;
    const early = host.worker(process.execPath, [PROGRAM, "silent"], { stopTimeout: 100 });
    await until(() => early.pid !== undefined);
    const pids = [ready.pid, early.pid];
    const never = host.worker(process.execPath, [PROGRAM, "serve"]);
    await host.close();
    assert.ok(pids.every(isGone));
    assert.deepEqual([ready.state, early.state, never.state], ["ended", "ended", "ended"]);
});

test("a placement that fails is told", async () => {
    const answers = [new MethodError("full", "no room"), new Error("a secret"), {}];
    const told = [];
    const Elsewhere = type("elsewhere", {
        async placement() {
            const answer = answers.shift();
            if (answer instanceof Error) throw answer;
            return answer;
        },
    });
    const host = new Host({ types: [Elsewhere], onError: (error) => told.push(error.message) });
    const reference = host.get(Elsewhere);
    await assert.rejects(reference.live, /no room/);
    for (let i = 0; i < 2; i++) {
        reference.retry();
        await assert.rejects(reference.live);
    }
    assert.deepEqual(told, ["a secret", "a placement gives a worker or a link"]);
    assert.throws(() => host.place(Elsewhere), { name: "exists" });
    assert.throws(() => host.place("unplaced"), { name: "invalid" });
    await host.close();
});

test("no host started this process", () => {
    for (const number of ["", "x", "-1", "999999"]) {
        process.env.CHORDAL_PARENT = number;
        assert.throws(() => parent(), { name: "state" });
    }
    delete process.env.CHORDAL_PARENT;
});
