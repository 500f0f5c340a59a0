// Sliders and choices. They show what the engine says of the scenario, and move by changing a line of its text, so the
// text stays the whole truth. What a text says in a way that cannot be changed like that stays as it is, and the control
// says so.

import { h, swatch, unique } from "./dom.js";
import { flowCount, quoted, valueOf, withFlow, withoutFlow, withoutValue, withValue } from "./edit.js";
import { Ratios, RatiosFromNothing, count, rate, rateText, share, time, timeText } from "./quantities.js";

const MOST_FLOWS = 1000;

export class Controls {
    // `catalogue` is the engine's; `change(text)` takes a new text.
    constructor(catalogue, change) {
        this.change = change;
        this.catalogue = catalogue;
        this.text = "";
        this.outline = null;
        this.link = 0;
        this.linkChoice = h("select", { onchange: () => this.choose(this.linkChoice.selectedIndex) });
        this.linkRow = labelled("Link", this.linkChoice);
        this.sliders = {
            rate: this.slider("Rate", new Ratios(1e6, 1e12, 8), rate, (value) => this.setLink("rate", quoted(rateText(value)))),
            rtt: this.slider("Round trip", new Ratios(1e-4, 1, 8), time, (value) => this.setRoundTrip(value)),
            buffer: this.slider("Buffer", new Ratios(0.01, 10, 8), bdp, (value) => this.setLink("buffer", quoted(`${value} bdp`))),
            loss: this.slider("Random loss", new RatiosFromNothing(1e-9, 0.1, 3), share, (value) => this.setLink("loss", String(value))),
        };
        this.queue = h("select", { onchange: () => this.setLink("queue", quoted(this.queue.value)) });
        for (const { name, title } of catalogue.queues) this.queue.append(h("option", { value: name, title }, name));
        this.groups = h("div", { class: "groups" });
        this.more = h("button", { type: "button", onclick: () => this.addGroup() }, "Add flows");
        this.sliders.duration = this.slider("Simulated time", new Ratios(0.1, 1000, 6), time, (value) => this.setDuration(value));
        this.seed = h("input", { type: "number", min: "0", step: "1", onchange: () => this.set({ top: true }, "seed", this.seed.value || "1") });
        this.said = h("p", { class: "said", role: "status" });
        this.element = h(
            "div",
            { class: "controls" },
            this.linkRow,
            ...["rate", "rtt", "buffer", "loss"].map((name) => this.sliders[name].row),
            labelled("Queue", this.queue),
            h("div", { class: "all-groups" }, this.groups, h("div", { class: "row end" }, this.more)),
            this.sliders.duration.row,
            labelled("Seed", this.seed),
            this.said,
        );
    }

    slider(name, scale, shown, set) {
        const id = unique("slider");
        const input = h("input", {
            id,
            type: "range",
            min: "0",
            max: String(scale.steps),
            step: "1",
            oninput: () => {
                const value = scale.value(Number(input.value));
                output.textContent = shown(value);
                input.setAttribute("aria-valuetext", output.textContent);
                set(value);
            },
        });
        const output = h("output", { for: id });
        const row = h("div", { class: "row slider" }, h("label", { for: id }, name), output, input);
        const show = (value, words) => {
            input.disabled = value === null;
            if (value !== null) input.value = String(scale.step(value));
            output.textContent = words ?? (value === null ? "" : shown(value));
            input.setAttribute("aria-valuetext", output.textContent);
            row.hidden = value === null && words === undefined;
        };
        return { row, input, show };
    }

    choose(link) {
        this.link = link;
        if (this.outline) this.show(this.text, this.outline);
        this.onlink?.(link);
    }

    // The link that sliders move.
    get shownLink() {
        return this.outline?.links[this.link];
    }

    // What the engine says of a text.
    show(text, outline) {
        this.text = text;
        this.outline = outline;
        if (this.link >= outline.links.length) this.link = 0;
        const names = outline.links.map(({ name }) => name);
        if (names.join("\n") !== this.names) {
            this.names = names.join("\n");
            this.linkChoice.replaceChildren(...names.map((name) => h("option", {}, name)));
        }
        this.linkChoice.selectedIndex = this.link;
        this.linkRow.hidden = names.length < 2;
        const link = outline.links[this.link];
        const { forward } = link;
        const { rate: rates, rtt, buffer, loss, duration } = this.sliders;
        rates.show(forward.varies ? null : forward.rate_bit_s, forward.varies ? "changes in time" : undefined);
        const trips = outline.flows.concat(outline.traffic).map((group) => group.rtt_s);
        const least = Math.min(...trips.map((each) => each.least));
        const most = Math.max(...trips.map((each) => each.greatest));
        if (trips.length === 0) rtt.show(null);
        else rtt.show((least + most) / 2, least < most ? `${time(least)} to ${time(most)}` : time(least));
        const product = this.product(link);
        const held = forward.buffer === null || !product ? null : (forward.buffer * (forward.unit === "bytes" ? 1 : link.packet_bytes)) / product;
        buffer.show(held, held === null ? "unlimited" : `${bdp(held)}, ${time((held * product * 8) / forward.rate_bit_s)}`);
        loss.show(forward.loss);
        this.queue.value = forward.queue;
        duration.show(outline.duration_s);
        this.seed.value = String(outline.seed);
        this.showGroups();
    }

    // A bandwidth-delay product of a link, in bytes.
    product({ forward }) {
        return forward.bdp_s === null ? 0 : (forward.rate_bit_s * forward.bdp_s) / 8;
    }

    showGroups() {
        const { flows, traffic } = this.outline;
        const written = flowCount(this.text);
        const kinds = flows.map(({ name }, i) => `${name}\n${i}`).join("\n") + written + traffic.map(({ name }) => name).join();
        if (kinds !== this.kinds) {
            this.kinds = kinds;
            this.rows = flows.map((_, i) => this.group(i, i < written, flows.length));
            this.trafficRows = traffic.map(() => h("p", { class: "group traffic" }));
            this.groups.replaceChildren(...this.rows.map(({ row }) => row), ...this.trafficRows);
        }
        flows.forEach((flow, i) => this.rows[i].show(flow));
        traffic.forEach(({ name, control }, i) => (this.trafficRows[i].textContent = `${name}: short flows with ${control}`));
        this.more.hidden = written === 0;
    }

    group(index, written, all) {
        const place = { flow: index };
        const control = h("select", { "aria-label": "Controller", onchange: () => this.setControl(index, control.value) });
        let family = null;
        let list = null;
        for (const { name, title, family: of } of this.catalogue.controllers) {
            if (of !== family) control.append((list = h("optgroup", { label: of })));
            family = of;
            list.append(h("option", { value: name, title }, name));
        }
        const number = h("input", {
            type: "number",
            min: "1",
            max: String(MOST_FLOWS),
            step: "1",
            "aria-label": "How many flows",
            oninput: () => {
                const wanted = Math.min(Math.max(Math.round(Number(number.value)), 1), MOST_FLOWS);
                if (wanted) this.set(place, "count", String(wanted));
            },
        });
        const remove = h("button", { type: "button", class: "remove", title: "Remove these flows", onclick: () => this.removeGroup(index) }, "×");
        remove.setAttribute("aria-label", "Remove these flows");
        const title = h("span", { class: "name" });
        const row = h("div", { class: "group" }, title, number, control, all > 1 && written ? remove : h("span"));
        const show = ({ name, control: kind, count: flows }) => {
            title.textContent = name;
            row.setAttribute("role", "group");
            row.setAttribute("aria-label", `Flows called ${name}`);
            if (document.activeElement !== number) number.value = String(flows);
            number.disabled = !written;
            control.value = kind;
            control.disabled = !written;
        };
        return { row, show };
    }

    say(words) {
        this.said.textContent = words;
    }

    cannot() {
        this.say("The file says this in a way that only an editor can change: see its text below.");
        if (this.outline) this.show(this.text, this.outline);
    }

    // Changes the text; a `null` is a change that cannot be made.
    offer(text) {
        if (text === null) return this.cannot();
        this.say("");
        this.text = text;
        this.change(text);
    }

    set(place, key, value) {
        this.offer(withValue(this.text, place, key, value));
    }

    setLink(key, value) {
        this.set({ link: this.shownLink.name }, key, value);
    }

    // A controller is a name, or a table with its parameters, which are not those of another one.
    setControl(index, name) {
        this.set({ flow: index }, "control", quoted(name));
    }

    // One round trip for all groups; links that would be longer than it become shorter.
    setRoundTrip(value) {
        let text = this.text;
        const { flows, traffic, links } = this.outline;
        const places = [...flows.map((_, i) => ({ flow: i })), ...traffic.map((_, i) => ({ traffic: i }))];
        for (const place of places) text = text === null ? null : withValue(text, place, "rtt", quoted(timeText(value)));
        const longest = Math.max(0, ...flows.concat(traffic).map(({ path }) => path.reduce((sum, hop) => sum + this.delays(hop.link), 0)));
        if (longest > value) {
            for (const { name, forward } of links) {
                const delay = Number(((forward.delay_s * value) / longest).toPrecision(2)) * 0.9;
                if (text !== null && forward.delay_s > 0) text = withValue(text, { link: name }, "delay", quoted(timeText(delay)));
            }
        }
        this.offer(text);
    }

    delays(name) {
        const { forward, reverse } = this.outline.links.find((link) => link.name === name);
        return forward.delay_s + reverse.delay_s;
    }

    // What is left out at the beginning stays the same share of it, where it would be too long.
    setDuration(value) {
        let text = withValue(this.text, { top: true }, "duration", quoted(timeText(value)));
        const { warmup_s: warmup, duration_s: before } = this.outline;
        if (text !== null && warmup > 0 && valueOf(text, { top: true }, "warmup") !== null && warmup >= value / 2) {
            text = withValue(text, { top: true }, "warmup", quoted(timeText(Number(((warmup / before) * value).toPrecision(3)))));
        }
        if (text !== null && valueOf(text, { top: true }, "sample") !== null) text = withoutValue(text, { top: true }, "sample");
        this.offer(text);
    }

    addGroup() {
        const taken = new Set([...this.outline.flows, ...this.outline.traffic].map(({ name }) => name));
        const used = new Set(this.outline.flows.map(({ control }) => control));
        const control = ["cubic", "bbr3", "reno", "exp"].find((each) => !used.has(each)) ?? "reno";
        let name = control;
        for (let i = 2; taken.has(name); i++) name = `${control}-${i}`;
        this.offer(withFlow(this.text, name, control));
    }

    removeGroup(index) {
        this.offer(withoutFlow(this.text, index));
    }

    // The colours of groups, beside their names.
    colour(colours) {
        this.rows?.forEach(({ row }, i) => {
            row.querySelector(".swatch")?.remove();
            if (colours[i] !== undefined) row.prepend(swatch(colours[i].colour, colours[i].dashed));
        });
    }
}

function bdp(value) {
    return `${Number(value.toPrecision(2))}\u00a0bdp`;
}

function labelled(name, input) {
    const id = unique("control");
    input.id = id;
    return h("div", { class: "row" }, h("label", { for: id }, name), input);
}

