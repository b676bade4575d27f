// One call that a provided object serves.

import type { Provider } from "./provider.js";
import type { ProvidedObject } from "./provided.js";
import { ChordalError, E_CANCELLED } from "./records.js";
import type { Transaction } from "./transaction.js";

const ID_BYTES = 12;
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** What a method gets as its first parameter. */
export class Call<P extends string = string, D = any, T = {}> {
    private controller: AbortController | undefined;
    private cancelled = false;

    /** @internal */
    constructor(
        private readonly provider: Provider,
        /** @internal */
        readonly id: number,
        /** The object that was called. */
        readonly object: ProvidedObject<P, D, any, T>,
        /** Which session called: the same for all calls of one session; 0n is this host. */
        readonly origin: bigint,
        /** That of the session: what the program admitted its host with. null for one without, and for this host. */
        readonly authority: any,
    ) {}

    /** Aborted when the caller no longer wants the answer. The method may go on; its answer is dropped. */
    get signal(): AbortSignal {
        if (this.controller === undefined) {
            this.controller = new AbortController();
            if (this.cancelled) this.controller.abort(new ChordalError(E_CANCELLED));
        }
        return this.controller.signal;
    }

    /** @internal */
    cancel(): void {
        this.cancelled = true;
        this.controller?.abort(new ChordalError(E_CANCELLED));
    }

    /**
     * Change documents and tables on behalf of this call: its result reaches the caller after the change. `work` runs
     * at once and changes what it is given; it must not be async. What it throws leaves nothing and is thrown on. The
     * promise gives the commit's number; it need not be awaited.
     */
    transaction(work: (t: Transaction<D, T>) => unknown): Promise<number> {
        return this.provider.transact(this.object, this.id, work);
    }

    /** A short random text, unique for all purposes: 96 bits. */
    newId(): string {
        let id = "";
        const bytes = this.provider.random(new Uint8Array(ID_BYTES));
        for (let i = 0; i < ID_BYTES; i += 3) {
            const bits = (bytes[i]! << 16) | (bytes[i + 1]! << 8) | bytes[i + 2]!;
            for (let shift = 18; shift >= 0; shift -= 6) id += DIGITS[(bits >> shift) & 63];
        }
        return id;
    }
}
