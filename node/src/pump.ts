// The pump: takes turns of the core soon after something was done to it, and when a deadline has come.

import { completeEvent, type Core } from "./core.js";
import { platform } from "./platform.js";
import {
    ChordalError,
    EVENT_COMPUTE,
    EVENT_OBJECT,
    EventBuffer,
    NEVER,
    OBJECT_MADE,
    type HostEvent,
} from "./records.js";

const POLLS = 32; // of one turn, before others have theirs
const TURNS = 64; // without a pause in which timers and sockets have theirs
const BUFFER_SIZE = 16384;
const AGAIN = 100; // milliseconds
const LONGEST_WAIT = 2 ** 31 - 1; // of setTimeout

const soon = Promise.resolve(); // a microtask by `then` costs less than one by queueMicrotask

interface Polled {
    buffer: EventBuffer;
    events: HostEvent[];
    next: number;
}

/** What is rethrown outside of any turn, as an uncaught exception of the program's. */
export function rethrow(error: unknown): void {
    queueMicrotask(() => {
        throw error;
    });
}

/** A derive to compute, or an object that it may belong to. */
function isUrgent(event: HostEvent): boolean {
    return event.kind === EVENT_COMPUTE || (event.kind === EVENT_OBJECT && event.state === OBJECT_MADE);
}

export class Pump {
    private queue: Polled[] = []; // events that wait, the buffers that they are views of
    private buffers: EventBuffer[] = [];
    private afters: (() => void)[] = [];
    private scheduled = false;
    private inTurn = false;
    private stirred = false; // something was done to the host since it was polled last
    private timing = false;
    private stopped = false;
    private turns = 0;
    private timer: ReturnType<typeof setTimeout> | undefined;
    private due = NEVER;

    constructor(
        private core: Core,
        private handle: (event: HostEvent) => void,
        private polled: (event: HostEvent) => void,
        private report: (error: unknown, where: string) => void,
    ) {}

    /** Something was done to the host: take a turn soon. */
    wake(): void {
        this.stirred = true;
        if (this.scheduled || this.inTurn || this.stopped) return;
        this.scheduled = true;
        if (++this.turns < TURNS) return void soon.then(this.run);
        this.turns = 0;
        platform().later(this.run);
    }

    /** Do a step when the events polled so far are handled. */
    after(step: () => void): void {
        this.afters.push(step);
        this.wake();
    }

    private run = (): void => {
        this.scheduled = false;
        if (this.stopped) return;
        this.inTurn = true;
        try {
            this.turn();
        } catch (error) {
            this.stumble(error);
        }
        this.inTurn = false;
        if (this.stirred) this.wake();
    };

    /** The core refused a turn, for want of memory: try again after a while. */
    private stumble(error: unknown): void {
        this.report(error, "the host");
        if (this.stopped) return;
        clearTimeout(this.timer);
        this.timer = setTimeout(this.onTimer, AGAIN);
        this.due = NEVER;
    }

    private turn(): void {
        let polls = 0;
        while (!this.stopped && polls < POLLS) {
            this.doAfters();
            if (this.stopped) break;
            if (this.queue.length === 0 && !this.poll()) break;
            polls++;
            this.handleQueue();
        }
        if (polls === POLLS || this.afters.length > 0) this.stirred = true;
        this.setTimer();
    }

    private handleQueue(): void {
        for (let polled = this.queue[0]; polled !== undefined && !this.stopped; polled = this.queue[0]) {
            const event = polled.events[polled.next++];
            if (event !== undefined) {
                this.handleOne(event);
            } else {
                this.queue.shift();
                this.buffers.push(polled.buffer);
            }
        }
    }

    private handleOne(event: HostEvent): void {
        try {
            this.handle(event);
        } catch (error) {
            if (error instanceof ChordalError) this.report(error, "the host");
            else rethrow(error);
        }
    }

    private doAfters(): void {
        for (let step = this.afters.shift(); step !== undefined; step = this.afters.shift()) {
            try {
                step();
            } catch (error) {
                rethrow(error);
            }
            if (this.stopped) return;
        }
    }

    /** Bring the next events into the queue; false when there are none. */
    private poll(): boolean {
        const { core } = this;
        this.stirred = false;
        const buffer = this.buffers.pop() ?? new EventBuffer(BUFFER_SIZE);
        let length = core.flat.host_poll(core.host, core.now(), buffer.bytes);
        while (length > buffer.bytes.length) {
            buffer.grow(length);
            length = core.flat.host_poll(core.host, core.now(), buffer.bytes);
        }
        if (length === 0) {
            this.buffers.push(buffer);
            return false;
        }
        const events = buffer.read(length);
        for (const event of events) {
            completeEvent(core, event);
            this.polled(event);
        }
        this.queue.push({ buffer, events, next: 0 });
        return true;
    }

    /**
     * Answer the derives that a commit asks for, so that they can be read at once: at most so many rounds. All other
     * events wait for the turn.
     */
    settle(rounds: number): void {
        for (let i = 0; i < this.queue.length; i++) this.compute(this.queue[i]!);
        for (; rounds > 0 && !this.stopped && this.poll(); rounds--) {
            if (!this.compute(this.queue[this.queue.length - 1]!)) break;
        }
        this.wake();
    }

    /** Handle what derives need out of their turn; whether there was any. */
    private compute(polled: Polled): boolean {
        const waiting = polled.events.slice(polled.next);
        const urgent = waiting.filter(isUrgent);
        if (urgent.length === 0) return false;
        polled.events = waiting.filter((event) => !isUrgent(event));
        polled.next = 0;
        for (const event of urgent) this.handleOne(event);
        return urgent.some((event) => event.kind === EVENT_COMPUTE);
    }

    /** Look at the deadline when all that is to be done at once is done: the turns of one go share the look. */
    private setTimer(): void {
        if (this.timing || this.stopped) return;
        this.timing = true;
        platform().later(this.time);
    }

    private time = (): void => {
        const { core } = this;
        this.timing = false;
        if (this.scheduled || this.stopped) return;
        const due = core.flat.host_deadline(core.host);
        if (due === this.due && this.timer !== undefined) return;
        clearTimeout(this.timer);
        this.timer = undefined;
        this.due = due;
        if (due === NEVER) return;
        const wait = Math.min(Math.max(due - performance.now(), 0), LONGEST_WAIT);
        this.timer = setTimeout(this.onTimer, Math.ceil(wait));
    };

    private onTimer = (): void => {
        this.timer = undefined;
        this.turns = 0;
        if (!this.scheduled) this.run();
    };

    /** No more turns. */
    stop(): void {
        this.stopped = true;
        clearTimeout(this.timer);
        this.queue = [];
        this.afters = [];
    }
}
