// A tab shows credentials and sees what is revoked; what it cannot do it says.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Worker } from "node:worker_threads";

import { connect, Host, pair, type, useWasm } from "../../node/dist/node.js";

useWasm();

const quiet = { onError() {} };

/** A server on the addon, in a thread of its own. */
function serve() {
    const program = `
        import { parentPort } from "node:worker_threads";
        import { Host, MethodError, type } from "${new URL("../../node/dist/node.js", import.meta.url)}";
        const Plain = type("plain", {
            documents: { text: "" },
            methods: { who: (call) => call.authority, forever: () => new Promise(() => {}) },
            guard: ({ method }) => method !== "secret",
        });
        const server = new Host({ types: [Plain], onError() {} });
        const authenticate = (shown) => {
            if (shown !== "ann's") throw new MethodError("refused", "no such token");
            return { user: "ann" };
        };
        const { address } = await server.listen("ws://127.0.0.1:0", { authenticate });
        parentPort.on("message", () => server.revoke({ user: "ann" }, "ann has left"));
        parentPort.postMessage(address);`;
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`));
    return new Promise((resolve) => worker.once("message", (address) => resolve({ worker, address })));
}

const failure = (promise) =>
    promise.then(
        () => assert.fail("not refused"),
        (error) => [error.name, error.detail],
    );

test("credentials and revocation", async () => {
    const { worker, address } = await serve();
    for (const codec of ["binary", "text"]) {
        const host = connect(address, { codec, credentials: async () => "ann's", ...quiet });
        const plain = host.get("plain", {});
        await plain.live;
        assert.deepEqual(await plain.who(), { user: "ann" });
        const running = failure(plain.forever());
        await plain.who(); // the other one is there by now
        worker.postMessage("revoke");
        assert.deepEqual(await running, ["outcome_unknown", "ann has left"]);
        assert.equal(plain.state, "revoked");
        assert.equal(plain.error.detail, "ann has left");
        await host.close();
    }
    const host = new Host(quiet);
    const link = host.connect(address, { credentials: "bob's" });
    assert.deepEqual(await failure(link.up), ["refused", "no such token"]);
    await host.close();
    await worker.terminate();
});

test("what a tab cannot do", async () => {
    const Guarded = type("guarded", { guard: () => true });
    const [host, other] = [new Host(quiet), new Host(quiet)];
    await Promise.all([host.ready, other.ready]);
    assert.throws(() => host.provide(Guarded), { name: "unsupported", message: /guarded: .*no guards/ });
    const refused = { name: "unsupported", message: /neither authenticates/ };
    await assert.rejects(host.listen("ws://127.0.0.1:0", { authenticate: () => 1 }), refused);
    await assert.rejects(host.listen("ws://127.0.0.1:0", { trusted: true }), refused);
    await assert.rejects(pair(host, other, { authenticate: () => 1 }), refused);
    assert.deepEqual(await failure(host.connect("ws://127.0.0.1:1", { trusted: true }).up), [
        "unsupported",
        "the WebAssembly core neither authenticates peers nor trusts them",
    ]);
    assert.throws(() => host.revoke(1), { name: "unsupported" });
    await Promise.all([host.close(), other.close()]);
});
