// The providing side of a host: its objects, the calls they serve, their derives and commits.

import { Call } from "./call.js";
import { MethodError } from "./errors.js";
import type { Core } from "./core.js";
import type { Host } from "./host.js";
import { Link } from "./link.js";
import type { Placement, Type } from "./object.js";
import { lend, pack, unpack, unpackArguments } from "./packed.js";
import { platform } from "./platform.js";
import { ProvidedBase } from "./provided.js";
import type { Pump } from "./pump.js";
import {
    ChordalError,
    E_CLOSED,
    E_NO_TYPE,
    E_UNSUPPORTED,
    EVENT_TICKET,
    FORMAT_PACKED,
    OBJECT_MADE,
    PREPARED,
    type CallEvent,
    type CancelEvent,
    type ComputeEvent,
    type HostEvent,
    type ObjectEvent,
    type ResolveEvent,
    type TicketEvent,
} from "./records.js";
import { hasRows, RowChanges, StoredRows } from "./rows.js";
import { liveParams, ProvidedTable, QUERY_TYPE } from "./table.js";
import { Changes, runWork } from "./transaction.js";
import type { Value } from "./value.js";

const INTERNAL = "internal"; // what others learn of a fault of the program
const READ_SIZE = 4096;
const ROWS_AT_ONCE = 100; // of a table that is migrated

/** A commit on its way. */
interface Ticket {
    touched: ProvidedBase[];
    outcome: Promise<number> | undefined;
    resolve(commit: number): void;
    reject(error: ChordalError): void;
}

/** It need not be awaited. */
function reject({ outcome, reject }: Ticket, error: ChordalError): void {
    outcome!.catch(() => {});
    reject(error);
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
    return typeof (value as PromiseLike<unknown> | null | undefined)?.then === "function";
}

/** The authority of an event. */
export function unpackOr(packed: Uint8Array, freeze: boolean): any {
    return packed.length === 0 ? null : unpack(packed, freeze);
}

/** How many rounds of computing a change of a type's documents may take. */
function derivesDepth(type: Type): number {
    const depths = new Map<string, number>();
    for (const { name, derive } of type.members) {
        if (derive === undefined) continue;
        depths.set(name, 1 + Math.max(0, ...derive.from.map((source) => depths.get(source) ?? 0)));
    }
    return Math.max(0, ...depths.values());
}

export class Provider {
    private types = new Map<number, Type>();
    private objects = new Map<number, ProvidedBase>();
    private calls = new Map<number, Call>();
    private starting = new Set<number>(); // objects that were migrated and are not started yet
    private tickets = new Map<number, Ticket>();
    private unsettled = new Map<number, number>(); // object: commits that are not through, where there are derives
    private placements = new Map<string, Placement>();
    private rounds = 0;
    private readonly rows: StoredRows;
    private buffer = new Uint8Array(READ_SIZE);

    constructor(
        readonly host: Host,
        private readonly core: Core,
        private readonly pump: Pump,
        readonly freeze: boolean,
        private readonly report: (error: unknown, where: string) => void,
    ) {
        this.rows = new StoredRows(core, freeze);
    }

    random(bytes: Uint8Array): Uint8Array {
        return platform().random(bytes);
    }

    // ---- types and objects ----

    provide(type: Type): void {
        this.types.set(this.declare(type), type);
        this.rounds = Math.max(this.rounds, derivesDepth(type));
        this.pump.wake();
    }

    private declare(type: Type): number {
        const { core } = this;
        try {
            return core.flat.type_provide(core.host, type.toBytes());
        } catch (error) {
            if (type.members.some(({ kind }) => kind === "table") && !hasRows(core))
                throw new ChordalError(E_UNSUPPORTED, 0, `${type.name}: the WebAssembly core has no tables`);
            const is = error instanceof ChordalError && error.code === E_UNSUPPORTED && type.declaration.guard;
            if (!is) throw error;
            const words = "the WebAssembly core has no guards: the server through which a tab is reached says who may";
            throw new ChordalError(E_UNSUPPORTED, 0, `${type.name}: ${words}`);
        }
    }

    typeOf(id: number): Type {
        return this.types.get(id)!;
    }

    // ---- objects elsewhere ----

    place(name: string, placement: Placement): void {
        const { core } = this;
        core.flat.type_place(core.host, name);
        this.placements.set(name, placement);
        this.pump.wake();
    }

    onResolve({ question, type, params }: ResolveEvent): void {
        void this.resolve(question, type, unpack(params, this.freeze));
    }

    private async resolve(question: number, name: string, params: Value): Promise<void> {
        const { core } = this;
        try {
            const place = await this.placements.get(name)!(params, this.host);
            if (core.closed) return;
            const link = "link" in place ? place.link : place;
            if (!(link instanceof Link)) throw new TypeError("a placement gives a worker or a link");
            if (link.state === "closed") throw new MethodError("no_route", "the link to the object is closed");
            this.settleQuestion(() => core.flat.resolve(core.host, question, link.id));
        } catch (error) {
            const reason = this.told(error, `the placement of ${name}`);
            if (core.closed) return;
            this.settleQuestion(() => core.flat.resolve_fail(core.host, question, reason.name, reason.message));
        }
        this.pump.wake();
    }

    /** It may be too late: nobody waits any more. */
    private settleQuestion(step: () => void): void {
        try {
            step();
        } catch (error) {
            if (!(error instanceof ChordalError) || error.code !== E_CLOSED) throw error;
        }
    }

    object(name: string, params: object): ProvidedBase {
        const { core } = this;
        const entry = [...this.types].find(([, type]) => type.name === name);
        if (entry === undefined) throw new ChordalError(E_NO_TYPE, 0, `the type ${name} is not provided here`);
        const packed = pack(params);
        const id = core.flat.object_get(core.host, name, FORMAT_PACKED, packed);
        this.pump.wake();
        return this.known(id, entry[1], packed);
    }

    private known(id: number, type: Type, params: Uint8Array): ProvidedBase {
        let object = this.objects.get(id);
        if (object === undefined) {
            object = ProvidedBase.make(this, id, type, unpack(params, this.freeze));
            this.objects.set(id, object);
        }
        return object;
    }

    onObject(event: ObjectEvent): void {
        if (event.state === OBJECT_MADE) {
            const type = this.types.get(event.type)!;
            const object = this.known(event.object, type, event.params);
            void this.begin(object, event.version);
            return;
        }
        const object = this.objects.get(event.object);
        this.objects.delete(event.object);
        this.unsettled.delete(event.object);
        if (object !== undefined) object.type.declaration.retired?.(object as any);
    }

    private async begin(object: ProvidedBase, stored: number): Promise<void> {
        if (object.type.waitsForStart) await this.start(object, stored);
        for (const { name, table } of object.type.members) {
            if (table?.migrate !== undefined) await this.migrateRows(object, name, table.migrate);
        }
    }

    private has(object: ProvidedBase): boolean {
        return !this.core.closed && this.objects.get(object.id) === object;
    }

    /** A page of old rows in each commit. */
    private async migrateRows(object: ProvidedBase, name: string, migrate: (row: any) => object): Promise<void> {
        const query = { stale: true, limit: ROWS_AT_ONCE, after: null };
        try {
            do {
                await this.transact(object, 0, (t) => {
                    const page = t[name].query(query);
                    for (const row of page.rows) t[name].put(migrate(row));
                    query.after = page.after;
                });
            } while (query.after !== null && this.has(object));
        } catch (error) {
            if (this.has(object)) this.report(error, `${object.type.name}.${name}.migrate`);
        }
    }

    private async start(object: ProvidedBase, stored: number): Promise<void> {
        const { name, version, declaration } = object.type;
        let reason = new MethodError("");
        let where = "migrate";
        try {
            const older = stored > 0 && stored < version;
            if (older) await this.transact(object, object.id, (t) => declaration.migrate?.(t, stored, object as any));
            if (older) this.starting.add(object.id); // the WebAssembly core knows no older ones
            where = "start";
            await declaration.start?.(object as any);
        } catch (error) {
            reason = this.told(error, `${name}.${where}`);
        }
        this.starting.delete(object.id);
        if (!this.has(object)) return;
        this.core.flat.object_start(this.core.host, object.id, reason.name, reason.message);
        this.pump.wake();
    }

    retire(object: ProvidedBase): void {
        this.core.flat.object_retire(this.core.host, object.id);
        this.pump.wake();
    }

    revoke(object: ProvidedBase, authority: unknown, reason: string): void {
        this.core.flat.object_revoke(this.core.host, object.id, FORMAT_PACKED, pack(authority), reason);
        this.pump.wake();
    }

    drop(object: ProvidedBase): void {
        this.core.flat.object_drop(this.core.host, object.id);
        this.pump.wake();
    }

    owns(object: unknown): object is ProvidedBase {
        return object instanceof ProvidedBase && this.objects.get(object.id) === object;
    }

    /** The newest value of a document, the last one of a derive, a table. */
    value(object: ProvidedBase, member: number): unknown {
        const { values } = object;
        const { kind } = object.type.members[member]!;
        if (!(member in values) && kind === "document") values[member] = this.read(object, member + PREPARED);
        if (!(member in values) && kind === "table") values[member] = this.table(object, member);
        return values[member];
    }

    private table({ id, type, params, host }: ProvidedBase, member: number): ProvidedTable {
        const { name } = type.members[member]!;
        const ask = (query: object | undefined) => host.get(QUERY_TYPE, liveParams(type.name, params, name, query));
        return new ProvidedTable(this.rows, id, member, ask);
    }

    /** What the core has: a document as all commits that are through have left it, with PREPARED as the newest has. */
    private read(object: ProvidedBase, member: number): Value {
        const { core } = this;
        const length = core.flat.object_read(core.host, object.id, member, FORMAT_PACKED, this.buffer);
        if (length > this.buffer.length) {
            const larger = new Uint8Array(length);
            core.flat.object_read(core.host, object.id, member, FORMAT_PACKED, larger);
            return unpack(larger, this.freeze);
        }
        return unpack(this.buffer.subarray(0, length), this.freeze);
    }

    // ---- calls ----

    onCall(event: CallEvent): void {
        const object = this.objects.get(event.object)!;
        const member = object.type.members[event.member]!;
        const call = new Call(this, event.call, object as any, event.origin, unpackOr(event.authority, this.freeze));
        this.calls.set(event.call, call);
        const where = `${object.type.name}.${member.name}`;
        let result: unknown;
        try {
            result = member.method!(call, ...unpackArguments(event.arguments));
        } catch (error) {
            return this.fail(call, this.told(error, where));
        }
        if (!isPromise(result)) return this.answer(call, result, where);
        result.then(
            (value) => this.answer(call, value, where),
            (error) => this.fail(call, this.told(error, where)),
        );
    }

    private answer(call: Call, value: unknown, where: string): void {
        const { core } = this;
        if (core.closed || !this.calls.delete(call.id)) return;
        try {
            const give = (bytes: Uint8Array, format: number) =>
                core.flat.call_answer(core.host, call.id, format, bytes);
            if (value instanceof Uint8Array) give(value, 0);
            else
                lend(
                    (out) => out.value(value ?? null),
                    (bytes) => give(bytes, FORMAT_PACKED),
                );
            this.pump.wake();
        } catch (error) {
            this.calls.set(call.id, call);
            this.fail(call, this.told(error, `the result of ${where}`));
        }
    }

    private fail(call: Call, error: MethodError): void {
        const { core } = this;
        if (core.closed || !this.calls.delete(call.id)) return;
        try {
            core.flat.call_fail(core.host, call.id, error.name, error.message);
        } catch (reason) {
            this.report(reason, "a method's error");
            core.release(call.id);
        }
        this.pump.wake();
    }

    onCancel(event: CancelEvent): void {
        this.calls.get(event.call)?.cancel();
    }

    /** What others are told of an exception: a MethodError as it is, of all else nothing. */
    private told(error: unknown, where: string): MethodError {
        if (error instanceof MethodError && error.name !== "") return error;
        this.report(error, where);
        return new MethodError(INTERNAL, "the provider failed");
    }

    // ---- derives ----

    onCompute(event: ComputeEvent): void {
        const object = this.objects.get(event.object);
        if (object === undefined) return this.computeFailed(event.compute, new MethodError(INTERNAL));
        const { name, derive } = object.type.members[event.member]!;
        const where = `${object.type.name}.${name}`;
        let result: unknown;
        try {
            result = derive!.compute(this.sources(object, derive!.from));
        } catch (error) {
            return this.computeFailed(event.compute, this.told(error, where));
        }
        if (!isPromise(result)) return this.computed(event, object, result, where);
        result.then(
            (value) => this.computed(event, object, value, where),
            (error) => this.computeFailed(event.compute, this.told(error, where)),
        );
    }

    /** What a derive reads. While several commits are on their way, documents are what the first of them made. */
    private sources(object: ProvidedBase, from: readonly string[]): Record<string, unknown> {
        const values: Record<string, unknown> = {};
        const ahead = (this.unsettled.get(object.id) ?? 0) > 1;
        for (const name of from) {
            const member = object.type.members.findIndex((other) => other.name === name);
            const isDocument = object.type.members[member]?.kind === "document";
            values[name] = ahead && isDocument ? this.read(object, member) : this.value(object, member);
        }
        return values;
    }

    private computed(event: ComputeEvent, object: ProvidedBase, value: unknown, where: string): void {
        const { core } = this;
        if (core.closed) return;
        try {
            const bytes = pack(value);
            core.flat.compute_answer(core.host, event.compute, FORMAT_PACKED, bytes);
            object.values[event.member] = unpack(bytes, this.freeze);
            this.pump.wake();
        } catch (error) {
            this.computeFailed(event.compute, this.told(error, `the value of ${where}`));
        }
    }

    private computeFailed(compute: number, error: MethodError): void {
        const { core } = this;
        if (core.closed) return;
        try {
            core.flat.compute_fail(core.host, compute, error.name, error.message);
            this.pump.wake();
        } catch {
            // it took too long, and was given up
        }
    }

    // ---- commits ----

    /** Run a transaction and commit it: documents in one crossing. */
    transact(object: ProvidedBase | undefined, call: number, work: (t: any) => unknown): Promise<number> {
        const { core } = this;
        void core.host; // refuses when closed
        const rows = new RowChanges(core, this.behalf(object, call), this.freeze);
        const changes = new Changes(this, rows);
        let packed: Uint8Array | undefined;
        let done = false;
        try {
            runWork(work, changes.view(object));
            done = true;
        } finally {
            packed = changes.end();
            if (!done) rows.abort();
        }
        if (packed.length > 0 || rows.written) return this.commit(changes, packed, rows);
        changes.done();
        rows.abort();
        return Promise.resolve(0);
    }

    /** What the core is told of whom a transaction is for: a call that is not answered, an object that starts. */
    private behalf(object: ProvidedBase | undefined, call: number): number {
        if (this.calls.has(call) || this.objects.has(call)) return call;
        return object !== undefined && this.starting.has(object.id) ? object.id : 0;
    }

    private commit(changes: Changes, packed: Uint8Array, rows: RowChanges): Promise<number> {
        const number = rows.commit(packed);
        changes.done();
        const touched = changes.finish();
        const outcome = this.expect(number, touched);
        if (this.rounds === 0) this.pump.wake();
        else this.settle(touched);
        return outcome;
    }

    private settle(touched: readonly ProvidedBase[]): void {
        for (const { id } of touched) this.unsettled.set(id, (this.unsettled.get(id) ?? 0) + 1);
        this.pump.settle(this.rounds);
    }

    private expect(number: number, touched: ProvidedBase[]): Promise<number> {
        let ticket: Ticket;
        const outcome = new Promise<number>((resolve, reject) => {
            ticket = { touched, outcome: undefined, resolve, reject };
        });
        ticket!.outcome = outcome;
        this.tickets.set(number, ticket!);
        return outcome;
    }

    /** What comes of a ticket that is no commit's. */
    outcomeOf(number: number): Promise<number> {
        this.pump.wake();
        return this.expect(number, []);
    }

    /** Events are looked at when they are polled, before their turn. */
    polled(event: HostEvent): void {
        if (event.kind !== EVENT_TICKET || (event.code === 0 && this.rounds === 0)) return;
        for (const { id, values, type } of this.tickets.get(event.ticket)?.touched ?? []) {
            const left = (this.unsettled.get(id) ?? 1) - 1;
            if (left > 0) this.unsettled.set(id, left);
            else this.unsettled.delete(id);
            if (event.code === 0) continue;
            type.members.forEach(({ kind }, member) => {
                if (kind === "document") delete values[member]; // the tip fell back
            });
        }
    }

    onTicket(event: TicketEvent): void {
        const ticket = this.tickets.get(event.ticket);
        this.tickets.delete(event.ticket);
        if (ticket === undefined) return;
        if (event.code === 0) ticket.resolve(Number(event.commit));
        else reject(ticket, new ChordalError(event.code, 0, event.detail));
    }

    // ---- the end ----

    close(error: ChordalError): void {
        for (const ticket of this.tickets.values()) reject(ticket, error);
        for (const call of this.calls.values()) call.cancel();
        this.tickets.clear();
        this.calls.clear();
        this.objects.clear();
    }
}
