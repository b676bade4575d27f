// An object that this host provides.

import type { Host } from "./host.js";
import type { Provider } from "./provider.js";
import type { Type } from "./object.js";
import type { Table } from "./table.js";
import type { Transaction } from "./transaction.js";
import type { Immutable, Value } from "./value.js";

/** An object that this host provides: `host.object(Notes, …)`, and the `object` of a call. */
export type ProvidedObject<P extends string = string, D = any, R = any, T = {}> = ProvidedBase<P, D, T> & {
    readonly [K in keyof D]: Immutable<D[K]>;
} & { readonly [K in keyof R]: Immutable<R[K]> | undefined } & { readonly [K in keyof T]: Table<T[K]> };

const prototypes = new WeakMap<Type, ProvidedBase>();

/** What all of them have. Documents, derives and tables are properties beside these, by their names. */
export class ProvidedBase<P extends string = string, D = any, T = any> {
    /** @internal The values at hand, by member; documents are read from the core when they are wanted. */
    readonly values: unknown[] = [];

    /** @internal */
    constructor(
        private readonly provider: Provider,
        /** @internal */
        readonly id: number,
        readonly type: Type,
        /** The object's address within its type. */
        readonly params: { readonly [K in P]: any },
    ) {}

    /** @internal */
    static make(provider: Provider, id: number, type: Type, params: Value): ProvidedBase {
        let prototype = prototypes.get(type);
        if (prototype === undefined) prototypes.set(type, (prototype = withMembers(type)));
        const object = new ProvidedBase(provider, id, type, params as Record<string, any>);
        return Object.setPrototypeOf(object, prototype) as ProvidedBase;
    }

    /** The host that provides the object. */
    get host(): Host {
        return this.provider.host;
    }

    /** The present value of a document or derive, or a table, by name, for names that properties of this class have. */
    value(name: string): unknown {
        const index = this.type.members.findIndex((member) => member.name === name && member.kind !== "method");
        return index < 0 ? undefined : this.provider.value(this, index);
    }

    /** Change documents and tables: see `Call.transaction`. */
    transaction(work: (t: Transaction<D, T>) => unknown): Promise<number> {
        return this.provider.transact(this, 0, work);
    }

    /**
     * Take the object from all sessions with this authority: their references are revoked, with the reason. Its guard
     * is asked when one holds it again. Not in browsers.
     */
    revoke(authority: unknown, reason = ""): void {
        this.provider.revoke(this, authority, reason);
    }

    /** End the object: its holders see it retired. */
    retire(): void {
        this.provider.retire(this);
    }

    /** Give one `host.object` back. */
    release(): void {
        this.provider.drop(this);
    }
}

/** A prototype with a property for each member that has a value. */
function withMembers(type: Type): ProvidedBase {
    const prototype = Object.create(ProvidedBase.prototype) as ProvidedBase;
    type.members.forEach((member, index) => {
        if (member.kind === "method" || member.name in ProvidedBase.prototype || OWN.has(member.name)) return;
        Object.defineProperty(prototype, member.name, {
            get(this: ProvidedBase) {
                return (this as any).provider.value(this, index);
            },
        });
    });
    return prototype;
}

const OWN = new Set(["provider", "id", "type", "params", "values"]);
