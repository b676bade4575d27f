// What is provided in another process: a call that commits, until its result and its frame are there, and a hold; over
// a WebSocket, of an own worker, and of a server's worker, for a tab in the server's process or over a WebSocket.
// node bench/processes.mjs FOLDER BATCHES addon; the others' processes are this file with a word more.

import { fork } from "node:child_process";
import { once as event } from "node:events";

import { connect, Host, pair, parent, type } from "../node/dist/node.js";

import { batches, print, provide, text, warm } from "./world.mjs";

const CALLS = 90;
const HOLDS = 20;
const BOARD = { board: 0 };
const [, file, ...words] = process.argv;

let worker;
const Notes = type("streamed", {
    params: ["board"],
    documents: { list: { entries: [] } },
    methods: { stream: (call) => void call.transaction((t) => void (t.list.entries[0].text += " tok")) },
    placement: (_, host) => (worker ??= host.worker(process.execPath, [file, ...words.slice(0, 3), "worker"])),
});

async function work() {
    const host = parent({ types: [Notes] });
    await provide({ of: Notes, provider: host }, 0, text.notes);
    await host.parent().closed;
    await host.close();
}

async function serve(placed) {
    const host = new Host({ types: [Notes], placed });
    if (!placed) await provide({ of: Notes, provider: host }, 0, text.notes);
    process.send((await host.listen("ws://127.0.0.1:0")).address);
    await event(process, "message");
    await host.close();
    process.disconnect();
}

async function timed(count, once) {
    const start = performance.now();
    for (let i = 0; i < count; i++) await once();
    return ((performance.now() - start) * 1000) / count;
}

async function sampled(name, count, once) {
    const samples = [];
    for (let run = -warm(count); run < batches; run++) {
        const time = await timed(count, once);
        if (run >= 0) samples.push(time);
    }
    print({ case: name, unit: "us", samples });
}

/** A hold and calls by a host that reaches the notes. */
async function measure(where, holder) {
    const hold = async () => {
        const notes = holder.get(Notes, BOARD);
        await notes.live;
        return notes;
    };
    const first = await timed(1, async () => (await hold()).release());
    print({ case: `first hold to live between processes: ${where}`, unit: "us", samples: [first] });
    await sampled(`hold to live between processes: ${where}`, HOLDS, async () => (await hold()).release());
    const notes = await hold();
    let arrived = () => {};
    notes.list.watch(() => arrived());
    await sampled(`call to frame between processes: ${where}`, CALLS, async () => {
        const frame = new Promise((resolve) => (arrived = resolve));
        await notes.stream();
        await frame;
    });
}

async function measureInServer() {
    const server = new Host({ types: [Notes] });
    await server.ready;
    const tab = new Host();
    await pair(tab, server);
    await measure("tab in its server, worker", tab);
    await tab.close();
    await server.close();
}

async function measureOwnWorker() {
    const holder = new Host({ types: [Notes] });
    await measure("worker", holder);
    await holder.close();
    worker = undefined;
}

async function measureOverSocket(job, where) {
    const server = fork(file, [...words.slice(0, 3), job]);
    const [address] = await event(server, "message");
    const tab = connect(address);
    await measure(where, tab);
    await tab.close();
    server.send("close");
    await event(server, "exit");
}

if (words[3] === "worker") await work();
else if (words[3] === "provider") await serve(false);
else if (words[3] === "server") await serve(true);
else {
    await measureOwnWorker();
    await measureInServer();
    await measureOverSocket("provider", "WebSocket");
    await measureOverSocket("server", "WebSocket, server, worker");
}
