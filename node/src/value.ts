// Native values: plain, immutable, and what they may hold.

import { ChordalError, E_DEPTH, E_NUMBER, E_TYPE } from "./records.js";

/** A value as programs see it. Integers beyond ±(2^53-1) are bigints; every number is finite. */
export type Value = null | boolean | number | bigint | string | readonly Value[] | { readonly [key: string]: Value };

/** A type all the way down as an immutable value. */
export type Immutable<T> = T extends null | boolean | number | bigint | string | undefined
    ? T
    : T extends readonly (infer Element)[]
      ? readonly Immutable<Element>[]
      : T extends object
        ? { readonly [Key in keyof T]: Immutable<T[Key]> }
        : T;

export type Container = Record<string, unknown> | unknown[];

export const DEPTH_LIMIT = 512;
const LARGEST = 2 ** 53;
const I64_LEAST = -(2n ** 63n);
const U64_LARGEST = 2n ** 64n - 1n;

export function isContainer(value: unknown): value is Container {
    return typeof value === "object" && value !== null;
}

/** A new own property by any name; `__proto__` is one like the others. */
export function setKey(object: object, key: string, value: unknown): void {
    if (key === "__proto__") {
        Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
    } else {
        (object as Record<string, unknown>)[key] = value;
    }
}

export function hasKey(object: object, key: string): boolean {
    return Object.prototype.hasOwnProperty.call(object, key);
}

/** The same container once more, with the same members. */
export function copyContainer<T extends Container>(container: T): T {
    if (Array.isArray(container)) return container.slice() as T;
    const keys = Object.keys(container);
    if (keys.length > MANY) return copyMany(container, keys) as T;
    return { ...container }; // a spread copies an own __proto__ as one
}

/** Keys beyond which V8 makes room anew for each few that a copy gets, until it takes the object for a table. */
const MANY = 128;

/** Without a prototype it is a table from the start, and `__proto__` a key like others. */
function copyMany(object: Record<string, unknown>, keys: readonly string[]): object {
    const copy: Record<string, unknown> = Object.create(null);
    for (const key of keys) copy[key] = object[key];
    return Object.setPrototypeOf(copy, Object.prototype);
}

function refuse(code: number, what: string): never {
    throw new ChordalError(code, 0, what);
}

export function refuseClass(value: object): never {
    refuse(E_TYPE, `an object of class ${value.constructor?.name} is not a value`);
}

/** The one form of a number: small integers are numbers, large ones bigints. */
export function canonicalNumber(value: number | bigint): number | bigint {
    if (typeof value === "bigint") {
        if (value < I64_LEAST || value > U64_LARGEST) refuse(E_NUMBER, `${value} is beyond 64 bits`);
        const number = Number(value);
        return Number.isSafeInteger(number) ? number : value;
    }
    if (!Number.isFinite(value)) refuse(E_NUMBER, `${value} is not a number that values may hold`);
    if (value === LARGEST || value === -LARGEST) return BigInt(value);
    return value === 0 ? 0 : value;
}

/** Objects whose class means something are not silently made plain ones. */
export function isPlain(value: object): boolean {
    const prototype: unknown = Object.getPrototypeOf(value);
    return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

/**
 * A value of the program's as an immutable one of ours: copied, checked, its numbers in their one form. `resolve` gives
 * what stands behind a draft, which is taken as it is.
 */
export function copyIn(value: unknown, resolve: (value: object) => unknown, freeze: boolean, depth = 0): Value {
    switch (typeof value) {
        case "string":
        case "boolean":
            return value;
        case "number":
        case "bigint":
            return canonicalNumber(value);
        case "object":
            if (value === null) return null;
            if (depth >= DEPTH_LIMIT) refuse(E_DEPTH, "nested too deep, or a cycle");
            return copyObject(value, resolve, freeze, depth + 1);
        default:
            return refuse(E_TYPE, `${typeof value} is not a value`);
    }
}

function copyObject(value: object, resolve: (value: object) => unknown, freeze: boolean, depth: number): Value {
    const behind = resolve(value);
    if (behind !== undefined) return behind as Value;
    const copy = Array.isArray(value)
        ? copyArray(value, resolve, freeze, depth)
        : copyPlain(value, resolve, freeze, depth);
    return freeze ? Object.freeze(copy) : copy;
}

function copyArray(value: unknown[], resolve: (value: object) => unknown, freeze: boolean, depth: number): Value[] {
    const copy: Value[] = [];
    for (let i = 0; i < value.length; i++) {
        if (value[i] === undefined) refuse(E_TYPE, `element ${i} of an array is undefined or missing`);
        copy.push(copyIn(value[i], resolve, freeze, depth));
    }
    return copy;
}

function copyPlain(value: object, resolve: (value: object) => unknown, freeze: boolean, depth: number): Value {
    if (!isPlain(value)) refuseClass(value);
    const copy: Record<string, Value> = {};
    for (const key of Object.keys(value)) {
        const member = (value as Record<string, unknown>)[key];
        if (member === undefined) refuse(E_TYPE, `the member ${JSON.stringify(key)} is undefined`);
        setKey(copy, key, copyIn(member, resolve, freeze, depth));
    }
    return copy;
}

/** Freeze a value of ours that is not shared yet. */
export function freezeAll(value: unknown): void {
    if (!isContainer(value) || Object.isFrozen(value)) return;
    for (const member of Object.values(value)) freezeAll(member);
    Object.freeze(value);
}

/** `fresh`, made of parts of `old` wherever they are equal. */
export function shareEqual(old: unknown, fresh: Value): Value {
    if (old === fresh) return fresh;
    if (!isContainer(old) || !isContainer(fresh)) return fresh;
    if (Array.isArray(old) !== Array.isArray(fresh)) return fresh;
    let equal = Object.keys(old).length === Object.keys(fresh).length;
    const shared: Record<string, unknown> | unknown[] = Array.isArray(fresh) ? [] : {};
    for (const key of Object.keys(fresh)) {
        const before = hasKey(old, key) ? (old as Record<string, unknown>)[key] : undefined;
        const member = shareEqual(before, (fresh as Record<string, Value>)[key]!);
        equal &&= member === before;
        setKey(shared, key, member);
    }
    if (equal) return old as Value;
    return (Object.isFrozen(fresh) ? Object.freeze(shared) : shared) as Value;
}
