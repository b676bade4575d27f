/** Bytes, a WebAssembly.Module, a Response or a promise of one, a URL. Their types are not everywhere. */
export type WasmSource = object | string;

export interface LoadOptions {
    /** Fill with random bytes; default: crypto.getRandomValues. */
    entropy?: (out: Uint8Array) => void;
}

/**
 * Instantiate the core: from bytes, a module, a response or a URL; without a source, from dist/chordal.wasm beside this
 * file. `Flat` is the type of the flat layer, as node/src/flat.ts has it.
 */
export function load<Flat>(source?: WasmSource, options?: LoadOptions): Promise<Flat>;
