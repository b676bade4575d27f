// A worker for workers.test.mjs: what it does is its first argument.

import { parent, type } from "../dist/node.js";

export const Board = type("board", {
    params: ["name"],
    placement: () => {
        throw new Error("only for a server");
    },
    documents: { list: { text: "", process: 0 } },
    methods: {
        add(call, text) {
            call.transaction((t) => (t.list.text += text));
            return call.object.list.text.length;
        },
        slowly: (call, milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds, process.pid)),
        hang: () => new Promise(() => {}),
        leave: () => void setTimeout(() => host.parent().close(), 50),
        vanish: () => void setTimeout(() => process.exit(0), 50),
    },
    idempotent: ["slowly"],
    start: (object) => void object.transaction((t) => (t.list.process = process.pid)),
});

let host;
const mode = process.argv[2];
if (mode === "crash") process.exit(3);
else if (mode === "silent") setTimeout(() => {}, 60000);
else if (mode === "stubborn") {
    process.on("SIGTERM", () => {});
    const host = parent();
    setInterval(() => {}, 60000);
    await host.parent().up;
} else if (mode !== undefined) {
    const named = mode === "named" ? { name_low: 7n } : {};
    host = parent({ types: mode === "bare" ? [] : [Board], ...named });
    await host.parent().closed;
    await host.close();
}
