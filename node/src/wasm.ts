// The core as WebAssembly: loaded once, for all hosts.

import type { Flat } from "./flat.js";
import { platform } from "./platform.js";
import { ChordalError, E_STATE } from "./records.js";
import { versionsOf, type Versions } from "./versions.js";
import { load, type WasmSource } from "../../wasm/load.js";

let source: WasmSource | undefined;
let wanted = false;
let loading: Promise<Flat> | undefined;
let loaded: Flat | undefined;

/**
 * Use the WebAssembly core in hosts opened from now on, in Node, too. In browsers it is used anyway; `from` says where
 * it lies if not beside this package: a URL, a response, a module or its bytes.
 */
export function useWasm(from?: WasmSource): void {
    source = from;
    wanted = true;
    loading = loaded = undefined;
}

/** @internal Whether the program asked for it. */
export function wasmWanted(): boolean {
    return wanted;
}

/** @internal The core; a failed attempt is made again the next time. */
export function loadWasm(usual?: () => WasmSource | Promise<WasmSource>): Flat | Promise<Flat> {
    if (loaded !== undefined) return loaded;
    if (loading !== undefined) return loading;
    const random = (bytes: Uint8Array) => void platform().random(bytes);
    const attempt: Promise<Flat> = Promise.resolve(source ?? usual?.())
        .then((from) => load<Flat>(from as WasmSource | undefined, { entropy: random }))
        .then((flat) => (loading === attempt ? (loaded = flat) : flat));
    loading = attempt;
    attempt.catch(() => loading === attempt && (loading = undefined));
    return attempt;
}

/** The versions of this library and what it carries. In a browser only after a host is ready. */
export function versions(): Versions {
    const flat = platform().load();
    if (flat instanceof Promise) throw new ChordalError(E_STATE, 0, "the core is not loaded yet: await host.ready");
    return versionsOf(flat);
}
