// What links are made with, and listened for.

import { checkFunction, checkNames, type Names } from "./check.js";
import type { Authenticate, Credentials } from "./link.js";
import { LINK_AUTHENTICATE, LINK_NO_SERVE, LINK_OFFER, LINK_ROUTE_OFFERS, LINK_TRUSTED } from "./records.js";

/** What the peer may do over a link. */
export interface LinkOptions {
    /** Offer the types that this host provides to the peer, for others to reach through it. */
    offer?: boolean;
    /** Reach what the peer offers through it. */
    routeOffers?: boolean;
    /** Whether the peer may hold this host's objects. Default true. */
    serve?: boolean;
    /**
     * Believe what the peer says about the authority of the sessions that it passes on: in a worker, of its server. Not
     * in browsers.
     */
    trusted?: boolean;
}

export interface ConnectOptions extends LinkOptions {
    /** How messages are written: "binary", the default, or "text" (JSON; WebSocket only). */
    codec?: "binary" | "text";
    /**
     * What the peer's program is shown to let this host in: a value, or a function, async or not, that is asked for one
     * each time the link dials (see also `link.renew`). It travels in the first message, never in the address. A host
     * that refuses it closes the link for good, with a ChordalError "refused".
     */
    credentials?: Credentials;
}

export interface ListenOptions extends LinkOptions {
    /** Further origins whose pages may connect, such as "https://example.org"; "*": any. Default: the server's own. */
    origins?: string | readonly string[];
    /**
     * Asked about each peer before anything else is taken from it, with what it shows (null: nothing); may be async. It
     * answers the peer's authority, any value, which guards and methods then see, or throws: the words of a MethodError
     * or ChordalError named "refused" are told to the peer; all else is printed (or given to `onError`), and the peer
     * is refused without words. So is one that waits longer than the host's `handshake_timeout`, which may come again.
     */
    authenticate?: Authenticate;
}

export interface AttachOptions extends ListenOptions {
    /** Take only upgrades of this path. */
    path?: string;
}

const LINK: Names<LinkOptions> = { offer: true, routeOffers: true, serve: true, trusted: true };
const CONNECT: Names<ConnectOptions> = { ...LINK, codec: true, credentials: true };
const LISTEN: Names<ListenOptions> = { ...LINK, origins: true, authenticate: true };
const ATTACH: Names<AttachOptions> = { ...LISTEN, path: true };

export function checkConnect(options: ConnectOptions): void {
    checkNames("connect", options, CONNECT);
}

/** A server that was meant to ask who comes, and does not, would be open to everybody. */
export function checkListen(options: ListenOptions): void {
    checkNames("listen", options, LISTEN);
    if (options.authenticate !== undefined) checkFunction("authenticate", options.authenticate);
}

export function checkAttach(options: AttachOptions): void {
    checkNames("attach", options, ATTACH);
    if (options.authenticate !== undefined) checkFunction("authenticate", options.authenticate);
}

export function linkFlags({ offer, routeOffers, serve, trusted, authenticate }: ListenOptions): number {
    return (
        (offer ? LINK_OFFER : 0) |
        (routeOffers ? LINK_ROUTE_OFFERS : 0) |
        (serve === false ? LINK_NO_SERVE : 0) |
        (trusted ? LINK_TRUSTED : 0) |
        (authenticate !== undefined ? LINK_AUTHENTICATE : 0)
    );
}
