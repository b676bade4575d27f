// Types: what a program declares in order to provide objects.

import type { Call } from "./call.js";
import { checkFunction, checkNames, invalid, namesOf, shown, type Names } from "./check.js";
import type { Host } from "./host.js";
import type { Link } from "./link.js";
import { encodeText } from "./text.js";
import { pack } from "./packed.js";
import type { ProvidedObject } from "./provided.js";
import { ChordalError, E_INVALID } from "./records.js";
import type { TableDeclaration, TableDeclarations } from "./table.js";
import type { Transaction } from "./transaction.js";
import type { Immutable } from "./value.js";
import type { Worker } from "./worker.js";

/** Where an object may live. */
export type Place = Worker | Link;

/** Says where an object lives. */
export type Placement = (params: any, host: Host) => Place | Promise<Place>;

type Named = Record<string, unknown>;

/** The values that a derive may read: documents by name, and derives declared before it. */
export type Sources<D> = { readonly [K in keyof D]: Immutable<D[K]> } & { readonly [name: string]: any };

/** A value computed from others. */
export interface Derive<D, R> {
    /** The members that it reads: documents, and derives that are declared before it. */
    from: readonly string[];
    /**
     * Compute it from their present values, and from nothing else. Called once in each batch that changed one of them.
     * If it throws, its watchers keep the last value and see the error beside it; a promise that is not settled within
     * the host's `compute_timeout` counts as an error.
     */
    compute(values: Sources<D>): R | Promise<R>;
}

/** A method as its provider writes it. */
export type MethodFunction<P extends string, D, T = {}> = (call: Call<P, D, T>, ...args: any[]) => unknown;

/** What a guard is asked. */
export interface Ask<P extends string = string> {
    /** That of the session: what the program admitted its host with; null for one without. */
    readonly authority: any;
    /** Which object; it may not exist. */
    readonly params: { readonly [K in P]: any };
    /** The method that is to be called; undefined: the object is to be held. */
    readonly method: string | undefined;
    /** Which session: the same number as in its calls. */
    readonly origin: bigint;
}

/** What `type` is given. */
export interface Declaration<P extends string, D, R, M, T = {}> {
    /** The version that holders may ask for. Default 1. */
    version?: number;
    /** The names by which objects are addressed: there is one object for each choice of values. */
    params?: readonly P[];
    /** Objects stay when nobody holds them. */
    keep?: boolean;
    /**
     * Where an object lives: a worker or a link, or a promise of one. Hosts place such a type instead of providing it,
     * but for those of workers: see `Host.place`.
     */
    placement?(params: { readonly [K in P]: any }, host: Host): Place | Promise<Place>;
    /** JSON values of each object, with what they are in a new one. They change only in transactions. */
    documents?: D;
    /** Names of documents that are not in the host's store: they begin anew with the object. */
    inMemory?: readonly (keyof D & string)[];
    /**
     * Typed rows of each object, in the host's store, which it needs to have: written in transactions, found by
     * queries. The store's tables are brought up to the declaration: they are made, new columns are added, others are
     * forgotten.
     */
    tables?: T;
    /** How many of the newest revisions of its documents a store keeps; default 0. */
    history?: number | "all";
    /** Values computed from documents. */
    derives?: { [K in keyof R]: Derive<D, R[K]> };
    /**
     * What holders call. The first parameter tells of the call, the others are the caller's: values, or Uint8Arrays,
     * which travel raw. What a method returns, or its promise gives, is the result. It tells its caller of a failure by
     * throwing a `MethodError`; of anything else that it throws the caller learns nothing but the word "internal".
     */
    methods?: M & { [name: string]: MethodFunction<P, D, T> };
    /** Names of methods that may run twice without harm. */
    idempotent?: readonly string[];
    /**
     * Names of methods whose calls over links are noted in the host's store, which must have one, before they start,
     * and what came of them with their commit: a caller that comes back after a restart gets the outcome of before, or
     * it runs when nothing of it was committed. One that committed and did not return in the same step is
     * "outcome_unknown" there; so commit once, last, and return without awaiting.
     */
    durable?: readonly string[];
    /**
     * Whether a session may hold an object, and then, with `ask.method`, whether it may call: asked before an object is
     * made or looked up for it; may be async. `true` allows; "all", for a hold, its calls as well, without being asked.
     * Whatever else it answers or throws, or no answer in time (the host's `guard_timeout`), denies: the other host
     * learns "denied" and nothing else. This host's own references are not asked about. Not in browsers, where a type
     * with a guard is refused.
     */
    guard?(ask: Ask<P>): boolean | "all" | Promise<boolean | "all">;
    /**
     * Brings up to date what an older version of the type has stored: called before `start`, with the oldest version
     * that a document of the object was stored with. What it changes in `t` is one commit, and all documents of the
     * object are of the type's version with it. If it throws, they stay as they are, and the object fails as by
     * `start`. Documents that are new to the type have their first values. One that changes nothing is called again
     * the next time.
     */
    migrate?(t: Transaction<D, T>, version: number, object: ProvidedObject<P, D, R, T>): void;
    /** Called when an object is made, before it goes live. If it throws a MethodError, holders see it failed. */
    start?(object: ProvidedObject<P, D, R, T>): void | Promise<void>;
    /** Called when an object is no more. */
    retired?(object: ProvidedObject<P, D, R, T>): void;
}

/** What a type has, in the words of TypeScript: for the types of references. */
export interface Shape {
    params: string;
    documents: object;
    derives: object;
    methods: object;
    tables: object;
}

export type MemberKind = "document" | "derive" | "method" | "table";

/** One member of a declared type, in its place. */
export interface MemberOfType {
    readonly name: string;
    readonly kind: MemberKind;
    readonly initial?: unknown;
    readonly derive?: Derive<any, unknown>;
    readonly method?: MethodFunction<string, any>;
    readonly table?: TableDeclaration;
}

/** What a declaration may have: a misspelt word is told. */
const PARTS = new Set<string>([
    "version",
    "params",
    "keep",
    "placement",
    "documents",
    "inMemory",
    "tables",
    "history",
    "derives",
    "methods",
    "idempotent",
    "durable",
    "guard",
    "migrate",
    "start",
    "retired",
] satisfies (keyof Declaration<any, any, any, any, any>)[]);

const FUNCTIONS = ["placement", "guard", "migrate", "start", "retired"] as const;

/** A declared type. Make one with `type`. */
export class Type<P extends string = string, D = any, R = any, M = any, T = any> {
    /** Only for the type checker. */
    declare readonly shape: { params: P; documents: D; derives: R; methods: M; tables: T };
    readonly members: readonly MemberOfType[];
    readonly version: number;
    readonly params: readonly string[];

    constructor(
        readonly name: string,
        readonly declaration: Declaration<P, D, R, M, T>,
    ) {
        if (typeof name !== "string") throw invalid(`a type has a name first, not ${shown(name)}: type("notes", {…})`);
        if (typeof declaration !== "object" || declaration === null) {
            throw invalid(`the type ${name} is declared by an object, not ${shown(declaration)}`);
        }
        for (const key of Object.keys(declaration)) {
            if (!PARTS.has(key)) throw new ChordalError(E_INVALID, 0, `a type has no "${key}"`);
        }
        for (const part of FUNCTIONS) {
            if (declaration[part] !== undefined) checkFunction(part, declaration[part]);
        }
        this.version = declaration.version ?? 1;
        this.params = namesOf("params", declaration.params);
        this.members = membersOf(declaration);
        const names = new Set(this.members.map((member) => member.name));
        for (const name of namesOf("inMemory", declaration.inMemory)) {
            if (this.documentIndex(name) < 0) throw new ChordalError(E_INVALID, 0, `no document is named ${name}`);
        }
        const { idempotent, durable } = declaration;
        for (const name of [...namesOf("idempotent", idempotent), ...namesOf("durable", durable)]) {
            const isMethod = this.members.some((member) => member.name === name && member.kind === "method");
            if (!isMethod) throw invalid(`no method is named ${name}`);
        }
        if (names.size !== this.members.length) throw new ChordalError(E_INVALID, 0, "two members have the same name");
    }

    /** Whether an object goes live only when its `migrate` and `start` are through. */
    get waitsForStart(): boolean {
        return this.declaration.start !== undefined || this.declaration.migrate !== undefined;
    }

    /** The number of a document; -1 when there is none of this name. */
    documentIndex(name: string): number {
        return this.members.findIndex((member) => member.name === name && member.kind === "document");
    }

    /** The type in packed form, as `describe` gives it. */
    toBytes(): Uint8Array {
        return encodeText(
            jsonOf({
                name: this.name,
                version: this.version,
                params: this.params,
                keep: this.declaration.keep === true,
                history: this.declaration.history ?? 0,
                start: this.waitsForStart,
                migrates: this.declaration.migrate !== undefined,
                guarded: this.declaration.guard !== undefined,
                members: this.members.map((member) => this.describe(member)),
            }),
        );
    }

    private describe({ name, kind, initial, derive, table }: MemberOfType): Named {
        if (kind === "document" && this.declaration.inMemory?.some((other) => other === name))
            return { name, kind, initial, persist: false };
        if (kind === "document") return { name, kind, initial };
        if (kind === "derive") return { name, kind, from: derive!.from };
        if (kind === "table") return { name, kind, ...declaredTable(table!) };
        const { idempotent, durable } = this.declaration;
        const kept = durable?.includes(name) === true ? { durable: true } : {};
        return { name, kind, idempotent: idempotent?.includes(name) === true, ...kept };
    }
}

/** JSON text that keeps bigints and `__proto__` keys. What is no value is refused by packing it. */
function jsonOf(value: unknown): string {
    pack(value);
    return writeJson(value);
}

function writeJson(value: unknown): string {
    if (typeof value === "bigint") return value.toString();
    if (Array.isArray(value)) return `[${value.map(writeJson).join(",")}]`;
    if (typeof value !== "object" || value === null) return JSON.stringify(value);
    const members = Object.keys(value).map((key) => `${JSON.stringify(key)}:${writeJson((value as Named)[key])}`);
    return `{${members.join(",")}}`;
}

function membersOf({ documents, derives, methods, tables }: Declaration<any, any, any, any, any>): MemberOfType[] {
    const members: MemberOfType[] = [];
    for (const [name, initial] of Object.entries<unknown>(documents ?? {})) {
        members.push({ name, kind: "document", initial });
    }
    for (const [name, derive] of Object.entries<Derive<any, unknown>>(derives ?? {})) {
        checkDerive(name, derive);
        members.push({ name, kind: "derive", derive });
    }
    for (const [name, method] of Object.entries<MethodFunction<string, any>>(methods ?? {})) {
        if (typeof method !== "function") throw new ChordalError(E_INVALID, 0, `the method ${name} is no function`);
        members.push({ name, kind: "method", method });
    }
    for (const [name, table] of Object.entries<TableDeclaration>(tables ?? {})) {
        checkTable(name, table);
        members.push({ name, kind: "table", table });
    }
    return members;
}

const DERIVE_PARTS: Names<Derive<any, unknown>> = { from: true, compute: true };

function checkDerive(name: string, derive: Derive<any, unknown>): void {
    checkNames(`the derive ${name}`, derive, DERIVE_PARTS);
    if (!Array.isArray(derive.from)) throw invalid(`the derive ${name} is "from" an array of names`);
    checkFunction(`"compute" of the derive ${name}`, derive.compute);
}

const TABLE_PARTS: ReadonlySet<string> = new Set<keyof TableDeclaration>([
    "columns",
    "key",
    "indexes",
    "version",
    "migrate",
]);

/** What the core is told of a table. */
function declaredTable(table: TableDeclaration): Named {
    const parts = Object.entries(table).filter(([part, value]) => part !== "migrate" && value !== undefined);
    return Object.fromEntries(parts);
}

function checkTable(name: string, table: TableDeclaration): void {
    if (typeof table !== "object" || table === null) throw new ChordalError(E_INVALID, 0, `${name} is no table`);
    for (const key of Object.keys(table)) {
        if (!TABLE_PARTS.has(key)) throw new ChordalError(E_INVALID, 0, `a table has no "${key}"`);
    }
}

/** Refuse what `type` did not give. */
export function checkType(given: Type<any, any, any, any>): void {
    if (typeof given?.toBytes !== "function") throw invalid(`${shown(given)} is no type: \`type\` declares one`);
}

/** The name of a type that is given by it, or itself. */
export function nameOf(given: string | { readonly name?: string }): string {
    const name = typeof given === "string" ? given : given?.name;
    if (typeof name === "string") return name;
    throw invalid(`a type is a name or what \`type\` gave, not ${shown(given)}`);
}

/**
 * Declare a type.
 *
 * ```ts
 * const Notes = type("notes", {
 *     params: ["board"],
 *     documents: { list: { entries: [] as { id: string; text: string }[] } },
 *     derives: { count: { from: ["list"], compute: ({ list }) => list.entries.length } },
 *     methods: {
 *         add(call, text: string) {
 *             const id = call.newId();
 *             call.transaction((t) => t.list.entries.push({ id, text }));
 *             return id;
 *         },
 *     },
 * });
 * ```
 *
 * `new Host({ types: [Notes] })` provides it, `host.get(Notes, { board: "lunch" })` holds one of its objects. A program
 * that only holds needs just the types: `import type { Notes } …; host.get<typeof Notes>("notes", …)`.
 */
export function type<const P extends string = never, D = {}, R = {}, M = {}, const T extends TableDeclarations = {}>(
    name: string,
    declaration: Declaration<P, D, R, M, T>,
): Type<P, D, R, M, T> {
    return new Type(name, declaration);
}
