// Two hosts in one program: one provides notes, the other holds them, over a WebSocket.

import { connect, Host, type } from "chordal";

const Notes = type("notes", {
    params: ["board"], // there is one object for each board
    documents: { list: { entries: [] } },
    derives: { count: { from: ["list"], compute: ({ list }) => list.entries.length } },
    methods: {
        add(call, text) {
            const note = { id: call.newId(), text };
            call.transaction((t) => t.list.entries.push(note)); // one commit; an exception in it leaves nothing
            return note.id;
        },
    },
});

const provider = new Host({ types: [Notes] });
const server = await provider.listen("ws://127.0.0.1:0");

const host = connect(server.address); // links again by itself
const notes = host.get("notes", { board: "lunch" });
notes.list.watch(({ commit, ops }) => console.log(commit, ops));
await notes.live; // the first values are here
await notes.add("milk"); // comes back when the change is visible in notes.list
console.log(notes.list.value.entries[0].text, notes.count.value);

await host.close();
await provider.close();
