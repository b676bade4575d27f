// What the declarations promise: compiled by types.test.mjs, never run.

import {
    append,
    connect,
    Host,
    MethodError,
    type,
    truncate,
    useWasm,
    versions,
    type AnyReference,
    type Frame,
    type Immutable,
    type LiveBytes,
    type ReferenceTo,
    type Row,
    type Value,
} from "chordal";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<A, B>(_: Same<A, B>): void {}

interface Note {
    id: string;
    text: string;
    tags?: string[];
}

const Notes = type("notes", {
    version: 2,
    params: ["board", "year"],
    documents: { list: { entries: [] as Note[] }, title: "" },
    derives: {
        count: { from: ["list"], compute: ({ list }) => list.entries.length },
        first: { from: ["list"], compute: async ({ list }) => list.entries.at(0)?.text ?? null },
    },
    methods: {
        add(call, text: string, at = 0) {
            same<typeof call.object.params.board, any>(true);
            call.transaction((t) => {
                t.list.entries.splice(at, 0, { id: call.newId(), text });
                t.title = text;
                append(t.list.entries[0]!, "text", "!");
                truncate(t, "title", 1);
                // @ts-expect-error: a note has a text
                t.list.entries.push({ id: "" });
                // @ts-expect-error: no such document
                t.none = 1;
            });
            // @ts-expect-error: outside of a transaction values are immutable
            call.object.list.entries.push({ id: "", text: "" });
            return call.object.list.entries.length;
        },
        async later(call, bytes: Uint8Array) {
            await call.transaction((t) => t.list.entries.pop());
            if (call.signal.aborted) throw new MethodError("gone", "nobody waits");
            return bytes;
        },
        clear: (call) => void call.transaction((t) => (t.list.entries = [])),
    },
    idempotent: ["clear"],
    start(object) {
        same<typeof object.title, string>(true);
    },
});

async function holds(host: Host): Promise<void> {
    const notes = host.get(Notes, { board: "lunch", year: 2026 });
    same<typeof notes, ReferenceTo<typeof Notes>>(true);
    // @ts-expect-error: a param is missing
    host.get(Notes, { board: "lunch" });
    await notes.live;
    const { value } = notes.list;
    same<typeof value, Immutable<{ entries: Note[] }> | undefined>(true);
    const entries: readonly { readonly id: string; readonly tags?: readonly string[] }[] = value!.entries;
    same<typeof notes.count.value, number | undefined>(true);
    same<typeof notes.first.value, string | null | undefined>(true);
    const length: number = await notes.add("milk");
    const bytes: Uint8Array = await notes.later(new Uint8Array(length));
    await notes.call("add", ["milk", 1], { timeout: 100, signal: AbortSignal.timeout(5) });
    // @ts-expect-error: text is a string
    await notes.add(1);
    // @ts-expect-error: no such method
    await notes.none();
    // @ts-expect-error: no such field
    value!.entries[0]!.colour;
    // @ts-expect-error: values are immutable
    value!.entries[0] = { id: "", text: "" };
    const stop = notes.list.watch((frame) => {
        same<typeof frame.value.entries.length, number>(true);
        for (const op of frame.ops) if (op.op === "append") same<typeof op.text, string>(true);
    });
    stop();
    for await (const frame of notes.count.frames()) same<typeof frame, Frame<number>>(true);
    void [bytes, entries];
}

async function holdsByName(host: Host): Promise<void> {
    const named = host.get<typeof Notes>("notes", { board: "lunch", year: 1 });
    await named.clear();
    const any: AnyReference = host.get("notes", { board: "lunch" }, { manual: true, values: "in-place" });
    await any.whatever!(1, "x");
    any.list!.watch(({ value }) => console.log(value.entries));
    same<typeof any.state, "pending" | "live" | "down" | "failed" | "retired" | "revoked" | "released">(true);
}

async function provides(): Promise<void> {
    await using host = new Host({ types: [Notes], memory_limit: 1 << 28, freeze: true });
    const object = await host.object(Notes, { board: "a", year: 1 });
    const commit: number = await object.transaction((t) => (t.title = "x"));
    await host.transaction((t) => (t.of(object).list.entries.length = 0));
    const server = await host.listen("ws://127.0.0.1:0", { origins: ["https://example.org"] });
    using notes = connect(server.address, { codec: "text", offer: true }).get(Notes, { board: "a", year: 1 });
    const value: Value = notes.title.value ?? null;
    useWasm(new URL("https://example.org/chordal.wasm"));
    const count: bigint = host.counters().commits;
    console.log(versions().sqlite, commit, value, count);
    // @ts-expect-error: no such option
    new Host({ colour: 1 });
    // @ts-expect-error: no such codec
    connect("ws://x", { codec: "xml" });
}

void [holds, holdsByName, provides];

const Board = type("tasks", {
    params: ["name"],
    documents: { title: "" },
    tables: {
        tasks: {
            columns: { id: "integer", title: "text", file: "bytes", more: "json", due: { type: "real", default: 1 } },
            key: ["id"],
            indexes: { by_title: ["title"] },
        },
        places: { columns: { x: "integer", y: "text" }, key: ["x", "y"] },
    },
    methods: {
        add(call, title: string) {
            call.transaction((t) => {
                t.tasks.put({ id: 1n, title, file: new Uint8Array(1), more: { any: "value" } });
                t.tasks.put({ id: 1, title: null });
                t.places.remove([1, "y"]);
                t.title = title;
                const changed: number = t.tasks.updateWhere({ prefix: ["title", "x"] }, { due: 2 });
                t.tasks.deleteWhere({ and: [{ eq: ["id", changed] }, { not: { null: "title" } }] });
                // @ts-expect-error: the key is needed
                t.tasks.put({ title });
                // @ts-expect-error: a title is a text
                t.tasks.put({ id: 1, title: 1 });
                // @ts-expect-error: no such column
                t.tasks.patch({ id: 1, nope: 1 });
                // @ts-expect-error: the key does not change
                t.tasks.updateWhere(null, { id: 2 });
                // @ts-expect-error: no such table
                t.nothing.get(1);
            });
            return call.object.tasks.get(1)?.title ?? null;
        },
    },
});

async function tables(host: Host): Promise<void> {
    const board = await host.object(Board, { name: "a" });
    const { rows, after } = board.tasks.query({
        where: { ge: ["id", 5] },
        order: [["due", "desc"], "title"],
        after: null,
    });
    same<typeof after, string | null>(true);
    const row: Row<(typeof Board)["shape"]["tables"]["tasks"]> = rows[0]!;
    same<typeof row.id, number>(true);
    same<typeof row.title, string | null>(true);
    same<typeof row.file, Uint8Array | null>(true);
    same<typeof row.more, any>(true);
    board.places.get([1, "a"])?.y.length;
    // @ts-expect-error: a row is immutable
    row.id = 2;
    // @ts-expect-error: there are two columns in the key
    board.places.get(1);
    // @ts-expect-error: no such column
    board.tasks.query({ where: { eq: ["nope", 1] } });
    // @ts-expect-error: no such condition
    board.tasks.query({ where: { is: ["id", 1] } });
    // @ts-expect-error: outside of transactions nothing is put
    board.tasks.put({ id: 1 });
    const counts = board.tasks.query({ group: ["title"], count: true, sum: "due" });
    counts.rows[0]!.count!.toFixed();
    const here = board.tasks.live({ limit: 3 });
    same<NonNullable<typeof here.rows.value>[number]["title"], string | null>(true);
    same<NonNullable<typeof here.rows.value>[number]["file"], LiveBytes | null>(true);
    const held = host.get(Board, { name: "a" }).tasks.live({ where: { lt: ["id", 5] } });
    held.rows.watch(({ value }) => value?.[0]?.title?.length);
    host.get("any").anything!.live({ count: true });
    await host.transaction((t) => t.of(board).tasks.put({ id: 2 }));
    const title: string | null = await host.get(Board, { name: "b" }).add("x");
    void title;
}
void tables;
