// The scenario as text: what is wrong in it is underlined where it is, and told below with a way to get there. A text area
// holds the text, so a keyboard, a phone and a screen reader can do with it what they do elsewhere; a copy behind it
// carries the colours and the marks.

import { h, unique } from "./dom.js";

const MOST_PROBLEMS = 5;
const MOST_LINES = 20_000; // that have colours; an address of a kilobyte can unfold to a million

export class Editor {
    constructor(onchange) {
        const id = unique("problems");
        this.area = h("textarea", {
            spellcheck: "false",
            autocapitalize: "off",
            autocomplete: "off",
            wrap: "off",
            rows: 22,
            "aria-label": "Scenario file",
            "aria-describedby": id,
            oninput: () => {
                this.paint();
                onchange(this.area.value);
            },
            onscroll: () => this.follow(),
        });
        this.back = h("pre", { "aria-hidden": "true" });
        this.problems = h("ol", { id, class: "problems", role: "status" });
        this.element = h("div", { class: "editor" }, h("div", { class: "sheet" }, this.back, this.area), this.problems);
        this.diagnostics = [];
    }

    get text() {
        return this.area.value;
    }

    set text(text) {
        if (this.area.value === text) return;
        this.area.value = text;
        this.paint();
    }

    follow() {
        this.back.scrollTop = this.area.scrollTop;
        this.back.scrollLeft = this.area.scrollLeft;
    }

    // What the engine says is wrong; nothing is an empty list.
    tell(diagnostics, message = "") {
        this.diagnostics = diagnostics;
        const shown = diagnostics.slice(0, MOST_PROBLEMS).map(({ message: what, help, line, column, length }) => {
            const place =
                line === null
                    ? null
                    : h("button", { type: "button", class: "place", onclick: () => this.go(line, column, length) }, `line ${line}`);
            return h("li", {}, place, h("span", {}, sentence(what)), help ? h("span", { class: "help" }, sentence(help)) : null);
        });
        if (diagnostics.length === 0 && message) shown.push(h("li", {}, h("span", {}, message)));
        if (diagnostics.length > MOST_PROBLEMS) shown.push(h("li", {}, `${diagnostics.length - MOST_PROBLEMS} more`));
        this.problems.replaceChildren(...shown);
        this.element.classList.toggle("wrong", shown.length > 0);
        this.area.setAttribute("aria-invalid", String(shown.length > 0));
        this.paint();
    }

    go(line, column, length) {
        const lines = this.area.value.split("\n");
        const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
        const start = before + units(lines[line - 1] ?? "", column - 1);
        this.area.focus();
        this.area.setSelectionRange(start, start + units((lines[line - 1] ?? "").slice(start - before), length));
        const height = this.area.scrollHeight / Math.max(lines.length, 1);
        this.area.scrollTop = Math.max((line - 5) * height, 0);
        this.follow();
    }

    paint() {
        const wrong = new Map();
        for (const { line, column, length, override } of this.diagnostics) {
            if (line !== null && override === null && !wrong.has(line)) wrong.set(line, [column, length]);
        }
        const lines = this.area.value.split("\n");
        const painted = lines.slice(0, MOST_LINES).map((line, i) => {
            const place = wrong.get(i + 1);
            return h("span", { class: place ? "line at-fault" : "line" }, ...(place ? marked(line, ...place) : coloured(line)), "\n");
        });
        this.back.replaceChildren(...painted, lines.slice(MOST_LINES).join("\n"));
        this.follow();
    }
}

function sentence(words) {
    return words.charAt(0).toUpperCase() + words.slice(1) + (/[.!?]$/.test(words) ? "" : ".");
}

// Places count characters; texts of the page count 16-bit units.
function units(line, characters) {
    return [...line].slice(0, characters).join("").length;
}

function marked(line, column, length) {
    const start = units(line, column - 1);
    const end = Math.max(start + units(line.slice(start), length), Math.min(start + 1, line.length));
    return [line.slice(0, start), h("mark", {}, line.slice(start, end) || " "), line.slice(end)];
}

function coloured(line) {
    if (/^\s*#/.test(line)) return [h("i", {}, line)];
    if (/^\s*\[/.test(line)) return [h("b", {}, line)];
    const comment = /^((?:[^"'#]|"[^"]*"|'[^']*')*)(#.*)$/.exec(line);
    return comment ? [comment[1], h("i", {}, comment[2])] : [line];
}
