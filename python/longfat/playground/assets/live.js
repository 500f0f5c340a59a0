// Charts that change while a run goes on. uPlot draws them; what it is given are at most two samples for each pixel and
// line, as in reports. All charts of the page share what part of the time is shown, and charts of a kind their height, so
// that two set-ups can be compared by eye.

import { RATES } from "./quantities.js";

const { view, colour, axis, digits, unitFor } = longfatCharts;

const HEIGHT = 150;
const BINS = 160;
const MEANS = 300;
const PLAIN = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
const ROUND = [1, 2, 5];

// What part of the time is shown, and how high charts are.
export class Frame {
    constructor() {
        this.range = null; // what was zoomed into
        this.end = 1;
        this.highest = new Map(); // kind → set-up → the largest value there
        this.charts = new Set();
        this.playhead = null;
    }

    shown() {
        return this.range ?? [0, this.end];
    }

    high(kind) {
        return Math.max(0, ...(this.highest.get(kind)?.values() ?? []));
    }

    // Of one set-up: how far it goes, and how high each kind of chart gets. Others follow if that changes their scales.
    tell(setup, end, highs) {
        this.ends = (this.ends ?? new Map()).set(setup, end);
        const before = [this.end, ...Object.keys(highs).map((kind) => this.high(kind))];
        this.end = Math.max(...this.ends.values());
        for (const [kind, high] of Object.entries(highs)) {
            if (!this.highest.has(kind)) this.highest.set(kind, new Map());
            this.highest.get(kind).set(setup, high);
        }
        const after = [this.end, ...Object.keys(highs).map((kind) => this.high(kind))];
        if (this.range && this.range[1] > this.end) this.range = null;
        if (before.some((value, i) => value !== after[i])) this.redraw((chart) => chart.setup !== setup);
    }

    forget(setup) {
        this.ends?.delete(setup);
        if (this.ends?.size) this.end = Math.max(...this.ends.values());
        for (const setups of this.highest.values()) setups.delete(setup);
        this.redraw(() => true);
    }

    zoom(range) {
        const [from, to] = range ?? [0, 0];
        this.range = to - from > this.end * 1e-6 ? [Math.max(from, 0), Math.min(to, this.end)] : null;
        this.redraw(() => true);
        this.onzoom?.(this.range);
    }

    redraw(which) {
        for (const chart of this.charts) if (which(chart)) chart.update();
    }

    // Moves the cursors of all charts to a time.
    read(time) {
        for (const { uplot } of this.charts) uplot?.setCursor({ left: uplot.valToPos(time, "x"), top: 10 });
    }

    // Where the animation stands, in seconds.
    point(setup, time) {
        for (const chart of this.charts) if (chart.setup === setup) chart.point(time);
    }
}

function amount(kind, value) {
    if (!Number.isFinite(value)) return "–";
    const [size, name] = unitFor(kind.units, Math.abs(value));
    return [digits(value / size) + (kind.unit ? "" : name), kind.unit ? name : ""].filter(Boolean).join("\u00a0");
}

export const KINDS = {
    throughput: { title: "Throughput", unit: "bit/s", units: RATES, means: true },
    utilisation: { title: "Utilisation", unit: "%", units: [[0.01, "%"]], means: true },
    window: { title: "Window", note: "segments", unit: "", units: PLAIN },
    queue: { title: "Queue", note: "packets", unit: "", units: PLAIN },
    dropped: { title: "Drops", note: "packets", unit: "", units: PLAIN, bars: true },
    marked: { title: "Marks", note: "packets", unit: "", units: PLAIN, bars: true },
};

// Parts of a view of equal length, so many rows each and no shorter than `least`.
function parts(from, to, sample, least, most) {
    const rough = Math.max((to - from) / most, least);
    let width = sample;
    for (let power = 1; width < rough * 0.9999; power *= 10) {
        for (const factor of ROUND) if (width < rough * 0.9999) width = sample * factor * power;
    }
    const first = Math.floor(from / width);
    return { width, first, count: Math.max(Math.ceil(to / width - 1e-9) - first, 1) };
}

// The sum of a line in each part, and how many rows it has there. A row is the end of its interval.
function summed(line, { width, first, count }) {
    const sums = new Float64Array(count);
    const rows = new Uint32Array(count);
    for (let i = 0; i < line.x.length; i++) {
        const part = Math.ceil(line.x[i] / width - 1e-6) - 1 - first;
        if (part < 0 || part >= count || !Number.isFinite(line.y[i])) continue;
        sums[part] += line.y[i];
        rows[part] += 1;
    }
    return { sums, rows };
}

// A bar for each part of the view: sums, since a drop that is not counted would be gone.
function bars(lines, from, to, sample) {
    const view = parts(from, to, sample, sample, BINS);
    const x = Array.from({ length: view.count }, (_, i) => (view.first + i + 0.5) * view.width);
    const data = lines.map((line) => Array.from(summed(line, view).sums, (sum) => (sum > 0 ? sum : null)));
    return { data: [x, ...data], width: view.width };
}

// What is delivered in a row depends on where a window happens to be cut; over a round trip and more it does not.
function means(lines, from, to, sample, trip) {
    const view = parts(from, to, sample, trip, MEANS);
    const x = Array.from({ length: view.count }, (_, i) => (view.first + i + 0.5) * view.width);
    const data = lines.map((line) => {
        const { sums, rows } = summed(line, view);
        return Array.from(sums, (sum, i) => (rows[i] > 0 ? sum / rows[i] : null));
    });
    return { data: [x, ...data], width: view.width };
}

// How high a chart of this kind gets with these lines, all of the time shown.
export function highest(kind, lines, sample, trip) {
    const most = (values) => values.reduce((a, b) => (b > a && b < Infinity ? b : a), 0);
    if (KINDS[kind].bars) return 0; // each has a height of its own
    const end = lines.reduce((last, { x }) => Math.max(last, x[x.length - 1] ?? 0), 0);
    if (KINDS[kind].means && end > 0) return Math.max(0, ...means(lines, 0, end, sample, trip).data.slice(1).map(most));
    return Math.max(0, ...lines.map(({ y }) => most(y)));
}

export class LiveChart {
    // `holder` is a figure with a caption; `setup` whom it belongs to.
    constructor(holder, kind, setup, frame) {
        this.holder = holder;
        this.kind = kind;
        this.look = KINDS[kind];
        this.setup = setup;
        this.frame = frame;
        this.lines = [];
        this.made = "";
        this.plot = holder.querySelector(".plot");
        this.reading = holder.querySelector(".reading");
        this.note = holder.querySelector(".note");
        this.uplot = null;
        frame.charts.add(this);
        this.observer = new ResizeObserver(() => this.resize());
        this.observer.observe(this.plot);
        this.plot.addEventListener("keydown", (event) => this.key(event));
    }

    remove() {
        this.frame.charts.delete(this);
        this.observer.disconnect();
        this.uplot?.destroy();
        this.holder.remove();
    }

    // `lines` have a name, a colour, and samples `x`, `y`; `sample` is the spacing of these, `trip` a round trip.
    set(lines, sample, trip) {
        this.lines = lines;
        this.sample = sample;
        this.trip = trip;
        const wanted = JSON.stringify(lines.map(({ name, colour, dashed, faint }) => [name, colour, dashed, faint]));
        if (wanted !== this.made) {
            this.uplot?.destroy();
            this.uplot = null;
        }
        this.made = wanted;
        this.update();
    }

    show(name, show) {
        this.lines.forEach((line, i) => {
            if (line.button === name && this.uplot) this.uplot.setSeries(i + 1, { show });
        });
    }

    columns() {
        const [from, to] = this.frame.shown();
        if (this.look.bars) {
            const { data, width } = bars(this.lines, from, to, this.sample);
            this.note.textContent = `packets in each ${timeWord(width)}`;
            return data;
        }
        if (this.look.means) {
            const { data, width } = means(this.lines, from, to, this.sample, this.trip);
            this.over = width > this.sample * 1.5 ? `, means over ${timeWord(width)}` : "";
            return data;
        }
        if (this.lines.some(({ x }) => x.length > 0) && this.lines.every(({ y }) => !y.some(Number.isFinite))) this.note.textContent = "there is none";
        if (this.lines.every(({ x }) => x.length === 0)) return [[from, to], ...this.lines.map(() => [null, null])];
        return view(this.lines, from, to, this.width());
    }

    width() {
        return Math.max(Math.floor(this.plot.clientWidth), 120);
    }

    update() {
        if (this.lines.length === 0 || this.plot.clientWidth === 0) return;
        if (!this.uplot) this.draw();
        else this.uplot.setData(this.columns(), true);
    }

    redrawn() {
        this.uplot?.redraw(true, true);
    }

    draw() {
        const { look } = this;
        this.uplot = new uPlot(
            {
                width: this.width(),
                height: HEIGHT,
                legend: { show: false },
                scales: {
                    x: { time: false, range: () => this.frame.shown() },
                    y: { range: (u, _, high) => [0, this.height(high)] },
                },
                axes: [
                    axis({ size: 26, space: 64, values: (_, splits) => splits.map((each, i) => `${Number(each.toPrecision(10))}${i === splits.length - 1 ? " s" : ""}`) }),
                    axis({ size: 46, space: 34, values: (_, splits) => this.labels(splits) }),
                ],
                series: [{}, ...this.lines.map((line) => this.series(line))],
                cursor: {
                    y: false,
                    points: { show: !look.bars, size: 6 },
                    drag: { x: true, y: false, setScale: false, dist: 5 },
                    sync: {
                        key: "playground",
                        setSeries: false,
                        scales: ["x", null],
                        filters: { pub: (kind) => kind === "mousemove" || kind === "mouseleave" },
                    },
                    bind: { dblclick: () => () => this.frame.zoom(null) },
                },
                hooks: {
                    setCursor: [(u) => this.read(u)],
                    setSelect: [(u) => this.selected(u)],
                    drawClear: [(u) => this.shade(u)],
                    ready: [
                        (u) => {
                            this.mark = document.createElement("div");
                            this.mark.className = "playhead";
                            this.mark.hidden = true;
                            u.over.append(this.mark);
                            u.over.addEventListener("click", (event) => {
                                if (u.cursor.left >= 0 && event.detail < 2 && !this.dragged) this.onpoint?.(u.posToVal(u.cursor.left, "x"));
                                this.dragged = false;
                            });
                        },
                    ],
                },
            },
            this.columns(),
            this.plot,
        );
        this.point(this.pointed);
    }

    // Of bars the height is that of what is shown; of lines that of all set-ups.
    height(high) {
        const largest = this.look.bars || this.frame.range ? (high ?? 0) : this.frame.high(this.kind);
        return Math.max(largest, high ?? 0) * 1.06 || 1;
    }

    series(line) {
        const stroke = () => colour(`--line-${line.colour}`);
        if (this.look.bars) {
            return { stroke, fill: stroke, width: 0, paths: uPlot.paths.bars({ size: [0.86, 40] }), points: { show: false } };
        }
        return {
            stroke,
            pxAlign: 0,
            width: line.faint ? 1 : 1.5,
            alpha: line.faint ? 0.4 : 1,
            dash: line.dashed ? [7, 4] : undefined,
            points: { show: false },
            show: line.show ?? true,
        };
    }

    labels(splits) {
        const { units, unit } = this.look;
        const [size, name] = unitFor(units, Math.max(...splits.map(Math.abs)));
        if (unit) this.note.textContent = (unit === "%" ? "" : name) + (this.over ?? "").replace(/^, /, unit === "%" ? "" : ", ");
        const after = unit === "%" ? "%" : unit ? "" : name;
        return splits.map((each) => `${Number((each / size).toPrecision(6))}${each ? after : ""}`);
    }

    shade(u) {
        if (!this.warmup) return;
        const { left, top, width, height } = u.bbox;
        const end = Math.min(u.valToPos(this.warmup, "x", true), left + width);
        if (end <= left) return;
        u.ctx.fillStyle = colour("--shade");
        u.ctx.fillRect(left, top, end - left, height);
    }

    read(u) {
        const { left } = u.cursor;
        if (!(left >= 0) || this.lines.length === 0) {
            this.reading.textContent = "";
            return;
        }
        const at = u.posToVal(left, "x");
        const parts = [document.createTextNode(`${Number(at.toPrecision(4))} s`)];
        const shown = this.lines.filter(({ faint }) => !faint);
        for (const [i, line] of shown.entries()) {
            if (i === 6) {
                parts.push(document.createTextNode(" …"));
                break;
            }
            const drawn = u.data[this.lines.indexOf(line) + 1][u.cursor.idx];
            const value = this.look.bars ? (drawn ?? 0) : this.look.means ? (drawn ?? NaN) : valueAt(line, at);
            const word = document.createElement("b");
            word.style.color = colour(`--line-${line.colour}`);
            word.textContent = amount(this.look, value);
            parts.push(document.createTextNode("  "), word);
        }
        this.reading.replaceChildren(...parts);
    }

    selected(u) {
        const { left, width } = u.select;
        if (width < 4) return;
        this.dragged = true;
        const range = [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        this.frame.zoom(range);
    }

    point(time) {
        this.pointed = time;
        if (!this.mark || !this.uplot) return;
        const at = time === undefined || time === null ? -1 : this.uplot.valToPos(time, "x");
        this.mark.hidden = !(at >= 0 && at <= this.uplot.over.clientWidth);
        if (!this.mark.hidden) this.mark.style.transform = `translateX(${at}px)`;
    }

    resize() {
        if (this.plot.clientWidth === 0) return;
        if (!this.uplot) return this.update();
        if (this.width() === this.uplot.width) return;
        this.uplot.setSize({ width: this.width(), height: HEIGHT });
        this.update();
    }

    key(event) {
        const [from, to] = this.frame.shown();
        const span = to - from;
        const u = this.uplot;
        if (!u) return;
        const width = u.over.clientWidth;
        const at = u.cursor.left >= 0 ? u.cursor.left : width / 2;
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        const middle = u.posToVal(at, "x");
        if (step && event.shiftKey) {
            const by = Math.min(Math.max((step * span) / 4, -from), this.frame.end - to);
            this.frame.zoom([from + by, to + by]);
        } else if (step) {
            this.frame.read(u.posToVal(Math.min(Math.max(at + (step * width) / 100, 0), width - 1), "x"));
        } else if (event.key === "+" || event.key === "=") {
            this.frame.zoom([middle - (middle - from) / 2, middle + (to - middle) / 2]);
        } else if (event.key === "-") {
            this.frame.zoom([middle - (middle - from) * 2, middle + (to - middle) * 2]);
        } else if (event.key === "0") this.frame.zoom(null);
        else if (event.key === "Enter") this.onpoint?.(middle);
        else return;
        event.preventDefault();
    }
}

function timeWord(seconds) {
    const [size, name] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]].find(([unit]) => seconds >= unit * 0.999) ?? [1e-12, "ps"];
    return `${Number((seconds / size).toPrecision(3))}\u00a0${name}`;
}

function valueAt({ x, y }, time) {
    let low = 0;
    let high = x.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (x[middle] < time) low = middle + 1;
        else high = middle;
    }
    return low < y.length ? y[low] : NaN;
}
