// Tables: typed rows of an object, in the store of the host that provides it.

import type { ReferenceTo } from "./reference.js";
import { queryOf, type RowChanges, type StoredRows } from "./rows.js";

/**
 * What a column holds: whole numbers from -2^63 to 2^63-1, doubles, strings, any value, Uint8Arrays. For bytes a string
 * is taken as base64 (RFC 4648, padded), and refused when it is none (SYNTAX).
 */
export type ColumnType = "integer" | "real" | "text" | "json" | "bytes";

/** A column of a table; one with a default has that in rows that do not say. */
export type Column = ColumnType | { readonly type: ColumnType; readonly default?: number | bigint | string };

/** A table as a type declares it. */
export interface TableDeclaration {
    /** 1 to 64 columns. Each cell may be null, but those of the key. */
    readonly columns: { readonly [name: string]: Column };
    /** The columns, 1 to 8, by which a row is known. */
    readonly key: readonly string[];
    /** Columns by which rows are found and ordered fast. */
    readonly indexes?: { readonly [name: string]: readonly string[] };
    /** Default 1. */
    readonly version?: number;
    /**
     * Brings a row that an older version of the table wrote up to date: what it gives is put in its place, with the
     * same key. It is called for the rows of an object when that is made, in the background: 100 in a commit, others
     * in between. What is left at the host's end is done the next time; one that throws ends it until then.
     */
    readonly migrate?: (row: any) => object;
}

export interface TableDeclarations {
    readonly [name: string]: TableDeclaration;
}

type TypeOf<C> = C extends { readonly type: infer T } ? T : C;
type ReadCell<T> = T extends "integer" | "real"
    ? number
    : T extends "text"
      ? string
      : T extends "bytes"
        ? Uint8Array
        : any;
type WrittenCell<T> = T extends "integer" ? number | bigint : ReadCell<T>;
type Columns<T> = T extends { readonly columns: infer C } ? C : any;
type KeyColumns<T> = T extends { readonly key: readonly (infer K)[] } ? K : any;
type Names<T> = keyof Columns<T> & string;

/** A row as it is read. Whole numbers beyond 2^53-1 are bigints. */
export type Row<T = any> = {
    readonly [K in keyof Columns<T>]: ReadCell<TypeOf<Columns<T>[K]>> | (K extends KeyColumns<T> ? never : null);
};

/** What a live row has for bytes. */
export interface LiveBytes {
    readonly length: number;
    readonly digest: string;
}

type LiveCell<T> = T extends "bytes" ? LiveBytes : ReadCell<T>;

/** A row as live queries have it. */
export type LiveRow<T = any> = {
    readonly [K in keyof Columns<T>]: LiveCell<TypeOf<Columns<T>[K]>> | (K extends KeyColumns<T> ? never : null);
};

/** A row as it is written: all of its key; what is not given has its default, or is null. */
export type NewRow<T = any> = {
    readonly [K in keyof Columns<T> as K extends KeyColumns<T> ? K : never]: WrittenCell<TypeOf<Columns<T>[K]>>;
} & {
    readonly [K in keyof Columns<T> as K extends KeyColumns<T> ? never : K]?: WrittenCell<TypeOf<Columns<T>[K]>> | null;
};

/** Columns to be changed, none of the key. */
export type RowChange<T = any> = {
    readonly [K in keyof Columns<T> as K extends KeyColumns<T> ? never : K]?: WrittenCell<TypeOf<Columns<T>[K]>> | null;
};

/** What names a row: the value of its key, or an array when the key has several columns. */
export type Key<T = any> = T extends { readonly key: readonly [infer K extends keyof Columns<T>] }
    ? WrittenCell<TypeOf<Columns<T>[K]>> | readonly [WrittenCell<TypeOf<Columns<T>[K]>>]
    : T extends { readonly key: infer Keys extends readonly (keyof Columns<T>)[] }
      ? { readonly [I in keyof Keys]: WrittenCell<TypeOf<Columns<T>[Keys[I]]>> }
      : any;

type Operand = number | bigint | string | Uint8Array | boolean;

/** What rows have to fulfil; a comparison with a cell that is null does not hold. */
export type Condition<C extends string = string> =
    | { readonly eq: readonly [C, Operand] }
    | { readonly ne: readonly [C, Operand] }
    | { readonly lt: readonly [C, Operand] }
    | { readonly le: readonly [C, Operand] }
    | { readonly gt: readonly [C, Operand] }
    | { readonly ge: readonly [C, Operand] }
    | { readonly prefix: readonly [C, string] }
    | { readonly in: readonly [C, readonly Operand[]] }
    | { readonly null: C }
    | { readonly and: readonly Condition<C>[] }
    | { readonly or: readonly Condition<C>[] }
    | { readonly not: Condition<C> };

/** Asks for rows. */
export interface RowQuery<C extends string = string> {
    /** Which; default: all. */
    readonly where?: Condition<C> | undefined;
    /** By which columns, at most 8; the key decides what is left open. */
    readonly order?: readonly (C | readonly [C, "asc" | "desc"])[] | undefined;
    /** How many at once: 1 to 10000, default 1000. */
    readonly limit?: number | undefined;
    /** The rows behind this cursor: the `after` of a page. It stays good while rows come and go. */
    readonly after?: string | null | undefined;
    /** Only rows that an older version of the table has written: put them anew. Not in live queries. */
    readonly stale?: boolean | undefined;
    readonly count?: never;
    readonly sum?: never;
    readonly group?: never;
}

/** Asks for counts and sums of rows; without any of them it would ask for rows. */
export type GroupQuery<C extends string = string> = {
    readonly where?: Condition<C> | undefined;
    /** Only rows that an older version of the table has written. Not in live queries. */
    readonly stale?: boolean | undefined;
    /** How many rows. */
    readonly count?: true | undefined;
    /** The sum of a column of numbers: exact, of reals the double that is nearest to it. */
    readonly sum?: C | undefined;
    /** Of the rows that have the same in these columns; else of all. */
    readonly group?: readonly C[] | undefined;
} & ({ readonly count: true } | { readonly sum: C } | { readonly group: readonly C[] });

/** What a query gives. */
export interface Page<R> {
    readonly rows: readonly R[];
    /** Where the next page begins, or null at the end. */
    readonly after: string | null;
}

/** One group. Bytes in it are a Uint8Array, in a live query base64 text. */
export interface Group {
    readonly group?: { readonly [column: string]: any };
    readonly count?: number;
    readonly sum?: number | bigint | null;
}

/** Reads a table. */
export interface TableReader<T = any> {
    /** The row of a key, or undefined. Throws ChordalError INVALID, TYPE, RANGE (not a key of this table). */
    get(key: Key<T>): Row<T> | undefined;
    /**
     * Rows, or counts and sums of them: `{ where: { ge: ["due", 7] }, order: [["due", "desc"]], limit: 20 }`. The same
     * JSON in all languages, but that a Uint8Array is compared as bytes. Throws ChordalError INVALID with words, LIMIT.
     */
    query(query?: RowQuery<Names<T>>): Page<Row<T>>;
    query(query: GroupQuery<Names<T>>): Page<Group>;
}

/** What follows a query: its `rows` are kept current. */
export type LiveQuery<R> = ReferenceTo<{
    readonly shape: {
        params: "type" | "params" | "member" | "query";
        documents: { rows: readonly R[] };
        derives: {};
        methods: {};
        tables: {};
    };
}>;

/** Follows a table. */
export interface TableFollower<T = any> {
    /**
     * A reference to what a query gives, kept current from each commit's changes. Bytes in its rows are
     * a `LiveBytes`. One that is refused is "failed", with the words. In a host that only reads its store it is what
     * the query gave when it was first held; held again after all let it go it asks anew.
     */
    live(query?: RowQuery<Names<T>>): LiveQuery<LiveRow<T>>;
    live(query: GroupQuery<Names<T>>): LiveQuery<Group>;
}

/** A table of an object that this host provides, as it is stored. Not in browsers (UNSUPPORTED). */
export interface Table<T = any> extends TableReader<T>, TableFollower<T> {}

/**
 * A table in a transaction: it reads what the transaction wrote. Rows and documents are one commit. What is refused
 * changes nothing, but `updateWhere` and `deleteWhere` with LIMIT or NOMEM, after which the commit fails, too.
 */
export interface TableDraft<T = any> extends TableReader<T> {
    /**
     * Put a row, whole, in place of one with the same key. Throws ChordalError INVALID (no such column, no key), TYPE,
     * RANGE (a value does not fit its column), LIMIT (1048576 rows in one transaction).
     */
    put(row: NewRow<T>): void;
    /** Change the columns that are given, beside the key, of the row with that key. Errors as put; NOT_FOUND. */
    patch(row: NewRow<T>): void;
    /** Remove the row of a key; that there is none is no error. */
    remove(key: Key<T>): void;
    /** Change the columns that are given in all rows that fulfil a condition (null: in all); gives how many. */
    updateWhere(where: Condition<Names<T>> | null, changes: RowChange<T>): number;
    /** Remove all rows that fulfil a condition (null: all); gives how many. */
    deleteWhere(where: Condition<Names<T>> | null): number;
}

/** How a live query is asked for. */
export type AskLive = (query: object | undefined) => any;

/** The type of live queries, which every host with a store provides. */
export const QUERY_TYPE = "chordal.query";

/** The address of a live query. */
export function liveParams(type: string, params: object, member: string, query: object | undefined): object {
    return { type, params, member, query: queryOf(query) };
}

export class ProvidedTable implements Table {
    constructor(
        private readonly rows: StoredRows,
        private readonly object: number,
        private readonly member: number,
        private readonly ask: AskLive,
    ) {}

    get(key: unknown): any {
        return this.rows.get(this.object, this.member, key);
    }

    query(query?: object): any {
        return this.rows.query(this.object, this.member, query);
    }

    live(query?: object): any {
        return this.ask(query);
    }
}

export class DraftTable implements TableDraft {
    constructor(
        private readonly rows: RowChanges,
        private readonly object: number,
        private readonly member: number,
    ) {}

    get(key: unknown): any {
        return this.rows.get(this.object, this.member, key);
    }

    query(query?: object): any {
        return this.rows.query(this.object, this.member, query);
    }

    put(row: object): void {
        this.rows.put(this.object, this.member, row);
    }

    patch(row: object): void {
        this.rows.patch(this.object, this.member, row);
    }

    remove(key: unknown): void {
        this.rows.remove(this.object, this.member, key);
    }

    updateWhere(where: object | null, changes: object): number {
        return this.rows.updateWhere(this.object, this.member, where, changes);
    }

    deleteWhere(where: object | null): number {
        return this.rows.deleteWhere(this.object, this.member, where);
    }
}
