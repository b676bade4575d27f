// The drift of README.md in Node and in a tab. `chordal` is the package.

const IMPATIENT = { backoff_first: 200, backoff_limit: 2000, ping_interval: 400, ping_timeout: 600 };
/** A worker that hears nothing of its parent ends, and the next one has no memory: not to be for a late ping. */
export const PATIENT = { backoff_first: 20, backoff_limit: 100 };
const EAGER = { ...IMPATIENT, ...PATIENT };
const WORKERS = 3;
const PAUSE = 10; // milliseconds, between two calls
const TICK = 5;

const sleep = (span) => new Promise((resolve) => setTimeout(resolve, span));

export function driftType({ type }, isSilent) {
    const tickers = new Map();
    const logged = async (method, text) => {
        console.log(`${method} ${text}`);
        if (isSilent && text.startsWith("late")) await new Promise(() => {});
    };
    const tick = (object) => {
        if (object.flow.done) return;
        object.transaction((t) => (t.flow.text += `${++t.flow.tick};`));
        tickers.set(object, setTimeout(tick, TICK, object));
    };
    return type("drift", {
        version: 1,
        params: ["name"],
        documents: { flow: { tick: 0, text: "0;", runs: [], marks: {}, done: false } },
        derives: { twice: { from: ["flow"], compute: ({ flow }) => flow.tick * 2 } },
        idempotent: ["mark"],
        methods: {
            async push(call, text) {
                await logged("push", text);
                call.transaction((t) => t.flow.runs.push(text));
                return call.object.flow.runs.length;
            },
            async mark(call, text) {
                await logged("mark", text);
                call.transaction((t) => (t.flow.marks[text] = true));
                return null;
            },
            finish(call) {
                call.transaction((t) => (t.flow.done = true));
                return null;
            },
            fill: (call, size) => "x".repeat(size),
            digest: (call) => call.object.host.digest(call.object.flow),
        },
        start: tick,
        retired: (object) => clearTimeout(tickers.get(object)),
    });
}

/** Offer the type at an address, or listen there, until the program ends. */
export async function provide(chordal, job, address, isSilent) {
    const host = new chordal.Host({ types: [driftType(chordal, isSilent)], ...EAGER });
    if (job === "listen") {
        for (const each of address.split(",")) {
            const server = await host.listen(each);
            console.log(`listening ${server.address}`);
        }
    } else {
        await host.connect(address, { offer: true }).up;
        console.log("ready");
    }
}

class Follower {
    counts = { frames: 0, snapshots: 0, back: 0, torn: 0, outcomes: {} };
    commit = 0;
    tick = 0;

    constructor(drift, name) {
        this.drift = drift;
        this.name = name;
        drift.flow.watch((frame) => this.see(frame));
    }

    see({ value: { tick, text }, commit, snapshot }) {
        const { counts } = this;
        counts.frames++;
        if (snapshot) counts.snapshots++;
        else if (commit <= this.commit || tick < this.tick) counts.back++;
        if (tick > 0 && !text.endsWith(`;${tick};`)) counts.torn++;
        this.commit = commit;
        this.tick = tick;
    }

    async call(method, text) {
        let outcome = "ok";
        await this.drift[method](text).catch((error) => (outcome = error.name));
        this.counts.outcomes[`${method} ${text}`] = outcome;
    }

    async work(worker) {
        for (let number = 0; !this.drift.flow.value.done; number++) {
            await this.call(number % 3 === 2 ? "mark" : "push", `${this.name}-${worker}-${number}`);
            await sleep(PAUSE);
        }
    }

    async run() {
        await this.drift.live;
        console.log("live");
        const late = ["push", "mark"].map((method) => this.call(method, `late-${this.name}`));
        await Promise.all([...late, ...Array.from({ length: WORKERS }, (_, worker) => this.work(worker))]);
    }
}

/** Follow an object, call it all the time, and tell what was counted. `options`: of the host and its link. */
export async function follow(chordal, address, name, options = {}) {
    const host = chordal.connect(address, { ...IMPATIENT, ...options });
    const drift = host.get("drift", { name });
    const follower = new Follower(drift, name);
    await follower.run();
    const provider = await drift.digest();
    const report = {
        ...follower.counts,
        digest: host.digest(drift.flow.value),
        provider,
        tick: drift.flow.value.tick,
        twice: drift.twice.value,
        reconnects: Number(host.counters().reconnects),
    };
    await host.close();
    console.log(JSON.stringify(report));
}
