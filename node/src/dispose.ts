// The symbols of `using` and `await using`, also where the platform does not have them yet.

export const dispose: typeof Symbol.dispose = Symbol.dispose ?? (Symbol.for("Symbol.dispose") as never);
export const asyncDispose: typeof Symbol.asyncDispose =
    Symbol.asyncDispose ?? (Symbol.for("Symbol.asyncDispose") as never);
