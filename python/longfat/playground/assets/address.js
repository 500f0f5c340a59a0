// What is shown as an address: the part after `#` has the whole of every scenario, so that a link is all that somebody
// else needs. Texts are compressed where that makes them shorter.
//
//     #a=duration%20%3D…      the first set-up in plain text
//     #az=…&bz=…&t=12.5       two of them, compressed (raw DEFLATE, base64url), and where the animation stands

const KEYS = ["a", "b"];

function base64(bytes) {
    let raw = "";
    for (const byte of bytes) raw += String.fromCharCode(byte);
    return btoa(raw).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function bytes(text) {
    return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
}

async function through(data, stream) {
    return new Uint8Array(await new Response(new Blob([data]).stream().pipeThrough(stream)).arrayBuffer());
}

// The part after `#` for these texts; `extra` is a record of short texts.
export async function encoded(texts, extra = {}) {
    const parts = [];
    for (const [i, text] of texts.entries()) {
        const plain = `${KEYS[i]}=${encodeURIComponent(text)}`;
        const packed = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
        const short = `${KEYS[i]}z=${base64(packed)}`;
        parts.push(short.length < plain.length ? short : plain);
    }
    for (const [key, value] of Object.entries(extra)) parts.push(`${key}=${encodeURIComponent(value)}`);
    return parts.join("&");
}

const LONGEST = 2 ** 21; // characters of a text that an address may unfold to

async function unfolded(packed) {
    const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
    const decoder = new TextDecoder("utf-8", { fatal: true });
    let text = "";
    for (;;) {
        const { done, value } = await reader.read();
        if (done) return text + decoder.decode();
        text += decoder.decode(value, { stream: true });
        if (text.length > LONGEST) {
            await reader.cancel();
            throw new Error("the scenario in this address is too long");
        }
    }
}

// `{texts, extra}` of a part after `#`; `null` if there is none. Whatever an address says is only ever text.
export async function decoded(hash) {
    const given = {};
    for (const part of hash.replace(/^#/, "").split("&")) {
        const at = part.indexOf("=");
        if (at > 0) given[part.slice(0, at)] = part.slice(at + 1);
    }
    const texts = [];
    for (const key of KEYS) {
        if (given[`${key}z`] !== undefined) texts.push(await unfolded(bytes(given[`${key}z`])));
        else if (given[key] !== undefined) texts.push(decodeURIComponent(given[key]));
        else break;
        delete given[key];
        delete given[`${key}z`];
    }
    if (texts.length === 0) return null;
    const extra = Object.fromEntries(Object.entries(given).map(([key, value]) => [key, decodeURIComponent(value)]));
    return { texts, extra };
}
