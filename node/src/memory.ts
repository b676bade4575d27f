// The memory link: two hosts of one thread, without a transport between them.

import { checkFunction, checkNames, type Names } from "./check.js";
import type { Host } from "./host.js";
import { Link, type Authenticate, type Credentials, type LinkOwner } from "./link.js";
import { ChordalError, CODEC_BINARY, E_INVALID, LINK_CLOSED, type LinkEvent } from "./records.js";

/** One end; the other one is there as long as they are linked. */
export class MemoryLink extends Link {
    private other: MemoryLink | undefined;

    constructor(
        owner: LinkOwner,
        /** Makes the other end, for a link that connects. */
        private readonly accept: (() => MemoryLink | undefined) | undefined,
    ) {
        super(owner, "memory:", undefined);
    }

    override onState(event: LinkEvent): void {
        if (event.state === LINK_CLOSED) this.flush();
        super.onState(event);
    }

    protected override hasTransport(): boolean {
        return false;
    }

    protected override get connects(): boolean {
        return this.accept !== undefined;
    }

    protected override begin(): void {
        this.show(() => this.join());
    }

    private join(): void {
        const other = this.accept?.();
        if (other === undefined) return this.gone();
        this.other = other;
        other.other = this;
        for (const { owner, id } of [this, other]) {
            owner.core.flat.link_up(owner.core.host, id, CODEC_BINARY, owner.core.now());
        }
        this.flush();
    }

    protected override flush(): void {
        const { other } = this;
        const { core, pump } = this.owner;
        if (other === undefined || core.closed || other.owner.core.closed) return;
        try {
            core.flat.link_carry(core.host, this.id, other.owner.core.host, other.id, core.now());
        } catch (error) {
            if (!(error instanceof ChordalError)) throw error;
            this.cut();
        }
        pump.wake();
        other.owner.pump.wake();
    }

    /** The two are linked no longer. */
    private cut(): void {
        const { other } = this;
        this.other = undefined;
        if (other === undefined) return;
        other.other = undefined;
        other.gone();
    }

    protected override gone(): void {
        const { core, pump } = this.owner;
        if (this.id === 0 || core.closed) return;
        core.flat.link_down(core.host, this.id, core.now());
        if (this.accept === undefined) this.forget();
        pump.wake();
    }

    protected override forget(): void {
        this.cut();
        super.forget();
    }

    override abandon(reason: ChordalError): void {
        this.cut();
        super.abandon(reason);
    }
}

/** What the two sides of a memory link do with each other's types. */
export interface PairOptions {
    /** The first host offers its types to the other, for others to reach through it. */
    offer?: boolean;
    /** The first host reaches through the other what that offers. */
    routeOffers?: boolean;
    /** What the first host shows to the other, as for `connect`. */
    credentials?: Credentials;
    /** How the other host lets it in, as for `listen`. */
    authenticate?: Authenticate;
    /** The other host believes what the first says about the authority of the sessions that it passes on. */
    trusted?: boolean;
}

const NAMES: Names<PairOptions> = {
    offer: true,
    routeOffers: true,
    credentials: true,
    authenticate: true,
    trusted: true,
};

/**
 * Link two hosts of this thread, as if the first had connected to the second. The promise gives the first one's link
 * when both are open.
 */
export async function pair(host: Host, provider: Host, options: PairOptions = {}): Promise<Link> {
    checkNames("pair", options, NAMES);
    if (options.authenticate !== undefined) checkFunction("authenticate", options.authenticate);
    await Promise.all([host.ready, provider.ready]);
    if (host.core.flat !== provider.core.flat) throw new ChordalError(E_INVALID, 0, "the hosts have different cores");
    return host.linkTo(provider, options);
}
