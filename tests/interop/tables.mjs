// Tables between runtimes (test_tables.py): node tables.mjs provide ADDRESS STORE, or hold ADDRESS [wasm]

import { connect, Host, type, useWasm } from "../../node/dist/node.js";

const Board = type("board", {
    params: ["name"],
    tables: {
        tasks: {
            columns: {
                id: "integer",
                title: "text",
                due: "real",
                done: { type: "integer", default: 0 },
                file: "bytes",
            },
            key: ["id"],
        },
    },
    methods: {
        put(call, row, file) {
            call.transaction((t) => t.tasks.put({ ...row, file }));
        },
        finish(call, where) {
            let count;
            call.transaction((t) => (count = t.tasks.updateWhere(where, { done: 1 })));
            return count;
        },
    },
});

async function provide(address, store) {
    const host = new Host({ store, types: [Board] });
    await host.listen(address);
    console.log("ready");
}

/** What test_tables.py does in Python. */
async function hold(address) {
    const host = connect(address);
    const board = host.get(Board, { name: "ä" });
    const first = board.tasks.live({ where: { eq: ["done", 0] }, order: [["due", "desc"]], limit: 3 });
    const groups = board.tasks.live({ group: ["done"], count: true, sum: "id" });
    const files = board.tasks.live({ where: { gt: ["file", new Uint8Array([5])] } });
    await Promise.all([first.live, groups.live, files.live]);
    for (let id = 0; id < 10; id++) {
        await board.put({ id, title: `é ${id}`, due: id / 4 }, new Uint8Array([id, 255]));
    }
    await board.put({ id: 2n ** 63n - 1n, due: -1 }, new Uint8Array(0));
    const count = await board.finish({ in: ["id", [9, 2n ** 63n - 1n]] });
    const wrong = board.tasks.live({ where: { eq: ["nope", 1] } });
    const why = await wrong.live.catch((error) => error.name);
    const plain = (value) => JSON.parse(JSON.stringify(value, (_, v) => (typeof v === "bigint" ? v.toString() : v)));
    const rows = [first, groups, files].map(({ rows }) => plain(rows.value));
    console.log(JSON.stringify({ rows, count, why }));
    await host.close();
}

const [what, address, more] = process.argv.slice(2);
if (more === "wasm") useWasm();
await (what === "provide" ? provide(address, more) : hold(address));
