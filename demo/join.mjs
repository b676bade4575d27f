// Join the board from Node: node join.mjs ADDRESS [BOARD]. Shows what is on it, and adds each line that you type.

import { createInterface } from "node:readline";
import { connect } from "../node/dist/node.js";

const [address, name = "lunch"] = process.argv.slice(2);
const host = connect(address);
const board = host.get("board", { name });
board.board.watch(({ value }) => {
    console.log(`[${value.notes.map((note) => note.text).join(", ")}] ${value.text.slice(-60)}`);
});
await board.live;
await board.add("hello from Node");
for await (const line of createInterface({ input: process.stdin })) await board.add(line);
await host.close();
