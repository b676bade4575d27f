// Processes that a host starts, and the one that it was started by: a socket to each, inherited.

import { spawn } from "node:child_process";
import { fstatSync } from "node:fs";
import { Socket } from "node:net";

import { inheritedPipe, spawnedPipe } from "./ipc.js";
import type { Transport, TransportEvents } from "./link.js";
import type { Exited, Process } from "./platform.js";
import { ChordalError, E_STATE } from "./records.js";

const PARENT = "CHORDAL_PARENT"; // names the descriptor that a worker inherits
const SOCKET = 3; // its number in workers that are started here

/** Start a process; told later when it is gone, or what kept it from starting. */
export function startProcess(
    command: string,
    args: readonly string[],
    options: { env?: Record<string, string | undefined>; cwd?: string },
    exited: Exited,
): Process {
    const env = { ...(options.env ?? process.env), [PARENT]: String(SOCKET) };
    const stdio = ["ignore", "inherit", "inherit", "pipe"] as const;
    const child = spawn(command, [...args], { cwd: options.cwd, env, stdio: [...stdio] });
    let isGone = false;
    const once = (code?: number, signal?: string, error?: Error) => {
        if (isGone) return;
        isGone = true;
        exited(code, signal, error);
    };
    child.on("exit", (code, signal) => once(code ?? undefined, signal ?? undefined));
    child.on("error", (error) => child.pid === undefined && once(undefined, undefined, error));
    return {
        pid: child.pid,
        kill: (signal) => void child.kill(signal),
        carry(events, limit) {
            const socket = child.stdio?.[SOCKET] as Socket | undefined;
            if (socket === undefined) throw new Error(`${command} could not be started`); // no sockets are left
            return spawnedPipe(socket, events, limit);
        },
    };
}

/** The socket of the host that started this process. Once. */
export function parentPipe(): (events: TransportEvents, limit: number) => Transport {
    const text = process.env[PARENT] ?? "";
    let isSocket = false;
    try {
        isSocket = /^\d{1,6}$/.test(text) && fstatSync(Number(text)).isSocket();
    } catch {
        // no such descriptor
    }
    if (!isSocket) throw new ChordalError(E_STATE, 0, "no host started this process, or the link with it was taken");
    delete process.env[PARENT];
    const socket = new Socket({ fd: Number(text), readable: true, writable: true, allowHalfOpen: true });
    return (events, limit) => inheritedPipe(socket, events, limit);
}
