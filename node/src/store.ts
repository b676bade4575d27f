// Stores: what lies in a host's file, read back, followed, copied and checked.

import { checkNames } from "./check.js";
import type { Core } from "./core.js";
import type { ValueHandle } from "./flat.js";
import { nameOf, type Type } from "./object.js";
import type { Op, Path } from "./ops.js";
import { pack, unpack } from "./packed.js";
import { platform } from "./platform.js";
import type { Provider } from "./provider.js";
import { FORMAT_PACKED } from "./records.js";
import type { Value } from "./value.js";

const TRIMMED = 1024; // rows that go at once

type Params = { readonly [name: string]: any };

/** A document that a store knows. */
export interface StoredDocument {
    readonly type: string;
    readonly params: Params;
    readonly member: string;
    /** Which life of the address it is, from 1. */
    readonly incarnation: number;
    /** Of the type that wrote it last. */
    readonly version: number;
    /** Its first commit. */
    readonly created: number;
    /** The commit after which its life ended, or null. */
    readonly retired: number | null;
    /** Its newest commit that can be read, or null. */
    readonly commit: number | null;
}

/** What a commit did to one document, or to one row of a table. */
export interface Write {
    readonly type: string;
    readonly params: Params;
    readonly member: string;
    /** Of a document: as those of a frame; where it begins, or begins anew, one "replace". */
    readonly ops: readonly Op[];
    /** The row that was put in a table; bytes are base64 text. */
    readonly put?: { readonly [column: string]: any };
    /** The key of the row that was removed. */
    readonly removed?: readonly any[];
}

/** What one commit wrote. */
export interface Written {
    readonly commit: number;
    readonly writes: readonly Write[];
}

/** Something in a store is damaged. */
export interface Fault {
    /** Where: a table and its row; null: in the file. */
    readonly place: string | null;
    readonly detail: string;
    /** Of which document or table, as far as that is known. */
    readonly type: string | null;
    readonly params: Params | null;
    readonly member: string | null;
    /** Of which row of the table. */
    readonly key: readonly Value[] | null;
}

type List = "store_documents" | "store_outbox" | "store_check";

/**
 * What lies in the store of a host: `host.store`. All of it but `trim` works in a host that reads beside the owner.
 * It is what is in the file: a commit is, once its promise is fulfilled. Throws ChordalError STATE when the host has no
 * store, CORRUPT, DISK_IO; of writing also READ_ONLY, DISK_FULL; UNSUPPORTED in browsers.
 */
export class Store {
    private buffer = new Uint8Array(4096);

    /** @internal */
    constructor(
        private readonly core: Core,
        private readonly provider: Provider,
    ) {}

    /**
     * A document as commit `at` left it, by default the newest: `host.store.read(Notes, { board: "lunch" }, "list",
     * { at: 42 })`. Of whatever life its address had then; the type need not be provided. Throws ChordalError NOT_FOUND
     * (there was none then, or what it was is kept no more: `history` of its type).
     */
    read(of: string | Type<any, any, any, any>, params: object, member: string, options: { at?: number } = {}): any {
        const { flat, host } = this.core;
        checkNames("store.read", options, { at: true });
        const name = nameOf(of);
        return this.take(flat.store_read(host, name, FORMAT_PACKED, pack(params), member, options.at ?? 0).out);
    }

    /** All documents, retired ones that are remembered among them. */
    *documents(): Generator<StoredDocument, void, undefined> {
        yield* this.list("store_documents") as Generator<StoredDocument, void, undefined>;
    }

    /**
     * What commits behind number `after` wrote, of a host that keeps an outbox, up to now. A follower keeps the number
     * of the last one that it took and asks again from there.
     */
    *outbox(after = 0): Generator<Written, void, undefined> {
        for (const { commit, writes } of this.list("store_outbox", after) as Iterable<any>) {
            yield { commit, writes: writes.map(written) };
        }
    }

    /** Forget of the outbox what commits up to this number wrote; gives how many it was. */
    trim(upto: number): number {
        const { flat, host } = this.core;
        let dropped = flat.store_trim(host, upto);
        let all = dropped;
        for (; dropped === TRIMMED; all += dropped) dropped = flat.store_trim(host, upto);
        return all;
    }

    /**
     * Copy the store, as it is now, to another path, while the host goes on; gives the newest commit in the copy. It
     * takes its name when it is whole: one that is cut leaves no store. Throws ChordalError EXISTS (something is
     * there), OWNED (another copy is being made there), NOT_FOUND (its folder), INVALID.
     */
    async backup(path: string): Promise<number> {
        const { flat, host } = this.core;
        return this.provider.outcomeOf(flat.store_backup(host, path));
    }

    /**
     * Look for damage: SQLite's own check, the runs, each revision of each document, each cell of each row. Other work
     * goes on between pages of documents and of rows.
     */
    async check(): Promise<Fault[]> {
        const faults: Fault[] = [];
        let after = 0;
        do {
            const page = this.page("store_check", after);
            faults.push(...(page.items as unknown as Fault[]));
            after = page.next;
            if (after > 0) await new Promise<void>((resolve) => platform().later(resolve));
        } while (after > 0);
        return faults;
    }

    private *list(name: List, after = 0): Generator<Value, void, undefined> {
        do {
            const page = this.page(name, after);
            yield* page.items;
            after = page.next;
        } while (after > 0);
    }

    private page(name: List, after: number): { items: readonly Value[]; next: number } {
        const { flat, host } = this.core;
        const { out, next } = flat[name](host, after, 0);
        return { items: this.take(out) as readonly Value[], next: Number(next) };
    }

    /** A value of the core as a native one; it is given back. */
    private take(value: ValueHandle): Value {
        const { flat } = this.core;
        try {
            const length = flat.value_encode(value, FORMAT_PACKED, this.buffer);
            if (length <= this.buffer.length) return unpack(this.buffer.subarray(0, length), this.provider.freeze);
            const larger = new Uint8Array(length);
            flat.value_encode(value, FORMAT_PACKED, larger);
            return unpack(larger, this.provider.freeze);
        } finally {
            flat.value_unref(value);
        }
    }
}

function written(entry: any): Write {
    const { type, params, member, put, remove } = entry;
    if (put !== undefined) return { type, params, member, ops: [], put };
    if (remove !== undefined) return { type, params, member, ops: [], removed: remove };
    const ops: Op[] = "value" in entry ? [{ op: "replace", path: [], value: entry.value }] : opsOf(entry.ops);
    return { type, params, member, ops };
}

const readers: Record<string, (path: Path, next: () => any) => Op> = {
    r: (path, next) => ({ op: "replace", path, value: next() }),
    s: (path, next) => ({ op: "set", path, value: next() }),
    d: (path) => ({ op: "delete", path }),
    a: (path, next) => ({ op: "append", path, text: next() }),
    t: (path, next) => ({ op: "truncate", path, count: next() }),
    p: (path, next) => ({ op: "splice", path, index: next(), remove: next(), values: next() }),
    m: (path, next) => ({ op: "permute", path, indexes: next() }),
};

/** Ops of the JSON form; their paths begin inside the member. */
function opsOf(flat: readonly any[]): Op[] {
    const ops: Op[] = [];
    let at = 0;
    const next = () => flat[at++];
    while (at < flat.length) ops.push(readers[next()]!(next().slice(1), next));
    return ops;
}
