// The same as large.py in JavaScript, in Node: large.mjs provide | hold ADDRESS CODEC | say ADDRESS

import { createCipheriv } from "node:crypto";
import * as chordal from "../../node/dist/node.js";

const DEFLATE_ALWAYS = 1;
const SIZE = 1 << 20;
const TEXT = "some words and a note, é✓ ".repeat(SIZE / 16).slice(0, SIZE);
const PATTERN = Uint8Array.from({ length: SIZE }, (_, i) => i % 251);
const NOISE = createCipheriv("aes-128-ctr", Buffer.alloc(16), Buffer.alloc(16)).update(new Uint8Array(SIZE));

const Large = chordal.type("large", {
    version: 1,
    params: [],
    documents: { text: "" },
    methods: {
        put(call, text) {
            call.transaction((t) => (t.text = text));
            return null;
        },
        echo: (call, data) => data,
    },
});

function report(host, same) {
    const { deflates, inflates, bytes_in, bytes_out } = host.counters();
    const numbers = { deflates, inflates, bytes_in, bytes_out };
    for (const name in numbers) numbers[name] = Number(numbers[name]);
    console.log(JSON.stringify({ same, ...numbers }));
}

const same = (a, b) => Buffer.compare(a, b) === 0;

const roles = {
    async provide() {
        const host = new chordal.Host({ types: [Large] });
        console.log((await host.listen("ws://127.0.0.1:0")).address);
    },
    async hold(address, codec) {
        const host = chordal.connect(address, { codec, deflate: DEFLATE_ALWAYS });
        const large = host.get("large");
        await large.live;
        await large.put(TEXT);
        let good = large.text.value === TEXT;
        for (const data of [PATTERN, NOISE]) good &&= same(await large.echo(data), data);
        report(host, good);
        await host.close();
    },
    async say(address) {
        const host = chordal.connect(address, { deflate: DEFLATE_ALWAYS });
        const square = host.get("square", { name: "large" });
        await square.live;
        await square.say(TEXT);
        const log = square.log.value;
        report(host, log.text === TEXT && (await square.digest()) === host.digest(log));
        await host.close();
    },
};

await roles[process.argv[2]](...process.argv.slice(3));
