// What the tests of live hosts share: a type, ways to link two hosts.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";

import { connect, Host, MethodError, pair, type } from "../dist/node.js";

export const Notes = type("notes", {
    params: ["board"],
    documents: { list: { entries: [], text: "" }, other: 0 },
    derives: {
        count: { from: ["list"], compute: ({ list }) => list.entries.length },
        twice: { from: ["count"], compute: ({ count }) => count * 2 },
    },
    methods: {
        add(call, text) {
            call.transaction((t) => t.list.entries.push({ id: call.newId(), text }));
            return call.object.count;
        },
        async say(call, token) {
            await call.transaction((t) => (t.list.text += token));
        },
        echo: (call, ...values) => values,
        bytes: (call, bytes) => bytes,
        fail(call, name, message) {
            throw new MethodError(name, message);
        },
        crash: () => {
            throw new Error("a secret");
        },
        odd: (call, what) => ({ function: () => 1, number: NaN, nothing: undefined, date: new Date() })[what],
        async wait(call, milliseconds) {
            await new Promise((resolve) => setTimeout(resolve, milliseconds));
            return call.signal.aborted;
        },
        never: () => new Promise(() => {}),
        digest: (call) => call.object.host.digest(call.object.list),
    },
});

export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
export const quiet = { onError() {} };
export const folder = mkdtempSync(join(tmpdir(), "chordal-"));
after(() => rmSync(folder, { recursive: true }));
let pipes = 0;

/** A provider and a holder that are linked in some way; `end` closes both. */
export const ways = {
    async here(options) {
        const host = new Host({ types: [Notes], ...quiet, ...options });
        return { provider: host, holder: host, end: () => host.close() };
    },
    async memory(options) {
        const [provider, holder] = [new Host({ types: [Notes], ...quiet, ...options }), new Host(options)];
        await pair(holder, provider);
        return { provider, holder, end: () => Promise.all([holder.close(), provider.close()]) };
    },
    binary: (options) => served("ws://127.0.0.1:0", options, { codec: "binary" }),
    text: (options) => served("ws://127.0.0.1:0", options, { codec: "text" }),
    pipe: (options) => served(`ipc:${folder}/pipe${++pipes}`, options, {}),
};

export async function served(address, options, { codec }) {
    const provider = new Host({ types: [Notes], ...quiet, ...options });
    const server = await provider.listen(address);
    const holder = connect(server.address, { codec, ...options });
    return { provider, holder, server, end: () => Promise.all([holder.close(), provider.close()]) };
}

export function permutations(list) {
    if (list.length < 2) return [list];
    return list.flatMap((one) => permutations(list.filter((other) => other !== one)).map((rest) => [one, ...rest]));
}

/** How often the core is entered by something that is done at once. */
export function entriesOf(host, work) {
    const before = host.counters().entries;
    work();
    return Number(host.counters().entries - before) - 1;
}
