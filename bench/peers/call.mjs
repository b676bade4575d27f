// capnweb: a method called over a memory transport until its result is there; a microtask for each hop.

import { RpcSession, RpcTarget } from "capnweb";

import { print, times } from "./measure.mjs";

class Notes extends RpcTarget {
    ping() {
        return "n1";
    }
}

let bytes = 0;

/** One end of a link: what the other sends waits here. */
class Transport {
    #queue = [];
    #waiting;
    peer;

    send(message) {
        bytes += message.length;
        this.peer.arrive(message);
    }

    arrive(message) {
        const waiting = this.#waiting;
        this.#waiting = undefined;
        if (waiting) waiting(message);
        else this.#queue.push(message);
    }

    receive() {
        if (this.#queue.length) return Promise.resolve(this.#queue.shift());
        return new Promise((resolve) => (this.#waiting = resolve));
    }

    abort() {}
}

const [near, far] = [new Transport(), new Transport()];
[near.peer, far.peer] = [far, near];
new RpcSession(far, new Notes());
const notes = new RpcSession(near).getRemoteMain();
if ((await notes.ping("milk")) !== "n1") throw new Error("capnweb");
let calls = 0;
bytes = 0;
const row = await times(200, async () => {
    calls++;
    await notes.ping("milk");
});
print("call round trip, binary", "capnweb", { ...row, bytes: Math.round((bytes / calls) * 10) / 10 });
process.exit();
