// What a provider and a holder of the interop square do, in Node and in a tab (README.md). `chordal` is the package.

const ADDS = 100;
const SAYS = 200;
const TOKENS = ["lorem ", "ipsum ", "n\u00e9 ", "\u6f22\u5b57 ", "\ud83d", "\ude00 ", '"quoted\\ ', "\n"];

function squareType({ type, MethodError }) {
    return type("square", {
        version: 1,
        params: ["name"],
        documents: { log: { entries: [], text: "" } },
        derives: { count: { from: ["log"], compute: ({ log }) => log.entries.length } },
        methods: {
            add(call, text) {
                let id;
                call.transaction((t) => {
                    id = t.log.entries.length + 1;
                    t.log.entries.push({ id, text });
                });
                return id;
            },
            say(call, token) {
                call.transaction((t) => (t.log.text += token));
                return null;
            },
            fail(call, name, message) {
                throw new MethodError(name, message);
            },
            digest: (call) => call.object.host.digest(call.object.log),
        },
    });
}

/** Offer the type at an address, until the program ends; fulfilled when the link is up. */
export async function provide(chordal, address) {
    const host = new chordal.Host({ types: [squareType(chordal)] });
    await host.connect(address, { offer: true }).up;
}

async function failure(call) {
    try {
        await call;
    } catch (error) {
        return error.message === "no room" ? error.name : `${error.name}: ${error.message}`;
    }
    return "";
}

/** Work on an object, and report. */
export async function hold(chordal, address, name) {
    const host = chordal.connect(address);
    const square = host.get("square", { name });
    let frames = 0;
    square.log.watch(() => frames++);
    square.count.watch(() => frames++);
    await square.live;
    let calls = 0;
    for (let i = 0; i < ADDS; i++, calls++) {
        const id = await square.add(`entry ${i} \u00e9\u2713`);
        if (id !== i + 1) throw new Error(`add answered ${id}, not ${i + 1}`);
    }
    const says = Array.from({ length: SAYS }, (_, i) => square.say(TOKENS[i % TOKENS.length]));
    calls += (await Promise.all(says)).length;
    const failed = await failure(square.fail("full", "no room"));
    const provider = await square.digest();
    const { bytes_in, bytes_out } = host.counters();
    const report = {
        calls: calls + 1,
        frames,
        bytes: Number(bytes_in + bytes_out),
        count: square.count.value,
        failed,
        digest: host.digest(square.log.value),
        provider,
    };
    await host.close();
    return report;
}
