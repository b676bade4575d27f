// Transactions: one atomic change of any number of documents, tables and objects of one host.

import { ChangeLog, DraftDocument, PLACE, type Draft, type Place } from "./draft.js";
import type { Type } from "./object.js";
import { borrowWriter, lent, returnWriter } from "./packed.js";
import type { ProvidedBase, ProvidedObject } from "./provided.js";
import { ChordalError, E_INVALID, E_NO_MEMBER, E_STATE } from "./records.js";
import type { RowChanges } from "./rows.js";
import { DraftTable, type TableDraft } from "./table.js";
import { freezeAll } from "./value.js";

/** The documents of one object, to be read and changed. */
export type Documents<D> = { -readonly [K in keyof D]: Draft<D[K]> };

/** The tables of one object, to be read and changed. */
export type TableDrafts<T> = { readonly [K in keyof T]: TableDraft<T[K]> };

/** What a transaction's function is given: its object's documents and tables, and those of others by `of`. */
export type Transaction<D = any, T = {}> = Documents<D> &
    TableDrafts<T> & {
        /** The documents and tables of another object of this host, in the same transaction. */
        of<D2, T2 = {}>(object: ProvidedObject<any, D2, any, T2>): Documents<D2> & TableDrafts<T2>;
    };

const CHANGES = Symbol("changes");

/** What a program sees of an object in a transaction; its members are properties, in a class for each type. */
class View {
    readonly [PLACE]: ObjectDraft | undefined;
    readonly [CHANGES]: Changes;

    constructor(changes: Changes, draft: ObjectDraft | undefined) {
        this[PLACE] = draft;
        this[CHANGES] = changes;
        Object.preventExtensions(this);
    }

    of(object: ProvidedBase): View {
        return this[CHANGES].of(object);
    }
}

const views = new WeakMap<Type, typeof View>();

/** Where the objects are. */
export interface ChangesOwner {
    readonly freeze: boolean;
    value(object: ProvidedBase, member: number): unknown;
    owns(object: unknown): boolean;
}

/** One object in a transaction. */
class ObjectDraft implements Place {
    readonly log: ChangeLog;
    readonly documents: DraftDocument[] = []; // those that were touched, by member
    private tables: DraftTable[] | undefined;

    constructor(
        readonly object: ProvidedBase,
        private owner: ChangesOwner,
        private rows: RowChanges,
    ) {
        this.log = new ChangeLog(owner.freeze);
    }

    document(member: number): DraftDocument {
        const { documents } = this;
        return (documents[member] ??= new DraftDocument(this.owner.value(this.object, member), member, this.log));
    }

    table(member: number): DraftTable {
        return ((this.tables ??= [])[member] ??= new DraftTable(this.rows, this.object.id, member));
    }

    appendText(name: string, text: string): void {
        this.named(name).appendText(text);
    }

    truncateText(name: string, count: number): void {
        this.named(name).truncateText(count);
    }

    private named(name: string): DraftDocument {
        const member = this.object.type.documentIndex(name);
        if (member < 0) throw new ChordalError(E_NO_MEMBER, 0, `${this.object.type.name} has no document ${name}`);
        return this.document(member);
    }
}

/** The class of a type's views. */
function viewOf(type: Type): typeof View {
    let view = views.get(type);
    if (view !== undefined) return view;
    view = class extends View {};
    type.members.forEach(({ name, kind }, index) => {
        if (name === "of") return;
        if (kind === "table") {
            Object.defineProperty(view!.prototype, name, {
                get(this: View) {
                    return this[PLACE]!.table(index);
                },
            });
        }
        if (kind !== "document") return;
        Object.defineProperty(view!.prototype, name, {
            get(this: View) {
                return this[PLACE]!.document(index).read();
            },
            set(this: View, value: unknown) {
                this[PLACE]!.document(index).write(value);
            },
        });
    });
    views.set(type, view);
    return view;
}

/** The changes of a transaction, until they are committed or forgotten. */
export class Changes {
    private readonly drafts: ObjectDraft[] = [];
    private readonly out = borrowWriter();

    constructor(
        private owner: ChangesOwner,
        private rows: RowChanges,
    ) {}

    /** What the program's function is given. */
    view(object: ProvidedBase | undefined): View {
        return object === undefined ? new View(this, undefined) : this.of(object);
    }

    of(object: ProvidedBase): View {
        if (!this.owner.owns(object)) throw new ChordalError(E_INVALID, 0, "this is no object of the same host");
        return new (viewOf(object.type))(this, this.draft(object));
    }

    private draft(object: ProvidedBase): ObjectDraft {
        for (const draft of this.drafts) if (draft.object === object) return draft;
        const draft = new ObjectDraft(object, this.owner, this.rows);
        this.drafts.push(draft);
        return draft;
    }

    /** No more changes: all of them as the core takes them, good until `done`; empty when there are none. */
    end(): Uint8Array {
        const { out } = this;
        this.rows.end();
        for (const { object, log } of this.drafts) {
            if (log.out.at > 0) {
                out.varint(object.id);
                out.varint(log.out.at);
                out.append(log.out);
            }
            log.end();
        }
        return lent(out);
    }

    /** The bytes were taken. */
    done(): void {
        returnWriter(this.out);
    }

    /** Hand out the new values; the objects whose documents were touched. */
    finish(): ProvidedBase[] {
        const touched = [];
        for (const { object, documents } of this.drafts) {
            if (documents.length > 0) touched.push(object);
            documents.forEach((document, member) => {
                const value = document.finish();
                if (this.owner.freeze) freezeAll(value);
                object.values[member] = value;
            });
        }
        return touched;
    }
}

/** Run a transaction's function, which must not be async. */
export function runWork(work: (t: any) => unknown, view: View): void {
    const outcome = work(view);
    if (typeof (outcome as PromiseLike<unknown> | undefined)?.then === "function") {
        (outcome as Promise<unknown>).then(undefined, () => {}); // told by the error below
        throw new ChordalError(E_STATE, 0, "a transaction's function must not be async");
    }
}
