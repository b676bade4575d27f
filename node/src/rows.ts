// Rows of tables as the core has them: in the store, and in a transaction of its own.

import type { Core } from "./core.js";
import { ChordalError, E_LIMIT, E_NOMEM, E_NOT_FOUND, E_STATE, E_UNSUPPORTED, FORMAT_PACKED } from "./records.js";
import type { TransactionHandle } from "./flat.js";
import { lendRow, pack, unpackRows } from "./packed.js";
import { hasKey, isContainer, setKey } from "./value.js";

const FIRST_SIZE = 16384;
const KEPT_SIZE = 1 << 20; // a larger answer has a buffer of its own

let buffer = new Uint8Array(FIRST_SIZE);

/** What `ask` fills; good until the next one. */
function filled(ask: (buffer: Uint8Array) => number): Uint8Array {
    let length = ask(buffer);
    let into = buffer;
    while (length > into.length) {
        into = new Uint8Array(Math.max(length, Math.min(2 * into.length, KEPT_SIZE)));
        if (into.length <= KEPT_SIZE) buffer = into;
        length = ask(into);
    }
    return into.subarray(0, length);
}

function base64(bytes: Uint8Array): string {
    let text = "";
    for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
    return btoa(text);
}

/** A query, a condition or changes as JSON: bytes are base64 text in it. */
export function plainQuery(value: unknown): unknown {
    if (!isContainer(value)) return value;
    if (value instanceof Uint8Array) return base64(value);
    if (Array.isArray(value)) return value.map(plainQuery);
    const copy: Record<string, unknown> = {};
    for (const key of Object.keys(value)) {
        if (value[key] !== undefined) setKey(copy, key, plainQuery(value[key]));
    }
    return copy;
}

/** A query with what was left open left out. */
export function queryOf(query: object | undefined): unknown {
    const plain = plainQuery(query ?? {});
    if (isContainer(plain) && hasKey(plain, "after") && (plain as { after: unknown }).after === null)
        delete (plain as { after?: null }).after;
    return plain;
}

/** Whether the core has rows at all. */
export function hasRows({ flat, host }: Core): boolean {
    try {
        flat.transaction_abort(flat.transaction_begin(host, 0));
        return true;
    } catch (error) {
        return !(error instanceof ChordalError) || error.code !== E_UNSUPPORTED;
    }
}

/** No row is no error. */
function orUndefined(read: () => Uint8Array, freeze: boolean): any {
    let packed: Uint8Array;
    try {
        packed = read();
    } catch (error) {
        if (error instanceof ChordalError && error.code === E_NOT_FOUND) return undefined;
        throw error;
    }
    return unpackRows(packed, freeze);
}

/** What is stored. */
export class StoredRows {
    constructor(
        private readonly core: Core,
        private readonly freeze: boolean,
    ) {}

    get(object: number, member: number, key: unknown): any {
        const { flat, host } = this.core;
        const read = (packed: Uint8Array) =>
            filled((buffer) => flat.object_row(host, object, member, FORMAT_PACKED, packed, buffer));
        return orUndefined(() => lendRow(key, read), this.freeze);
    }

    query(object: number, member: number, query: object | undefined): any {
        const { flat, host } = this.core;
        const packed = pack(queryOf(query));
        return unpackRows(
            filled((buffer) => flat.object_query(host, object, member, FORMAT_PACKED, packed, buffer)),
            this.freeze,
        );
    }
}

/** A transaction of the core's for rows, begun when the first one is touched. */
export class RowChanges {
    private changed = false;
    private handle: TransactionHandle | undefined;
    private ended = false;
    private stuck: ChordalError | undefined;

    constructor(
        private readonly core: Core,
        private readonly call: number,
        private readonly freeze: boolean,
    ) {}

    private get begun(): TransactionHandle {
        const { flat, host } = this.core;
        if (this.stuck !== undefined) throw this.stuck;
        if (this.ended) throw new ChordalError(E_STATE, 0, "the transaction has ended");
        return (this.handle ??= flat.transaction_begin(host, this.call));
    }

    get(object: number, member: number, key: unknown): any {
        const { flat } = this.core;
        const read = (packed: Uint8Array) => {
            const handle = this.begun;
            return filled((buffer) => flat.transaction_row(handle, object, member, FORMAT_PACKED, packed, buffer));
        };
        return orUndefined(() => lendRow(key, read), this.freeze);
    }

    query(object: number, member: number, query: object | undefined): any {
        const packed = pack(queryOf(query));
        const handle = this.begun;
        const { flat } = this.core;
        return unpackRows(
            filled((buffer) => flat.transaction_query(handle, object, member, FORMAT_PACKED, packed, buffer)),
            this.freeze,
        );
    }

    put(object: number, member: number, row: unknown): void {
        const { flat } = this.core;
        lendRow(row, (packed) => flat.transaction_put(this.begun, object, member, FORMAT_PACKED, packed));
        this.changed = true;
    }

    patch(object: number, member: number, row: unknown): void {
        const { flat } = this.core;
        lendRow(row, (packed) => flat.transaction_patch(this.begun, object, member, FORMAT_PACKED, packed));
        this.changed = true;
    }

    remove(object: number, member: number, key: unknown): void {
        const { flat } = this.core;
        lendRow(key, (packed) => flat.transaction_remove(this.begun, object, member, FORMAT_PACKED, packed));
        this.changed = true;
    }

    /** One that gets stuck may have changed some: nothing is committed then. */
    private many(change: (handle: TransactionHandle) => bigint): number {
        const handle = this.begun;
        try {
            const count = Number(change(handle));
            this.changed ||= count > 0;
            return count;
        } catch (error) {
            const { code } = error as ChordalError;
            if (code === E_LIMIT || code === E_NOMEM) this.stuck = error as ChordalError;
            throw error;
        }
    }

    updateWhere(object: number, member: number, where: unknown, changes: unknown): number {
        const packed = pack(plainQuery(where));
        const changed = pack(plainQuery(changes));
        const { flat } = this.core;
        return this.many((handle) =>
            flat.transaction_update_where(handle, object, member, FORMAT_PACKED, packed, changed),
        );
    }

    deleteWhere(object: number, member: number, where: unknown): number {
        const packed = pack(plainQuery(where));
        const { flat } = this.core;
        return this.many((handle) => flat.transaction_delete_where(handle, object, member, FORMAT_PACKED, packed));
    }

    /** Whether there is anything to commit. */
    get written(): boolean {
        return this.changed || this.stuck !== undefined;
    }

    /** No more changes. */
    end(): void {
        this.ended = true;
    }

    /** Commit them with the changes of documents; the ticket's number. After a failure nothing of it is left. */
    commit(changes: Uint8Array): number {
        const { core, handle, stuck } = this;
        if (handle === undefined) return core.flat.commit(core.host, this.call, changes);
        try {
            if (stuck !== undefined) throw stuck;
            if (changes.length > 0) core.flat.transaction_changes(handle, changes);
        } catch (error) {
            this.abort();
            throw error;
        }
        this.handle = undefined;
        return core.flat.transaction_commit(handle);
    }

    /** Forget them. */
    abort(): void {
        const { handle } = this;
        this.ended = true;
        this.handle = undefined;
        if (handle !== undefined) this.core.flat.transaction_abort(handle);
    }
}
