import type { Flat } from "../node/src/flat.js";

export type WasmSource = BufferSource | WebAssembly.Module | Response | Promise<Response> | URL | string;

export interface LoadOptions {
    /** Fill with random bytes; default: crypto.getRandomValues. */
    entropy?: (out: Uint8Array) => void;
}

/** Instantiate the core: from bytes, a module, a response, a URL; without a source, from dist/chordal.wasm beside this. */
export function load(source?: WasmSource, options?: LoadOptions): Promise<Flat>;
