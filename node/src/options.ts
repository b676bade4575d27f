// What a host is opened with.

import { checkFunction, checkNames, choose, invalid, shown, type Names } from "./check.js";
import type { HostOptions as Limits } from "./flat.js";
import { checkType, type Type } from "./object.js";
import { platform } from "./platform.js";
import {
    ChordalError,
    DURABILITY_FULL,
    DURABILITY_NORMAL,
    DURABILITY_OFF,
    E_INVALID,
    E_UNSUPPORTED,
    STORE_OUTBOX,
    STORE_READ_ONLY,
} from "./records.js";

/** What a host is opened with: limits of the core by name (bytes, counts, milliseconds; docs/api.md), and these. */
export interface HostOptions extends Omit<Limits, "store_durability" | "store_flags" | "store_vfs"> {
    /** Types to provide. */
    types?: readonly Type<any, any, any, any>[];
    /** Whether types with a `placement` are placed; else they are provided, as in workers. Default true. */
    placed?: boolean;
    /**
     * The host's lasting name, a UUID or 16 bytes that no other host has: sessions find the way through it, and to it,
     * again after a restart.
     */
    name?: string | Uint8Array;
    /**
     * The path of the host's store, a SQLite file that is made when there is none: the documents of its objects are in
     * it, and a commit is in it before anyone sees it. Not in browsers (UNSUPPORTED). Throws ChordalError OWNED
     * (another host has it), NEWER, NOT_STORE, CORRUPT, READ_ONLY, NOT_FOUND, DISK_FULL, DISK_IO.
     */
    store?: string;
    /** What a commit survives once anyone sees it: the death of the process, a power cut too, neither for sure. */
    durability?: "normal" | "full" | "off";
    /**
     * Read the store beside its owner: each object, a live query too, is what it was when it was made here, and is not
     * changed by what the owner commits.
     */
    readOnly?: boolean;
    /** Keep what each commit wrote for others to follow. */
    outbox?: boolean;
    /** Freeze all values, so that changing one throws. Default: when NODE_ENV is not "production". */
    freeze?: boolean;
    /**
     * Told of what methods, derives and `start` throw besides MethodErrors, and of trouble that nobody asked for, such
     * as a memory limit that is reached. Default: console.error.
     */
    onError?: (error: unknown, where: string) => void;
}

const NAMES: Names<HostOptions> = {
    types: true,
    placed: true,
    name: true,
    store: true,
    durability: true,
    readOnly: true,
    outbox: true,
    freeze: true,
    onError: true,
    flags: true,
    memory_limit: true,
    depth_limit: true,
    message_limit: true,
    call_limit: true,
    window_messages: true,
    window_bytes: true,
    parked_limit: true,
    queue_limit: true,
    dictionary_limit: true,
    compute_timeout: true,
    handshake_timeout: true,
    ping_interval: true,
    ping_timeout: true,
    backoff_first: true,
    backoff_limit: true,
    session_lapse: true,
    stall_timeout: true,
    outcome_limit: true,
    lost_limit: true,
    name_high: true,
    name_low: true,
    resolve_timeout: true,
    window_messages_limit: true,
    window_bytes_limit: true,
    turn_messages: true,
    turn_bytes: true,
    guard_timeout: true,
    deflate: true,
    dial_timeout: true,
};

/** Refuse what is misspelt, before the core is there. */
export function checkHost(options: HostOptions): void {
    checkNames("a host", options, NAMES);
    const { types = [], durability = "normal", onError } = options;
    if (!Array.isArray(types)) throw invalid(`types is an array of types, not ${shown(types)}`);
    types.forEach(checkType);
    choose("durability", durability, DURABILITY);
    checkOfStore(options);
    if (onError !== undefined) checkFunction("onError", onError);
}

function checkOfStore(options: HostOptions): void {
    const { store, durability, readOnly, outbox } = options;
    if (store !== undefined) return;
    if (readOnly || outbox || (durability !== undefined && durability !== "normal")) {
        throw invalid("durability, readOnly and outbox are for a store: { store }, its path");
    }
}

const DURABILITY = { normal: DURABILITY_NORMAL, full: DURABILITY_FULL, off: DURABILITY_OFF };

/** What the core takes of a host's options. */
export function coreOptions(options: HostOptions): Limits {
    const { types: _types, placed: _placed, freeze: _freeze, onError: _onError, name, store, ...rest } = options;
    const { durability = "normal", readOnly = false, outbox = false, ...limits } = rest;
    const named = name === undefined ? {} : halvesOf(name);
    if (store === undefined) return { ...limits, ...named };
    if (!platform().stores) throw new ChordalError(E_UNSUPPORTED, 0, "a browser has no store");
    const level = choose("durability", durability, DURABILITY);
    const flags = (readOnly ? STORE_READ_ONLY : 0) | (outbox ? STORE_OUTBOX : 0);
    return { ...limits, ...named, store, store_durability: level, store_flags: flags };
}

/** A lasting name as the core takes it. */
function halvesOf(name: string | Uint8Array): Limits {
    const digits = typeof name === "string" ? name.replaceAll("-", "") : hexOf(name);
    if (!/^[0-9a-f]{32}$/i.test(digits) || /^0+$/.test(digits)) {
        throw new ChordalError(E_INVALID, 0, `${name} is no name of a host: a UUID or 16 bytes`);
    }
    return { name_high: BigInt(`0x${digits.slice(0, 16)}`), name_low: BigInt(`0x${digits.slice(16)}`) };
}

export function hexOf(bytes: Uint8Array): string {
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
