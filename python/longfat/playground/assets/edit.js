// Changing one value of a scenario file and nothing else of it: comments, order and spacing stay.
//
// A place is `{top: true}`, `{link: name}`, `{flow: index}` or `{traffic: index}`. What is found is what usual files look
// like: a table for each link, `[[flow]]` for each group, a key to a line. A file can say the same in other ways; a change
// is then `null`, or what comes of it is refused by the engine, and it is for the caller to see whether it has had its way.

const HEADER = /^\s*(\[\[?)([^[\]]+)\]\]?\s*(?:#.*)?$/;

function names(path) {
    return path.split(".").map((part) => part.trim().replace(/^(["'])(.*)\1$/, "$2"));
}

// How far brackets are open after a line, outside of texts and comments; and where a comment begins.
function scan(line, depth = 0) {
    let quote = "";
    for (let i = 0; i < line.length; i++) {
        const letter = line[i];
        if (quote) {
            if (letter === "\\" && quote === '"') i++;
            else if (letter === quote) quote = "";
        } else if (letter === '"' || letter === "'") quote = letter;
        else if (letter === "#") return { depth, comment: i };
        else if (letter === "[" || letter === "{") depth++;
        else if (letter === "]" || letter === "}") depth--;
    }
    return { depth, comment: line.length };
}

// The tables of a file in order: what they are called, and their lines from the header on.
function tables(lines) {
    const found = [{ header: null, list: false, begin: 0, keys: [] }];
    for (let i = 0; i < lines.length; i++) {
        const header = HEADER.exec(lines[i]);
        if (header) {
            found.push({ header: names(header[2]), list: header[1] === "[[", begin: i + 1, keys: [] });
            continue;
        }
        const key = /^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=\s*/.exec(lines[i]);
        if (!key) continue;
        const first = i;
        let { depth } = scan(lines[i].slice(key[0].length));
        while (depth > 0 && i + 1 < lines.length) ({ depth } = scan(lines[++i], depth));
        found[found.length - 1].keys.push({ name: names(key[1]).join("."), value: key[0].length, first, last: i });
    }
    found.forEach((table, i) => (table.end = i + 1 < found.length ? found[i + 1].begin - 1 : lines.length));
    return found;
}

function find(all, place) {
    if (place.top) return all[0];
    if (place.link !== undefined) {
        return all.find(
            ({ header, list }) => header && !list && header.length === 2 && header[0] === "link" && header[1] === place.link,
        );
    }
    const kind = place.flow === undefined ? "traffic" : "flow";
    const groups = all.filter(({ header, list }) => header && list && header.length === 1 && header[0] === kind);
    return groups[place[kind]];
}

// What a key is set to, as it is written; `null` where it is not.
export function valueOf(text, place, key) {
    const lines = text.split("\n");
    const entry = find(tables(lines), place)?.keys.find(({ name }) => name === key);
    if (!entry) return null;
    const written = lines.slice(entry.first, entry.last + 1);
    written[0] = written[0].slice(entry.value);
    return written.map((line) => line.slice(0, scan(line).comment)).join("\n").trim();
}

// The text with a key set to a value, which is written as TOML; `null` if there is no such table.
export function withValue(text, place, key, value) {
    const lines = text.split("\n");
    const table = find(tables(lines), place);
    if (!table) return null;
    const entry = table.keys.find(({ name }) => name === key);
    if (entry) {
        const rest = lines[entry.last];
        const start = entry.first === entry.last ? entry.value : 0;
        const comment = rest.slice(start + scan(rest.slice(start), entry.first === entry.last ? 0 : 1).comment);
        const padding = comment ? /\s*$/.exec(rest.slice(0, rest.length - comment.length))[0] || " " : "";
        const line = lines[entry.first].slice(0, entry.value) + value + padding + comment;
        lines.splice(entry.first, entry.last - entry.first + 1, line);
    } else {
        const last = table.keys[table.keys.length - 1];
        lines.splice(last ? last.last + 1 : table.begin, 0, `${key} = ${value}`);
    }
    return lines.join("\n");
}

// The text without a key; the same if there is none.
export function withoutValue(text, place, key) {
    const lines = text.split("\n");
    const entry = find(tables(lines), place)?.keys.find(({ name }) => name === key);
    if (entry) lines.splice(entry.first, entry.last - entry.first + 1);
    return lines.join("\n");
}

// How many groups of flows are written as `[[flow]]`.
export function flowCount(text) {
    return tables(text.split("\n")).filter(({ header, list }) => list && header.join() === "flow").length;
}

// The text with another group of flows at its end of them: as the last one is, but for its name and controller.
export function withFlow(text, name, control) {
    const lines = text.split("\n");
    const groups = tables(lines).filter(({ header, list }) => list && header.join() === "flow");
    const model = groups[groups.length - 1];
    if (!model) return null;
    const copy = ["", "[[flow]]"];
    for (const { name: key, first, last } of model.keys) {
        if (key === "name") copy.push(`name = ${JSON.stringify(name)}`);
        else if (key === "control") copy.push(`control = ${JSON.stringify(control)}`);
        else copy.push(...lines.slice(first, last + 1));
    }
    const last = model.keys[model.keys.length - 1];
    lines.splice(last ? last.last + 1 : model.begin, 0, ...copy);
    return lines.join("\n");
}

// The text without a group of flows, and without the tables that belong to it.
export function withoutFlow(text, index) {
    const lines = text.split("\n");
    const all = tables(lines);
    const model = find(all, { flow: index });
    if (!model) return null;
    let at = all.indexOf(model) + 1;
    while (at < all.length && all[at].header[0] === "flow" && all[at].header.length > 1) at++;
    const end = at < all.length ? all[at].begin - 1 : lines.length;
    lines.splice(model.begin - 1, end - model.begin + 1);
    return lines.join("\n").replace(/\n{3,}/g, "\n\n").replace(/\n+$/, "\n");
}

// A text as TOML writes it.
export function quoted(text) {
    return JSON.stringify(text);
}
