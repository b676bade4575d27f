// What can go wrong, as exceptions: every refusal is a ChordalError, and has changed nothing.

import { ChordalError, ERROR_CODES, E_CLOSED, E_COMPUTE, E_METHOD, E_TYPE } from "./records.js";

export { ChordalError };

/**
 * A method's own failure. Throw it in a method, with a short stable word for programs and a message for people: the
 * caller's call throws an equal one. Nothing else of what a method throws leaves its host.
 */
export class MethodError extends ChordalError {
    constructor(name: string, message = "") {
        super(E_METHOD, 0, message);
        this.name = name;
        this.message = message;
    }
}

/** Why a derive could not be computed: `name` is its own word or "internal". */
export class DeriveError extends ChordalError {
    constructor(name: string, message = "") {
        super(E_COMPUTE, 0, message);
        this.name = name;
    }
}

/** The error for a code of the core; a method's own has its name. */
export function errorOf(code: number, name: string, detail: string): ChordalError {
    return code === E_METHOD ? new MethodError(name, detail) : new ChordalError(code, 0, detail);
}

/** The error for a name of the error table. */
export function errorNamed(name: string, detail = ""): ChordalError {
    return new ChordalError(ERROR_CODES[name] ?? E_TYPE, 0, detail);
}

export function closedError(what: string): ChordalError {
    return new ChordalError(E_CLOSED, 0, `the ${what} is closed`);
}
