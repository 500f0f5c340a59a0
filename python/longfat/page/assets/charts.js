"use strict";
// Charts: every `figure.chart` has its data in a script element of JSON, and a drawing of it. As soon as it comes into
// view, uPlot takes the drawing's place. What is drawn are at most two samples for each pixel and line, the least and
// the largest there, chosen anew for every view: no peak is lost, and a million samples cost no more than thousands.
const longfatCharts = (() => {
    const HEIGHT = 248;
    const NARROW = 640;
    const MOST_POINTS = 4; // samples per pixel up to which all are drawn
    const FEW = 24; // samples of a line up to which each has a dot
    const ZOOM = 2;

    // Data

    function numbers(text, Kind) {
        const raw = atob(text);
        const bytes = new Uint8Array(raw.length);
        for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
        return new Kind(bytes.buffer);
    }

    function places(told) {
        if (typeof told === "string") return numbers(told, Float64Array);
        const x = new Float64Array(told.count);
        for (let i = 0; i < x.length; i++) x[i] = told.from + i * told.step;
        return x;
    }

    function decoded(element) {
        const chart = JSON.parse(element.textContent);
        const xs = chart.xs.map(places);
        for (const line of chart.lines) {
            line.x = xs[line.x];
            line.y = numbers(line.y, Float32Array);
        }
        delete chart.xs;
        return chart;
    }

    // The first sample at `value` or beyond.
    function first(x, value) {
        let low = 0;
        let high = x.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (x[middle] < value) low = middle + 1;
            else high = middle;
        }
        return low;
    }

    function nearest(x, value) {
        const i = first(x, value);
        if (i === 0) return 0;
        if (i === x.length) return i - 1;
        return value - x[i - 1] < x[i] - value ? i - 1 : i;
    }

    // What uPlot draws of a view: columns of equal length. `null` is a gap, `undefined` nothing at all.
    function view(lines, from, to, width) {
        const spans = lines.map(({ x }) => [
            Math.max(first(x, from) - 1, 0),
            Math.min(first(x, to) + 1, x.length),
        ]);
        const most = Math.max(...spans.map(([start, end]) => end - start));
        return most <= MOST_POINTS * width
            ? all(lines, spans)
            : extremes(lines, spans, from, to, Math.max(Math.floor(width), 1));
    }

    function all(lines, spans) {
        const tables = lines.map(({ x, y }, i) => {
            const [start, end] = spans[i];
            return [
                Array.from(x.subarray(start, end)),
                Array.from(y.subarray(start, end), (value) => (Number.isFinite(value) ? value : null)),
            ];
        });
        return uPlot.join(tables); // where only other lines have a sample: undefined
    }

    function extremes(lines, spans, from, to, columns) {
        const width = (to - from) / columns;
        const x = new Array(2 * columns);
        for (let k = 0; k < columns; k++) {
            x[2 * k] = from + (k + 0.25) * width;
            x[2 * k + 1] = from + (k + 0.75) * width;
        }
        const data = [x];
        lines.forEach((line, number) => {
            const drawn = new Array(2 * columns).fill(undefined);
            const [start, end] = spans[number];
            let column = -1;
            let low = -1;
            let high = -1;
            const close = () => {
                if (column < 0) return;
                if (low < 0) {
                    drawn[2 * column] = null;
                    return;
                }
                drawn[2 * column] = line.y[Math.min(low, high)];
                drawn[2 * column + 1] = line.y[Math.max(low, high)];
            };
            for (let i = start; i < end; i++) {
                const place = Math.min(Math.max(Math.floor((line.x[i] - from) / width), 0), columns - 1);
                if (place !== column) {
                    close();
                    column = place;
                    low = high = -1;
                }
                const value = line.y[i];
                if (value !== value) continue;
                if (low < 0 || value < line.y[low]) low = i;
                if (high < 0 || value > line.y[high]) high = i;
            }
            close();
            data.push(drawn);
        });
        return data;
    }

    // Numbers for people: the unit that suits the largest, as the tables have it.

    function unitFor(units, largest) {
        return units.find(([size]) => largest >= size * 0.9995) || units[units.length - 1];
    }

    function named(name, unit) {
        return [name, unit].filter(Boolean).join(" ");
    }

    function amount(chart, value) {
        if (!Number.isFinite(value)) return "–";
        const [size, name] = unitFor(chart.units, Math.abs(value));
        const plain = chart.unit in { "bit/s": 0, s: 0, "%": 0 };
        return named(digits(value / size) + (name && plain ? " " : "") + name, plain ? "" : chart.unit);
    }

    function digits(value) {
        const size = Math.abs(value);
        if (size === 0) return "0";
        if (size < 1e-3) return value.toExponential(2);
        return String(Number(value.toPrecision(size >= 100 ? Math.max(4, Math.ceil(Math.log10(size))) : 4)));
    }

    // Without what rounding left of a round number.
    function plain(value) {
        return String(Number(value.toPrecision(10)));
    }

    // Looks

    function colour(name) {
        return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    }

    function axis(options) {
        return {
            stroke: () => colour("--faint"),
            grid: { stroke: () => colour("--rule"), width: 1 },
            ticks: { show: false },
            font: "12px system-ui, sans-serif",
            ...options,
        };
    }

    // One chart

    class Chart {
        constructor(figure, group) {
            this.figure = figure;
            this.group = group;
            this.data = decoded(document.getElementById(figure.dataset.chart));
            const { lines } = this.data;
            this.from = Math.min(this.data.from ?? Infinity, ...lines.map(({ x }) => x[0]));
            this.to = Math.max(...lines.map(({ x }) => x[x.length - 1]));
            if (!(this.to > this.from)) this.to = this.from + 1;
            this.plot = document.createElement("div");
            this.plot.className = "plot";
            this.plot.tabIndex = 0;
            this.plot.setAttribute("role", "group");
            this.plot.setAttribute("aria-roledescription", "chart");
            this.plot.setAttribute(
                "aria-label",
                `${this.data.title}: arrow keys read values, plus and minus zoom, Shift and an arrow move, 0 shows all`,
            );
            figure.querySelector(".still").after(this.plot);
            figure.classList.add("live");
            this.buttons();
            this.draw();
            new ResizeObserver(() => this.resize()).observe(this.plot);
            this.plot.addEventListener("keydown", (event) => this.key(event));
        }

        // A button for each line, or for lines that are switched together, and beside it the value at the cursor.
        buttons() {
            const keys = this.figure.querySelector(".keys");
            const find = (name) => this.data.lines.flatMap((line, i) => (line.button === name ? [i] : []));
            this.values = [];
            this.time = document.createElement("output");
            this.time.className = "time";
            const holder = document.createElement("li");
            holder.append(this.time);
            for (const item of keys.children) {
                const lines = find(item.dataset.button);
                const button = document.createElement("button");
                button.type = "button";
                button.setAttribute("aria-pressed", "true");
                button.append(...item.childNodes);
                const value = document.createElement("output");
                value.className = "value";
                item.append(button, value);
                if (lines.length === 1) this.values[lines[0]] = value;
                button.addEventListener("click", () => {
                    const show = button.getAttribute("aria-pressed") !== "true";
                    button.setAttribute("aria-pressed", String(show));
                    this.uplot.batch(() => lines.forEach((i) => this.uplot.setSeries(i + 1, { show })));
                });
            }
            keys.append(holder);
        }

        draw() {
            const { data } = this;
            const range = (_, low, high) => {
                if (low === null || high === null) return [0, 1];
                if (data.fromZero && low >= 0) return [0, high * 1.05 || 1];
                const margin = (high - low) * 0.05 || Math.abs(high) * 0.1 || 1;
                return [low - margin, high + margin];
            };
            const options = {
                width: this.width(),
                height: HEIGHT,
                legend: { show: false },
                scales: { x: { time: false, range: () => this.group.range(this) }, y: { range } },
                axes: [
                    axis({ size: 34, space: 70, values: (_, splits) => splits.map(plain) }),
                    axis({
                        size: () => (this.plot.clientWidth < NARROW ? 52 : 64),
                        space: 42,
                        values: (_, splits) => this.labels(splits),
                    }),
                ],
                series: [{}, ...data.lines.map((line) => this.series(line))],
                cursor: {
                    y: false,
                    points: { size: 7 },
                    drag: { x: true, y: false, setScale: false, dist: 4 },
                    // Charts of a group share the place of the cursor; what is dragged goes through the group.
                    sync: {
                        key: this.group.key,
                        setSeries: false,
                        scales: ["x", null],
                        filters: { pub: (kind) => kind === "mousemove" || kind === "mouseleave" },
                    },
                    bind: { dblclick: () => () => this.group.zoom(null) },
                },
                hooks: {
                    drawClear: [(u) => this.shade(u)],
                    setCursor: [(u) => this.read(u)],
                    setSelect: [(u) => this.selected(u)],
                },
            };
            this.uplot = new uPlot(options, this.columns(), this.plot);
        }

        series(line) {
            const few = line.x.length <= FEW;
            return {
                stroke: () => colour(`--line-${line.colour}`),
                pxAlign: 0,
                width: line.faint ? 1 : 1.6,
                alpha: line.faint ? 0.45 : 1,
                dash: line.dashed ? [7, 4] : undefined,
                points: { show: few && !line.faint, size: 5, fill: () => colour(`--line-${line.colour}`) },
            };
        }

        width() {
            return Math.max(this.plot.clientWidth, 200);
        }

        columns() {
            const [from, to] = this.group.range(this);
            const made = view(this.data.lines, from, to, this.width());
            this.figure.dataset.from = from;
            this.figure.dataset.to = to;
            this.figure.dataset.points = made[0].length;
            return made;
        }

        labels(splits) {
            const { units, unit } = this.data;
            const [size, name] = unitFor(units, Math.max(...splits.map(Math.abs)));
            const shown = this.figure.querySelector(".unit");
            const word = unit in { "bit/s": 0, s: 0 } ? name : "";
            const plain = name === "%" || word ? "" : name;
            if (shown && word) shown.textContent = word;
            return splits.map((each) => `${Number((each / size).toPrecision(8))}${each ? plain : ""}`);
        }

        shade(u) {
            if (!this.data.shaded) return;
            const { left, top, width, height } = u.bbox;
            const end = Math.min(u.valToPos(this.data.shaded, "x", true), left + width);
            if (end <= left) return;
            u.ctx.fillStyle = colour("--shade");
            u.ctx.fillRect(left, top, end - left, height);
        }

        read(u) {
            const { left, idx } = u.cursor;
            const there = left >= 0 && idx !== null && idx !== undefined;
            const at = there ? u.posToVal(left, "x") : NaN;
            const unit = /\(([^()]*)\)$/.exec(this.data.x);
            this.time.textContent = there ? `${Number(at.toPrecision(5))} ${unit ? unit[1] : ""}`.trim() : "";
            this.data.lines.forEach((line, i) => {
                if (!this.values[i]) return;
                if (!there) {
                    this.values[i].textContent = "";
                    return;
                }
                // Beyond its ends, give or take a sample, a line has no value.
                const near = nearest(line.x, at);
                const last = line.x.length - 1;
                const step = last > 0 ? (line.x[last] - line.x[0]) / last : Infinity;
                const within = Math.abs(line.x[near] - at) <= Math.max(step, Math.abs(this.to - this.from) / 1000);
                const outside = at < line.x[0] || at > line.x[last];
                this.values[i].textContent = amount(this.data, outside && !within ? NaN : line.y[near]);
            });
        }

        selected(u) {
            const { left, width } = u.select;
            if (width < 4) return;
            const from = u.posToVal(left, "x");
            const to = u.posToVal(left + width, "x");
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            this.group.zoom([from, to]);
        }

        update() {
            this.uplot.setData(this.columns(), true);
        }

        resize() {
            if (this.plot.clientWidth === 0 || this.width() === this.uplot.width) return;
            this.uplot.setSize({ width: this.width(), height: HEIGHT });
            this.update();
        }

        key(event) {
            const { uplot: u } = this;
            const ends = { Home: 0, End: u.over.clientWidth - 1 };
            const steps = { ArrowLeft: -1, ArrowRight: 1 };
            const at = u.cursor.left >= 0 ? u.cursor.left : u.over.clientWidth / 2;
            if (event.key in steps && event.shiftKey) this.group.pan(steps[event.key] / 4);
            else if (event.key in steps) this.point(at + (steps[event.key] * u.over.clientWidth) / 100);
            else if (event.key in ends) this.point(ends[event.key]);
            else if (event.key === "+" || event.key === "=") this.group.scale(1 / ZOOM, u.posToVal(at, "x"));
            else if (event.key === "-") this.group.scale(ZOOM, u.posToVal(at, "x"));
            else if (event.key === "0") this.group.zoom(null);
            else return;
            event.preventDefault();
        }

        point(left) {
            const { clientWidth, clientHeight } = this.uplot.over;
            this.uplot.setCursor({ left: Math.min(Math.max(left, 0), clientWidth - 1), top: clientHeight / 2 });
        }
    }

    // Charts over the same axis: what is zoomed in one is zoomed in all.
    class Group {
        constructor(element, key) {
            this.key = key;
            this.charts = [];
            this.shown = null;
            this.all = null;
            this.tools = element.querySelector(".tools");
            if (this.tools) {
                const jobs = {
                    in: () => this.scale(1 / ZOOM),
                    out: () => this.scale(ZOOM),
                    earlier: () => this.pan(-0.25),
                    later: () => this.pan(0.25),
                    all: () => this.zoom(null),
                };
                for (const button of this.tools.querySelectorAll("button")) {
                    button.addEventListener("click", jobs[button.dataset.zoom]);
                }
            }
            this.mark();
        }

        add(figure) {
            const chart = new Chart(figure, this);
            this.charts.push(chart);
            const from = Math.min(...this.charts.map((each) => each.from));
            const to = Math.max(...this.charts.map((each) => each.to));
            const grown = this.all && (from < this.all[0] || to > this.all[1]);
            this.all = [from, to];
            if (grown && !this.shown) this.charts.forEach((each) => each.update());
        }

        range(chart) {
            return this.shown || this.all || [chart.from, chart.to];
        }

        zoom(range) {
            this.shown = range;
            if (range && this.all) {
                const from = Math.max(range[0], this.all[0]);
                const to = Math.min(range[1], this.all[1]);
                const least = (this.all[1] - this.all[0]) * 1e-7;
                if (to - from < least) return;
                this.shown = from <= this.all[0] && to >= this.all[1] ? null : [from, to];
            }
            this.mark();
            this.charts.forEach((each) => each.update());
        }

        scale(factor, centre) {
            if (!this.all) return;
            const [from, to] = this.shown || this.all;
            const middle = centre === undefined ? (from + to) / 2 : centre;
            this.zoom([middle - (middle - from) * factor, middle + (to - middle) * factor]);
        }

        pan(share) {
            if (!this.shown) return;
            const [from, to] = this.shown;
            const wanted = (to - from) * share;
            const by = Math.min(Math.max(wanted, this.all[0] - from), this.all[1] - to);
            this.zoom([from + by, to + by]);
        }

        mark() {
            if (!this.tools) return;
            for (const button of this.tools.querySelectorAll("button")) {
                button.disabled = !this.shown && button.dataset.zoom !== "in";
            }
        }
    }

    function start() {
        const elements = [...document.querySelectorAll(".charts")];
        const groups = elements.map((element, i) => [element, new Group(element, `charts-${i}`)]);
        const seen = new IntersectionObserver(
            (entries) => {
                for (const { isIntersecting, target } of entries) {
                    if (!isIntersecting) continue;
                    seen.unobserve(target);
                    groups.find(([element]) => element.contains(target))[1].add(target);
                }
            },
            { rootMargin: "300px" },
        );
        document.querySelectorAll(".charts .chart").forEach((figure) => seen.observe(figure));
        const redraw = () => {
            groups.forEach(([, group]) => group.charts.forEach(({ uplot }) => uplot.redraw(true, true)));
        };
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
        return { redraw };
    }

    return { start, view, unitFor, digits, colour, axis };
})();
