// Runs requests through the engine as WebAssembly, in Node.js: one JSON list on standard input, and for each request a line
// with the answer, or the length and the SHA-256 of the results and the summary in them.
//
//     node wasm_run.mjs ENGINE.wasm.gz <requests.json

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

const module = new WebAssembly.Module(gunzipSync(readFileSync(process.argv[2])));
const engine = new WebAssembly.Instance(module).exports; // without imports

function output() {
    const place = engine.longfat_output();
    return Buffer.from(new Uint8Array(engine.memory.buffer, place, engine.longfat_output_length()));
}

for (const request of JSON.parse(readFileSync(0, "utf8"))) {
    const told = Buffer.from(JSON.stringify(request));
    const place = engine.longfat_input(told.length);
    new Uint8Array(engine.memory.buffer, place, told.length).set(told);
    engine.longfat_read();
    const answer = output().toString();
    engine.longfat_start();
    // Results do not depend on how the work is divided.
    for (let events = 1000; engine.longfat_advance(events); events = 1000 + ((events * 7) % 100_000));
    engine.longfat_finish();
    const results = output();
    const head = results.subarray(4, 4 + results.readUInt32LE(0));
    const sha256 = createHash("sha256").update(results).digest("hex");
    console.log(JSON.stringify({ answer, length: results.length, sha256, summary: JSON.parse(head).summary ?? null }));
}
