// The engine as WebAssembly, in a thread of its own. It simulates in slices of a few milliseconds and looks between them
// whether it is still wanted, so a run can be given up at any time, and a picture of what there is so far goes out a few
// times a second.
"use strict";

const SLICE_MS = 12;
const PICTURE_MS = 90;
const LARGE = 256 * 2 ** 20; // memory of an instance that is not kept for the next run

let bytes = null;
let engine = null;
let current = 0; // the run that is wanted
let working = Promise.resolve();
const turns = new MessageChannel();
let next = null;
turns.port1.onmessage = () => next();

// Lets messages in.
function turn() {
    return new Promise((resolve) => {
        next = resolve;
        turns.port2.postMessage(null);
    });
}

async function begin() {
    if (engine && engine.memory.buffer.byteLength > LARGE) engine = null;
    if (!engine) engine = (await WebAssembly.instantiate(bytes)).instance.exports;
}

function output() {
    const place = engine.longfat_output();
    return new Uint8Array(engine.memory.buffer, place, engine.longfat_output_length()).slice();
}

function text() {
    return new TextDecoder().decode(output());
}

function read(request) {
    const told = new TextEncoder().encode(JSON.stringify(request));
    const place = engine.longfat_input(told.length);
    new Uint8Array(engine.memory.buffer, place, told.length).set(told);
    engine.longfat_read();
    return text();
}

function send(message, buffer) {
    postMessage(buffer ? { ...message, buffer } : message, buffer ? [buffer] : []);
}

async function simulate(run, request) {
    const answer = read(request);
    if ("error" in JSON.parse(answer)) return send({ kind: "refused", run, answer });
    engine.longfat_start();
    let events = 10_000;
    let busy = 0;
    let shown = performance.now();
    let pause = PICTURE_MS;
    for (;;) {
        const begun = performance.now();
        const more = engine.longfat_advance(events);
        const took = performance.now() - begun;
        busy += took;
        if (!more) break;
        if (took < SLICE_MS / 2) events = Math.min(2 * events, 2 ** 30);
        else if (took > 2 * SLICE_MS) events = Math.max(Math.floor(events / 2), 100);
        await turn();
        if (run !== current) return;
        const now = performance.now();
        if (now - shown < pause) continue;
        engine.longfat_series();
        send({ kind: "series", run, progress: engine.longfat_progress() }, output().buffer);
        shown = performance.now();
        pause = Math.max(PICTURE_MS, 6 * (shown - now)); // long series are not copied all the time
    }
    engine.longfat_finish();
    send({ kind: "done", run, seconds: busy / 1000 }, output().buffer);
}

async function handle({ kind, run, request }) {
    try {
        await begin();
        if (kind === "catalogue") {
            engine.longfat_catalogue();
            send({ kind: "catalogue", run, answer: text() });
        } else if (kind === "read") {
            send({ kind: "answer", run, answer: read(request) });
        } else if (run === current) {
            await simulate(run, request);
        }
    } catch (error) {
        let said = "";
        try {
            said = engine && error instanceof WebAssembly.RuntimeError ? text() : "";
        } catch {
            // Nothing is left that could say it.
        }
        engine = null;
        send({ kind: "failed", run, message: said || String(error) });
    }
}

onmessage = ({ data }) => {
    if (data.kind === "load") bytes = data.bytes;
    else if (data.kind === "stop") current = 0;
    else {
        if (data.kind === "run") current = data.run;
        working = working.then(() => handle(data));
    }
};
