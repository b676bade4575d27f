/// <reference lib="esnext.disposable" preserve="true" />
// Chordal: live objects, shared between hosts. See docs/guide/javascript.md.

export { Call } from "./call.js";
export { append, truncate, type Draft } from "./draft.js";
export { ChordalError, DeriveError, MethodError } from "./errors.js";
export type { Counters } from "./flat.js";
export type { Frame } from "./frame.js";
export { connect, Host, parent, type GetOptions } from "./host.js";
export { type HostOptions } from "./options.js";
export type { Authenticate, Credentials, Link, LinkState, Server } from "./link.js";
export type { AttachOptions, ConnectOptions, LinkOptions, ListenOptions } from "./link_options.js";
export { pair, type PairOptions } from "./memory.js";
export {
    type,
    type Ask,
    type Declaration,
    type Derive,
    type MethodFunction,
    type Place,
    type Placement,
    type Shape,
    type Sources,
    type Type,
} from "./object.js";
export type { Op, Path } from "./ops.js";
export type { ProvidedObject } from "./provided.js";
export type {
    AnyMember,
    AnyReference,
    CallOptions,
    Frames,
    Members,
    Reference,
    ReferenceTo,
    Stop,
    Watchable,
} from "./reference.js";
export type { KeepValues, ReferenceState } from "./replica.js";
export type { Fault, Store, StoredDocument, Write, Written } from "./store.js";
export type {
    Column,
    ColumnType,
    Condition,
    Group,
    GroupQuery,
    Key,
    LiveBytes,
    LiveQuery,
    LiveRow,
    NewRow,
    Page,
    Row,
    RowChange,
    RowQuery,
    Table,
    TableDeclaration,
    TableDraft,
    TableFollower,
} from "./table.js";
export type { Documents, TableDrafts, Transaction } from "./transaction.js";
export type { Immutable, Value } from "./value.js";
export type { Versions } from "./versions.js";
export { useWasm, versions } from "./wasm.js";
export { Worker, type WorkerOptions, type WorkerState } from "./worker.js";
