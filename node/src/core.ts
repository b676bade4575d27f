// The core as a host uses it: the flat layer, one opened handle, a clock.

import type { Flat, HostHandle, HostOptions } from "./flat.js";
import { E_CLOSED, ChordalError, type HostEvent } from "./records.js";

export class Core {
    private readonly handle: HostHandle;
    private frame = new Uint8Array(4096);
    closed = false;

    constructor(
        readonly flat: Flat,
        options: HostOptions,
    ) {
        flat.use_error(ChordalError);
        this.handle = flat.host_open(options);
    }

    /** The handle, for a call of the flat layer. */
    get host(): HostHandle {
        if (this.closed) throw new ChordalError(E_CLOSED, 0, "the host is closed");
        return this.handle;
    }

    now(): number {
        return Math.floor(performance.now());
    }

    /** Give an id back; also after the end. */
    release(id: number): void {
        this.flat.release(this.handle, id);
    }

    close(): void {
        if (this.closed) return;
        this.closed = true;
        this.flat.host_close(this.handle);
    }

    /** Bytes that lie outside of an event, copied. */
    part(id: number): Uint8Array {
        const bytes = this.flat.part_view(this.host, id);
        this.release(id);
        return bytes;
    }

    /** The next frame of a link that waits to be sent, as bytes of its own. */
    take(link: number): { bytes: Uint8Array; frame: number } | undefined {
        let taken = this.flat.link_take(this.host, link, this.frame);
        if (taken.len > this.frame.length) {
            const bytes = new Uint8Array(taken.len);
            taken = this.flat.link_take(this.host, link, bytes);
            return { bytes, frame: taken.frame };
        }
        if (taken.len === 0 && taken.frame === 0) return undefined;
        return { bytes: this.frame.slice(0, taken.len), frame: taken.frame };
    }
}

/** Put parts that lie outside of an event into it. */
export function completeEvent(core: Core, event: HostEvent): void {
    const { members_part, ops_part, params_part, arguments_part, value_part } = event as unknown as Record<
        string,
        number
    >;
    const fields = event as unknown as Record<string, Uint8Array>;
    if (members_part) fields.members = core.part(members_part);
    if (ops_part) fields.ops = core.part(ops_part);
    if (params_part) fields.params = core.part(params_part);
    if (arguments_part) fields.arguments = core.part(arguments_part);
    if (value_part) fields.value = core.part(value_part);
}
