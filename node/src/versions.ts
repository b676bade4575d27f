// What this library is.

import type { Flat } from "./flat.js";

/** All versions; "" for what is not linked. */
export interface Versions {
    chordal: string;
    abi: number;
    protocol: number;
    store: number;
    sqlite: string;
    zlib: string;
}

export function versionsOf(flat: Flat): Versions {
    return JSON.parse(flat.versions()) as Versions;
}
