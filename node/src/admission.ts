// Who is let in, and what those may do: the program's functions are asked, and their answers brought to the core.

import type { Core } from "./core.js";
import { MethodError } from "./errors.js";
import type { Authenticate } from "./link.js";
import type { Type } from "./object.js";
import { pack, unpack } from "./packed.js";
import { unpackOr } from "./provider.js";
import type { Pump } from "./pump.js";
import {
    ALL_MEMBERS,
    ChordalError,
    E_CLOSED,
    E_STATE,
    FORMAT_PACKED,
    GUARD_ALLOW,
    GUARD_ALLOW_CALLS,
    GUARD_DENY,
    type AuthenticateEvent,
    type GuardEvent,
} from "./records.js";

const VERDICTS = new Map<unknown, number>([
    [true, GUARD_ALLOW],
    ["all", GUARD_ALLOW_CALLS],
    [false, GUARD_DENY],
]);

const WORDS = 100; // as many as travel

/** What a peer that is refused is told. */
function isForPeers(error: unknown): error is Error {
    return (error instanceof ChordalError || error instanceof MethodError) && error.name === "refused";
}

export class Admission {
    constructor(
        private readonly core: Core,
        private readonly pump: Pump,
        private readonly freeze: boolean,
        private readonly report: (error: unknown, where: string) => void,
    ) {}

    async authenticate({ link, credentials }: AuthenticateEvent, ask: Authenticate | undefined): Promise<void> {
        const shown = unpack(credentials, this.freeze); // before the event's bytes are gone
        try {
            if (ask === undefined) throw new MethodError("refused");
            const authority = pack((await ask(shown)) ?? null);
            this.tell(() => this.core.flat.link_admit(this.core.host, link, FORMAT_PACKED, authority));
        } catch (error) {
            if (!isForPeers(error)) this.report(error, "authenticate");
            const words = isForPeers(error) ? error.message.slice(0, WORDS) : "";
            this.tell(() => this.core.flat.link_refuse(this.core.host, link, words));
        }
    }

    async judge(event: GuardEvent, type: Type): Promise<void> {
        const method = event.member === ALL_MEMBERS ? undefined : type.members[event.member]!.name;
        const authority = unpackOr(event.authority, this.freeze);
        const ask = { authority, params: unpack(event.params, this.freeze), method, origin: event.origin };
        let verdict: number | undefined;
        try {
            const answer: unknown = await type.declaration.guard!(ask as any);
            verdict = VERDICTS.get(answer);
            if (verdict === undefined) throw new TypeError('a guard answers true, false or "all"');
        } catch (error) {
            this.report(error, `${type.name}.guard`);
        }
        this.tell(() => this.core.flat.guard_answer(this.core.host, event.guard, verdict ?? GUARD_DENY));
    }

    /** Too late, or for nobody any more, is no fault. */
    private tell(step: () => void): void {
        if (this.core.closed) return;
        try {
            step();
        } catch (error) {
            const late = error instanceof ChordalError && (error.code === E_CLOSED || error.code === E_STATE);
            if (!late) throw error;
        }
        this.pump.wake();
    }
}
