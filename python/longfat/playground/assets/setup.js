// One set-up: its controls and its text, a run of it, and what that shows.

import { Animation, SPEEDS } from "./animation.js";
import { Controls } from "./controls.js";
import { h, swatch } from "./dom.js";
import { valueOf } from "./edit.js";
import { Editor } from "./editor.js";
import { KINDS, LiveChart, highest } from "./live.js";
import { count, plain, time, timeText } from "./quantities.js";
import { charted, figures, moving, parties, table } from "./results.js";

const LONG_S = 40; // a run that may take longer than this begins when asked
const WASM_TIMES = 2.2; // as long as natively
const MOST_MEMORY = 1.5e9; // of a page
const QUICK_S = 0.05; // a speed that is measured in less than this says nothing
const MOST_ROWS = 20_000;
const MOST_NUMBERS = 400_000;

export class Setup {
    constructor(app, key, text) {
        this.app = app;
        this.key = key;
        this.engine = app.newEngine();
        this.text = text;
        this.version = 0;
        this.cancel = null;
        this.outline = null;
        this.charts = new Map();
        this.hidden = new Set();
        this.build();
        this.controls = new Controls(app.catalogue, (changed) => this.take(changed, this.editor));
        this.controls.onlink = () => this.showMotion();
        this.editor = new Editor((changed) => this.take(changed, this.controls));
        this.side.append(this.controls.element, this.scenario(this.editor.element));
        this.animation = new Animation(this.film, app.clock, (at) => app.frame.point(this.key, at));
        this.editor.text = text;
        this.schedule();
    }

    build() {
        this.title = h("h2", {}, `Set-up ${this.key}`);
        this.status = h("p", { class: "status", role: "status" });
        this.percent = h("span", { class: "percent" });
        this.bar = h("progress", { max: 1, value: 0, "aria-label": "Progress of the run" });
        this.stop = h("button", { type: "button", onclick: () => this.giveUp() }, "Cancel");
        this.anyway = h("button", { type: "button", onclick: () => this.start(true) }, "Run it");
        this.running = h("div", { class: "running" }, this.percent, this.bar, this.stop, this.anyway);
        this.side = h("div", { class: "side" });
        this.film = h(
            "figure",
            { class: "film empty" },
            h("canvas", { role: "img", "aria-label": "Packets on the link, as they were in the run" }),
            h(
                "figcaption",
                {},
                h("button", { type: "button", class: "play", "aria-pressed": "false" }, "Play"),
                h("select", { "aria-label": "Speed of the animation" }, ...SPEEDS.map(({ name, title }) => h("option", { title }, name))),
                h("span", { class: "words" }),
            ),
        );
        this.legend = h("ul", { class: "legend" });
        this.plots = h("div", { class: "plots" });
        this.numbers = h("dl", { class: "numbers" });
        this.rows = h("div", { class: "table" });
        this.results = h("div", { class: "results" }, this.film, this.legend, this.plots, this.numbers, this.rows);
        this.element = h(
            "section",
            { class: "setup", "data-key": this.key, "aria-label": `Set-up ${this.key}` },
            h("header", {}, this.title, this.status, this.running),
            h("div", { class: "sheet-and-results" }, this.side, this.results),
        );
    }

    scenario(editor) {
        const copy = h("button", { type: "button", onclick: () => this.app.copy(copy, this.text) }, "Copy the file");
        return h("details", { class: "scenario" }, h("summary", {}, "Scenario file"), editor, h("div", { class: "row end" }, copy));
    }

    remove() {
        this.giveUp();
        this.animation.remove();
        for (const chart of this.charts.values()) chart.remove();
        this.app.frame.forget(this.key);
        this.app.release(this.engine);
        this.element.remove();
    }

    // A new text, from the controls or the editor; the other one follows.
    take(text, other) {
        this.text = text;
        if (other === this.editor) this.editor.text = text;
        this.app.changed();
        this.schedule();
    }

    // Another scenario altogether.
    load(text) {
        this.hidden.clear();
        this.controls.say("");
        this.take(text, this.editor);
    }

    schedule() {
        if (this.scheduled) return;
        this.scheduled = true;
        requestAnimationFrame(() => {
            this.scheduled = false;
            this.start(false);
        });
    }

    async start(anyway) {
        const version = ++this.version;
        this.latest = null;
        this.stopRun();
        let answer;
        try {
            answer = await this.engine.read({ text: this.text, origin: "scenario" });
        } catch (error) {
            return version === this.version && this.failed(error.message);
        }
        if (version !== this.version) return;
        if (answer.error) return this.refused(answer.error);
        this.editor.tell([]);
        this.outline = answer.scenario;
        this.controls.show(this.text, this.outline);
        const names = parties(this.outline);
        this.controls.colour(this.outline.flows.map((_, group) => names.find((party) => party.group === group)));
        const { estimate } = this.outline;
        const takes = estimate.seconds * (this.engine.native ? 1 : WASM_TIMES);
        if (!this.engine.native && estimate.memory_bytes > MOST_MEMORY) {
            const words = `Not run: it would need some ${plain(estimate.memory_bytes / 1e9)} GB of memory, most of it for ${estimate.largest}, more than a page has. "longfat explore" has all of this machine's.`;
            return this.rest(words);
        }
        if (takes > LONG_S && !anyway) {
            const words = `Some ${count(estimate.packets)} packets: about ${duration(takes)} here.`;
            return this.rest(words, true);
        }
        this.run(version);
    }

    run(version) {
        this.sample = this.spacing();
        const overrides = this.sample === null ? [] : [`sample="${timeText(this.sample)}"`];
        this.sample ??= this.outline.sample_s;
        this.element.classList.add("busy");
        this.element.classList.remove("stale");
        this.bar.value = 0;
        this.percent.textContent = "";
        this.running.dataset.state = "waiting";
        this.late = setTimeout(() => (this.running.dataset.state = "running"), 250);
        const mine = (work) => (...told) => version === this.version && work(...told);
        const request = { text: this.text, origin: "scenario", overrides };
        this.cancel = this.engine.run(request, {
            refused: mine((answer) => this.refused(answer.error)),
            failed: mine((message) => this.failed(message)),
            series: mine((progress, frame) => {
                this.bar.value = progress;
                this.percent.textContent = `${Math.floor(100 * progress)} %`;
                this.showSoon(frame.tables);
            }),
            done: mine((frame, seconds) => this.finished(frame, seconds)),
        });
    }

    // Rows as close as packets on the screen ask for: an eighth of a round trip, if that is not too many. `null`: as the
    // file says. The spacing of rows changes nothing else.
    spacing() {
        if (valueOf(this.text, { top: true }, "sample") !== null) return null;
        const { duration_s: end, flows, links } = this.outline;
        const trip = Math.min(...flows.map(({ rtt_s: trips }) => trips.least));
        if (!Number.isFinite(trip)) return null;
        const width = flows.reduce((sum, { count: many }) => sum + many, 2 * links.length);
        const most = Math.max(Math.min(MOST_ROWS, MOST_NUMBERS / width), 500);
        const least = Math.max(trip / 8, end / most, 1e-9);
        const power = 10 ** Math.floor(Math.log10(least));
        const nice = [1, 2, 5, 10].find((factor) => factor * power >= least * 0.9999) * power;
        return nice < this.outline.sample_s ? Number(nice.toPrecision(1)) : null;
    }

    stopRun() {
        this.cancel?.();
        this.cancel = null;
        clearTimeout(this.late);
        this.running.dataset.state = "";
        this.element.classList.remove("busy");
    }

    giveUp() {
        this.version++;
        if (!this.cancel) return;
        this.stopRun();
        this.status.textContent = "Cancelled: this is how far it came.";
    }

    rest(words, asks = false) {
        this.status.textContent = words;
        this.running.dataset.state = asks ? "asking" : "";
        this.element.classList.add("stale");
    }

    refused({ message, diagnostics }) {
        this.stopRun();
        this.editor.tell(diagnostics, message);
        const [first] = diagnostics;
        const where = first?.line ? `line ${first.line}: ` : "";
        this.rest(`Not run: ${where}${first?.message ?? message}`);
        const details = this.side.querySelector("details.scenario");
        if (!details.contains(document.activeElement)) this.controls.say(first ? `${first.message}${first.help ? `: ${first.help}` : ""}` : message);
        details.open = true;
    }

    failed(message) {
        this.stopRun();
        this.rest(message);
    }

    finished(frame, seconds) {
        this.stopRun();
        this.show(frame.tables);
        this.showNumbers(frame.summary);
        const packets = frame.summary.engine.data_packets;
        const speed = seconds > QUICK_S ? `: ${count(packets / seconds)}\u00a0packets/s` : "";
        this.status.textContent = `${count(packets)} packets in ${time(seconds)}${speed}, ${this.engine.name}`;
        this.element.dataset.runs = String(Number(this.element.dataset.runs ?? 0) + 1);
        this.summary = frame.summary;
    }

    // Of pictures that come faster than they can be drawn, only the latest is.
    showSoon(tables) {
        const waiting = this.latest;
        this.latest = tables;
        if (waiting) return;
        requestAnimationFrame(() => {
            if (this.latest && this.cancel) this.show(this.latest);
            this.latest = null;
        });
    }

    // Charts and packets of what there is so far.
    show(tables) {
        this.latest = null;
        this.tables = tables;
        const lines = charted(this.outline, tables);
        const trips = this.outline.flows.concat(this.outline.traffic).map((group) => group.rtt_s.greatest);
        const seen = tables.flow_series.columns.rtt_s.reduce((most, each) => (each > most ? each : most), 0);
        this.trip = Math.max(this.sample, seen, ...trips);
        this.showLegend(lines);
        const highs = {};
        for (const [kind, some] of Object.entries(lines)) {
            highs[kind] = highest(kind, some, this.sample, this.trip);
        }
        this.app.frame.tell(this.key, this.outline.duration_s, highs);
        for (const kind of Object.keys(KINDS)) {
            if (lines[kind]) this.chart(kind).set(this.visible(lines[kind]), this.sample, this.trip);
            else if (this.charts.has(kind)) {
                this.charts.get(kind).remove();
                this.charts.delete(kind);
            }
        }
        this.showMotion();
    }

    visible(lines) {
        return lines.map((line) => ({ ...line, show: !this.hidden.has(line.button) }));
    }

    chart(kind) {
        if (!this.charts.has(kind)) {
            const { title, note } = KINDS[kind];
            const plot = h("div", { class: "plot", tabindex: "0", role: "group", "aria-roledescription": "chart" });
            plot.setAttribute("aria-label", `${title}: arrow keys read values, plus and minus zoom, 0 shows all, Enter moves the animation here`);
            const figure = h(
                "figure",
                { class: "live-chart", "data-kind": kind },
                h("figcaption", {}, h("b", {}, title), h("span", { class: "note" }, note ?? ""), h("span", { class: "reading" })),
                plot,
            );
            const after = Object.keys(KINDS).slice(Object.keys(KINDS).indexOf(kind) + 1).map((each) => this.charts.get(each)?.holder).find(Boolean);
            this.plots.insertBefore(figure, after ?? null);
            const chart = new LiveChart(figure, kind, this.key, this.app.frame);
            chart.onpoint = (at) => this.app.clock.go(at);
            this.charts.set(kind, chart);
        }
        const chart = this.charts.get(kind);
        chart.warmup = this.outline.warmup_s;
        return chart;
    }

    showLegend(lines) {
        const named = lines.throughput ?? [];
        const links = lines.queue.length > 1 ? lines.queue : [];
        const wanted = JSON.stringify([named, links].map((some) => some.map(({ name, colour }) => [name, colour])));
        if (wanted === this.legendShown) return;
        this.legendShown = wanted;
        const item = (line, what) => {
            const button = h(
                "button",
                {
                    type: "button",
                    "aria-pressed": String(!this.hidden.has(line.button)),
                    onclick: () => {
                        const show = this.hidden.delete(line.button);
                        if (!show) this.hidden.add(line.button);
                        button.setAttribute("aria-pressed", String(show));
                        for (const chart of this.charts.values()) chart.show(line.button, show);
                    },
                },
                swatch(line.colour, line.dashed),
                what ? `${line.name} (link)` : line.name,
            );
            return h("li", {}, button);
        };
        this.legend.replaceChildren(...named.map((line) => item(line, false)), ...links.map((line) => item(line, true)));
    }

    showMotion() {
        if (!this.tables) return;
        const motion = moving(this.outline, this.tables, this.controls.link, this.sample);
        this.animation.set(motion);
        this.app.agree();
    }

    // What a dot stands for, which is the same in both set-ups.
    explain() {
        const { motion } = this.animation;
        if (!motion) return;
        const dot = motion.each === 1 ? "Each dot is one packet" : `Each dot stands for ${count(motion.each)} packets`;
        this.animation.describe(`${dot}, as delivered and queued in this run, known every ${time(this.sample)}.`);
    }

    showNumbers(summary) {
        this.numbers.replaceChildren(
            ...figures(this.outline, summary).map(([name, value, meaning]) => h("div", { title: meaning }, h("dt", {}, name), h("dd", {}, value))),
        );
        const { head, rows, short } = table(this.outline, summary);
        const cell = (each, i) => h("td", { class: i === 0 ? "word" : "number" }, each);
        const body = [...rows, ...short].map(({ name, colour, dashed, cells }) =>
            h("tr", {}, h("th", { scope: "row" }, colour === undefined ? null : swatch(colour, dashed), name), ...cells.map(cell)),
        );
        this.rows.replaceChildren(
            h(
                "table",
                {},
                h("thead", {}, h("tr", {}, ...head.map((each, i) => h("th", { scope: "col", class: i > 1 ? "number" : "word" }, each)))),
                h("tbody", {}, ...body),
            ),
        );
        this.rows.tabIndex = 0;
        this.rows.setAttribute("role", "region");
        this.rows.setAttribute("aria-label", "Averages of the flows");
    }
}

function duration(seconds) {
    if (seconds < 100) return `${Math.round(seconds)}\u00a0s`;
    return seconds < 6000 ? `${Math.round(seconds / 60)}\u00a0minutes` : `${plain(seconds / 3600)}\u00a0hours`;
}

