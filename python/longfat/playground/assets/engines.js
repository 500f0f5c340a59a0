// Three engines that do the same: WebAssembly in a worker, a server on this machine, and the kernel of a notebook. Each has
//
//     catalogue()                 what a scenario can choose from
//     read(request)               what a scenario says in numbers, or what is wrong with it
//     run(request, listener)      simulates; a function that gives up is returned
//
// where a listener has `refused(answer)`, `series(progress, frame)`, `done(frame, seconds)` and `failed(message)`. Of an
// engine only the last run counts: it is given up when another one begins.

import { decodeFrame } from "./frame.js";

// An engine at the other end of a worker or a port, which gets `{kind, run, request}` and answers with `{kind, run, …}`.
class PostedEngine {
    constructor(end) {
        this.asked = 0;
        this.waiting = new Map();
        this.listener = null;
        this.end = end;
        end.onmessage = ({ data }) => this.hear(data);
    }

    hear({ kind, run, answer, progress, seconds, message, buffer }) {
        const waiting = this.waiting.get(run);
        if (waiting) {
            this.waiting.delete(run);
            if (kind === "failed") waiting.reject(new Error(message));
            else waiting.resolve(JSON.parse(answer));
            return;
        }
        const { listener } = this;
        if (!listener || listener.number !== run) return; // nobody waits for it any more
        if (kind === "series") return listener.series(progress, decodeFrame(buffer));
        this.listener = null;
        if (kind === "refused") listener.refused(JSON.parse(answer));
        else if (kind === "done") listener.done(decodeFrame(buffer), seconds);
        else listener.failed(message);
    }

    fail(message) {
        for (const { reject } of this.waiting.values()) reject(new Error(message));
        this.waiting.clear();
        const { listener } = this;
        this.listener = null;
        if (listener) listener.failed(message);
    }

    ask(kind, request) {
        const run = ++this.asked;
        return new Promise((resolve, reject) => {
            this.waiting.set(run, { resolve, reject });
            this.end.postMessage({ kind, run, request });
        });
    }

    catalogue() {
        return this.ask("catalogue");
    }

    read(request) {
        return this.ask("read", request);
    }

    run(request, listener) {
        const number = ++this.asked;
        this.listener = { ...listener, number };
        this.end.postMessage({ kind: "run", run: number, request });
        return () => {
            if (!this.listener || this.listener.number !== number) return;
            this.listener = null;
            this.end.postMessage({ kind: "stop" });
        };
    }
}

export class WorkerEngine extends PostedEngine {
    constructor(source, bytes) {
        const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
        const worker = new Worker(address);
        URL.revokeObjectURL(address);
        worker.postMessage({ kind: "load", bytes });
        super(worker);
        worker.onerror = (event) => this.fail(event.message || "the worker could not be started");
        this.name = "WebAssembly";
        this.native = false;
    }
}

// The kernel of the notebook that the page is in, by a port.
export class KernelEngine extends PostedEngine {
    constructor(port) {
        super(port);
        this.name = "native engine";
        this.native = true;
    }
}

const HEAD = 5; // of a message: its kind, and the length of what follows

export class ServerEngine {
    constructor(address) {
        this.name = "native engine";
        this.native = true;
        this.address = address;
        this.stop = () => {};
    }

    async post(what, request, signal) {
        const response = await fetch(this.address + what, {
            method: "POST",
            headers: { "Content-Type": "application/json" },
            body: JSON.stringify(request ?? {}),
            signal,
        });
        if (!response.ok) throw new Error(await response.text());
        return response;
    }

    async catalogue() {
        return (await this.post("catalogue")).json();
    }

    async read(request) {
        return (await this.post("read", request)).json();
    }

    run(request, listener) {
        this.stop();
        const abort = new AbortController();
        this.stop = () => abort.abort();
        this.follow(request, listener, abort.signal).catch((error) => {
            if (!abort.signal.aborted) listener.failed(this.gone(error));
        });
        return this.stop;
    }

    gone(error) {
        return error instanceof TypeError ? "longfat explore has ended: start it again, and load this page anew" : error.message;
    }

    async follow(request, listener, signal) {
        const stream = (await this.post("run", request, signal)).body.getReader();
        let held = new Uint8Array(0);
        const take = async (count) => {
            while (held.length < count) {
                const { done, value } = await stream.read();
                if (done) throw new TypeError("the server has gone");
                const both = new Uint8Array(held.length + value.length);
                both.set(held);
                both.set(value, held.length);
                held = both;
            }
            const taken = held.slice(0, count);
            held = held.subarray(count);
            return taken;
        };
        for (;;) {
            const head = await take(HEAD);
            const kind = String.fromCharCode(head[0]);
            const body = await take(new DataView(head.buffer).getUint32(1, true));
            if (signal.aborted) return;
            const number = () => new DataView(body.buffer).getFloat64(0, true);
            if (kind === "s") listener.series(number(), decodeFrame(body.slice(8).buffer));
            else if (kind === "d") return listener.done(decodeFrame(body.slice(8).buffer), number());
            else if (kind === "r") return listener.refused(JSON.parse(new TextDecoder().decode(body)));
            else return listener.failed(new TextDecoder().decode(body));
        }
    }
}

// The bytes of a file that was compressed and written as text.
export async function unpacked(text) {
    const raw = atob(text);
    const packed = Uint8Array.from(raw, (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).arrayBuffer();
}
