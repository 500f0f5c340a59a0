// Results as bytes: a head in JSON, then columns. The crate `longfat-session` says what they look like.

const LENGTH = 4;
const ALIGNMENT = 8;

// `{summary, tables: {name: {rows, columns: {name: numbers}, words: {name: texts}}}}`; columns are typed arrays.
export function decodeFrame(buffer) {
    const length = new DataView(buffer).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, LENGTH, length)));
    let at = LENGTH + length;
    const tables = {};
    for (const { name, rows, columns } of head.tables) {
        const table = { rows, columns: {}, words: {} };
        for (const column of columns) {
            const Kind = column.kind === "word" ? Uint32Array : Float64Array;
            table.columns[column.name] = new Kind(buffer, at, rows);
            if (column.words) table.words[column.name] = column.words;
            at += Math.ceil((rows * Kind.BYTES_PER_ELEMENT) / ALIGNMENT) * ALIGNMENT;
        }
        tables[name] = table;
    }
    return { summary: head.summary ?? null, tables };
}
