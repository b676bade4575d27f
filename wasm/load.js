// Loads chordal.wasm, in browsers and in Node, and gives the flat layer. Nothing happens when this module is imported.

import { Core } from "./core.js";
import { makeFlat } from "./flat.js";

const PIECE = 65536; // the most that crypto.getRandomValues fills at once

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** A double that is no integer, or one beyond 2^53, which has an exponent so that it stays a double. */
function textOf(real) {
    const text = String(real);
    return (text.includes(".") ? text : real.toExponential()).replace("+", "");
}

function systemEntropy(out) {
    for (let at = 0; at < out.length; at += PIECE) {
        const piece = new Uint8Array(Math.min(PIECE, out.length - at));
        globalThis.crypto.getRandomValues(piece);
        out.set(piece, at);
    }
}

/**
 * Instantiate the core. `source`: bytes, a WebAssembly.Module, a Response (or a promise of one), or a URL to fetch;
 * without one, chordal.wasm beside this file. `entropy` fills a Uint8Array with random bytes.
 */
export async function load(source = new URL("./dist/chordal.wasm", import.meta.url), { entropy = systemEntropy } = {}) {
    let instance;
    const bytes = (at, length) => new Uint8Array(instance.exports.memory.buffer, at >>> 0, length >>> 0);
    const imports = {
        chordal: {
            entropy(at, length) {
                try {
                    entropy(bytes(at, length));
                    return 0;
                } catch {
                    return -1;
                }
            },
            read_real: (at, length) => Number(decoder.decode(bytes(at, length))),
            write_real(real, at) {
                const text = textOf(real);
                return encoder.encodeInto(text, bytes(at, text.length)).written;
            },
        },
    };
    instance = await instantiate(await source, imports);
    instance.exports._initialize?.();
    return makeFlat(new Core(instance));
}

async function instantiate(source, imports) {
    if (source instanceof WebAssembly.Module) return WebAssembly.instantiate(source, imports);
    if (source instanceof URL || typeof source === "string") return fromResponse(await request(source), imports);
    if (typeof Response === "function" && source instanceof Response) return fromResponse(source, imports);
    return (await WebAssembly.instantiate(source, imports)).instance;
}

async function request(url) {
    try {
        return await fetch(url);
    } catch (error) {
        throw new Error(`chordal.wasm could not be fetched from ${url}: ${error.message}`, { cause: error });
    }
}

/** A server may answer with a page, a redirect to one, or another content type: say which, not just that it failed. */
async function fromResponse(response, imports) {
    const { url, status } = response;
    if (!response.ok) throw new Error(`chordal.wasm: ${url} answered with status ${status}`);
    const type = (response.headers.get("content-type") ?? "").split(";")[0].trim();
    if (type === "application/wasm") return (await WebAssembly.instantiateStreaming(response, imports)).instance;
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (bytes[0] !== 0 || bytes[1] !== 0x61 || bytes[2] !== 0x73 || bytes[3] !== 0x6d) {
        throw new Error(`chordal.wasm: ${url} is not WebAssembly but ${type || "of no stated type"}`);
    }
    return (await WebAssembly.instantiate(bytes, imports)).instance;
}
