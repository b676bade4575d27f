// What a program gives by name is checked before anything is done with it: a misspelt word is told.

import { ChordalError, E_INVALID } from "./records.js";

/** The names that options of a kind may have: all of them, or the compiler says which is missing. */
export type Names<T> = Readonly<Record<keyof T, true>>;

export function invalid(words: string): ChordalError {
    return new ChordalError(E_INVALID, 0, words);
}

/** A value of whatever kind, for an error's words. */
export function shown(value: unknown): string {
    if (typeof value === "string") return JSON.stringify(value);
    if (typeof value === "function") return "a function";
    return typeof value === "object" && value !== null ? "an object" : String(value);
}

export function checkNames<T>(what: string, given: T, names: Names<T>): void {
    if (typeof given !== "object" || given === null) throw invalid(`the options of ${what} are ${shown(given)}`);
    for (const key of Object.keys(given)) if (!Object.hasOwn(names, key)) throw invalid(`${what} has no "${key}"`);
}

export function checkFunction(what: string, given: unknown): void {
    if (typeof given !== "function") throw invalid(`${what} is a function, not ${shown(given)}`);
}

/** Names in an array; a text alone is none: it would be taken letter by letter. */
export function namesOf(what: string, given: readonly string[] | undefined): string[] {
    const names: unknown = given ?? [];
    if (!Array.isArray(names)) throw invalid(`${what} is an array of names, not ${shown(given)}`);
    for (const name of names) if (typeof name !== "string") throw invalid(`${what} has names, not ${shown(name)}`);
    return [...names];
}

/** The entry for a word; others are refused, and those that there are named. */
export function choose<T>(what: string, word: unknown, choices: Readonly<Record<string, T>>): T {
    if (typeof word === "string" && Object.hasOwn(choices, word)) return choices[word]!;
    throw invalid(`${shown(word)} is no ${what}: ${Object.keys(choices).join(", ")}`);
}
