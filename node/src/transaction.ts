// Transactions: one atomic change of any number of documents and objects of one host.

import { ChangeLog, DraftDocument, registerPlace, type Draft, type Place } from "./draft.js";
import type { Type } from "./object.js";
import { Writer } from "./packed.js";
import type { ProvidedBase, ProvidedObject } from "./provided.js";
import { ChordalError, E_INVALID, E_NO_MEMBER, E_STATE } from "./records.js";

/** The documents of one object, to be read and changed. */
export type Documents<D> = { -readonly [K in keyof D]: Draft<D[K]> };

/** What a transaction's function is given: its object's documents, and those of others by `of`. */
export type Transaction<D = any> = Documents<D> & {
    /** The documents of another object of this host, in the same transaction. */
    of<D2>(object: ProvidedObject<any, D2, any>): Documents<D2>;
};

const LOG = Symbol("log");
const prototypes = new WeakMap<Type, object>();

/** One object in a transaction. */
class ObjectDraft implements Place {
    readonly log: ChangeLog;
    readonly documents = new Map<number, DraftDocument>();

    constructor(
        readonly object: ProvidedBase,
        freeze: boolean,
        private read: (object: ProvidedBase, member: number) => unknown,
    ) {
        this.log = new ChangeLog(freeze);
    }

    document(member: number): DraftDocument {
        let document = this.documents.get(member);
        if (document === undefined) {
            document = new DraftDocument(this.read(this.object, member), member, this.log);
            this.documents.set(member, document);
        }
        return document;
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

/** Properties for the documents of a type. */
function documentsOf(type: Type): object {
    let prototype = prototypes.get(type);
    if (prototype !== undefined) return prototype;
    prototype = {};
    type.members.forEach((member, index) => {
        if (member.kind !== "document") return;
        Object.defineProperty(prototype, member.name, {
            get(this: { [LOG]: ObjectDraft }) {
                return this[LOG].document(index).read();
            },
            set(this: { [LOG]: ObjectDraft }, value: unknown) {
                this[LOG].document(index).write(value);
            },
        });
    });
    prototypes.set(type, prototype);
    return prototype;
}

/** The changes of a transaction, until they are committed or forgotten. */
export class Changes {
    private drafts = new Map<ProvidedBase, { draft: ObjectDraft; view: object }>();

    constructor(
        private freeze: boolean,
        private read: (object: ProvidedBase, member: number) => unknown,
        private isOurs: (object: unknown) => boolean,
    ) {}

    /** What the program's function is given. */
    view(object: ProvidedBase | undefined): Transaction {
        const of = (other: ProvidedBase) => this.of(other);
        const view = object === undefined ? {} : Object.create(this.of(object));
        if (object !== undefined) registerPlace(view, this.drafts.get(object)!.draft);
        return Object.freeze(Object.defineProperty(view, "of", { value: of })) as Transaction;
    }

    private of(object: ProvidedBase): object {
        if (!this.isOurs(object)) throw new ChordalError(E_INVALID, 0, "this is no object of the same host");
        let entry = this.drafts.get(object);
        if (entry === undefined) {
            const draft = new ObjectDraft(object, this.freeze, this.read);
            const view = Object.create(documentsOf(object.type), { [LOG]: { value: draft } }) as object;
            entry = { draft, view: Object.freeze(view) };
            registerPlace(view, draft);
            this.drafts.set(object, entry);
        }
        return entry.view;
    }

    /** No more changes. */
    end(): void {
        for (const { draft } of this.drafts.values()) draft.log.open = false;
    }

    /** All changes as the core takes them; empty when there are none. */
    packed(): Uint8Array {
        const out = new Writer();
        for (const { draft } of this.drafts.values()) {
            const { bytes, at } = draft.log.out;
            if (at === 0) continue;
            out.varint(draft.object.id);
            out.varint(at);
            out.raw(bytes.subarray(0, at));
        }
        return out.take();
    }

    /** Hand out the new values. */
    finish(give: (object: ProvidedBase, member: number, value: unknown) => void): void {
        for (const { draft } of this.drafts.values()) {
            for (const document of draft.documents.values()) give(draft.object, document.member, document.finish());
        }
    }
}

/** Run a transaction's function, which must not be async. */
export function runWork(work: (t: any) => unknown, view: Transaction): void {
    const outcome = work(view);
    if (typeof (outcome as PromiseLike<unknown> | undefined)?.then === "function") {
        (outcome as Promise<unknown>).then(undefined, () => {}); // told by the error below
        throw new ChordalError(E_STATE, 0, "a transaction's function must not be async");
    }
}
