// The page: one set-up or two side by side, what to begin with, and the address that holds all of it.

import { decoded, encoded } from "./address.js";
import { Clock } from "./animation.js";
import { h } from "./dom.js";
import { KernelEngine, ServerEngine, WorkerEngine, unpacked } from "./engines.js";
import { Frame } from "./live.js";
import { holder } from "./notebook.js";
import { Setup } from "./setup.js";

const KEYS = ["A", "B"];
const ADDRESS_MS = 400;

function told(id) {
    return JSON.parse(document.getElementById(id).textContent);
}

class App {
    constructor(engines, catalogue, presets, settings) {
        this.newEngine = engines.make;
        this.release = engines.release;
        this.notebook = engines.notebook ?? null;
        this.catalogue = catalogue;
        this.presets = presets;
        this.texts = settings.texts;
        this.local = Boolean(settings.server);
        this.frame = new Frame();
        this.clock = new Clock();
        this.frame.onzoom = (range) => (this.all.hidden = range === null);
        this.setups = [];
        this.place = document.querySelector(".setups");
        this.choice = document.getElementById("preset");
        this.about = document.querySelector(".about-preset");
        this.compare = document.querySelector(".compare");
        this.tabs = document.querySelector(".which");
        this.share = document.querySelector(".share");
        this.share.hidden = this.notebook !== null; // a page in a notebook has no address
        this.all = document.querySelector(".show-all");
        this.all.addEventListener("click", () => this.frame.zoom(null));
        this.fillPresets();
        this.choice.addEventListener("change", () => this.preset(this.choice.value));
        this.compare.addEventListener("click", () => this.toggle());
        this.share.addEventListener("click", () => this.copyAddress());
        for (const [i, tab] of [...this.tabs.children].entries()) tab.addEventListener("click", () => this.bring(i));
        addEventListener("hashchange", () => this.open());
        this.theme();
        this.notebook?.listen({ texts: (texts) => this.show(texts, ""), dark: (dark) => this.colours(dark ? "dark" : "light") });
    }

    fillPresets() {
        let list = null;
        for (const { id, group, title } of this.presets) {
            if (list?.label !== group) this.choice.append((list = h("optgroup", { label: group })));
            list.append(h("option", { value: id }, title));
        }
        this.choice.append(h("option", { value: "", hidden: true }, "your own"));
    }

    // Light and dark, as the reader has it or as chosen here; charts are drawn anew.
    theme() {
        const root = document.documentElement;
        const button = document.querySelector(".theme");
        const dark = matchMedia("(prefers-color-scheme: dark)");
        const now = () => root.dataset.theme ?? (dark.matches ? "dark" : "light");
        const apply = () => {
            button.textContent = now() === "dark" ? "Light" : "Dark";
            button.setAttribute("aria-label", `Switch to ${now() === "dark" ? "light" : "dark"} colours`);
            for (const chart of this.frame.charts) chart.redrawn();
            for (const setup of this.setups) setup.animation.draw();
        };
        this.colours = (theme) => {
            root.dataset.theme = theme;
            apply();
        };
        button.addEventListener("click", () => this.colours(now() === "dark" ? "light" : "dark"));
        dark.addEventListener("change", apply);
        apply();
    }

    // What the address says; if nothing, what the page begins with.
    async open() {
        if (this.written !== undefined && location.hash.slice(1) === this.written) return;
        let state = null;
        let cut = false;
        try {
            state = await decoded(location.hash);
        } catch {
            cut = true;
        }
        if (state) this.show(state.texts, "");
        else if (this.setups.length === 0 && this.texts.length > 0) this.show(this.texts, "");
        else if (this.setups.length === 0) this.preset(this.presets[0].id);
        if (cut) this.about.textContent = "The address does not hold a scenario, or only a part of one: the link may have been cut.";
    }

    preset(id) {
        const found = this.presets.find((each) => each.id === id);
        if (found) this.show(found.texts, id);
    }

    show(texts, id) {
        const found = this.presets.find((each) => each.id === id) ?? this.presets.find((each) => same(each.texts, texts));
        this.frame.zoom(null);
        this.clock.go(0);
        texts.slice(0, KEYS.length).forEach((text, i) => {
            if (this.setups[i]) this.setups[i].load(text);
            else this.add(text);
        });
        while (this.setups.length > Math.max(texts.length, 1)) this.setups.pop().remove();
        this.choice.value = found?.id ?? "";
        this.about.textContent = found?.about ?? "";
        this.arrange();
        if (found && !matchMedia("(prefers-reduced-motion: reduce)").matches) this.clock.toggle(true);
    }

    add(text) {
        const setup = new Setup(this, KEYS[this.setups.length], text);
        this.setups.push(setup);
        this.place.append(setup.element);
    }

    // A dot stands for as many packets in one set-up as in the other.
    agree() {
        const each = Math.max(0, ...this.setups.map(({ animation }) => animation.motion?.needs ?? 0));
        for (const setup of this.setups) {
            if (setup.animation.motion) setup.animation.motion.each = each;
            setup.explain();
            setup.animation.draw();
        }
    }

    toggle() {
        if (this.setups.length > 1) this.setups.pop().remove();
        else this.add(this.setups[0].text);
        this.arrange();
        this.changed();
        if (this.setups.length > 1) this.bring(1);
    }

    // On a narrow screen one of two is shown at a time.
    bring(index) {
        this.place.dataset.shown = KEYS[index];
        [...this.tabs.children].forEach((tab, i) => tab.setAttribute("aria-pressed", String(i === index)));
        for (const chart of this.frame.charts) chart.resize();
    }

    arrange() {
        const two = this.setups.length > 1;
        this.place.classList.toggle("two", two);
        this.compare.setAttribute("aria-pressed", String(two));
        this.compare.textContent = two ? "One set-up" : "Compare two";
        this.tabs.hidden = !two;
        this.bring(0);
    }

    // Something was changed by hand: it is no preset any more, and the address, or the notebook, follows.
    changed() {
        if (!this.presets.some(({ id, texts }) => id === this.choice.value && same(texts, this.setups.map(({ text }) => text)))) {
            this.choice.value = "";
            this.about.textContent = "";
        }
        clearTimeout(this.later);
        this.later = setTimeout(() => this.write(), ADDRESS_MS);
    }

    async write() {
        const texts = this.setups.map(({ text }) => text);
        if (this.notebook) return this.notebook.tell(texts);
        const hash = await encoded(texts);
        this.written = hash;
        try {
            history.replaceState(null, "", `#${hash}`);
        } catch {
            // Some browsers refuse that in files: the address is then made when it is asked for.
        }
    }

    async copyAddress() {
        await this.write();
        const here = this.local ? `#${this.written}` : location.href.replace(/#.*$/, "") + `#${this.written}`;
        this.copy(this.share, here);
    }

    async copy(button, text) {
        const said = button.textContent;
        const say = (words) => {
            button.textContent = words;
            setTimeout(() => (button.textContent = said), 2000);
        };
        try {
            await navigator.clipboard.writeText(text);
            say("Copied");
        } catch {
            const area = h("textarea", { class: "offscreen" });
            area.value = text;
            document.body.append(area);
            area.select();
            say(document.execCommand("copy") ? "Copied" : "It could not be copied");
            area.remove();
        }
    }
}

function same(one, other) {
    return one.length === other.length && one.every((text, i) => text === other[i]);
}

// Whoever serves this page ends when nobody looks at it any more.
async function stay(address) {
    for (;;) {
        try {
            const response = await fetch(`${address}alive`);
            if (!response.ok) return;
            const reader = response.body.getReader();
            while (!(await reader.read()).done);
        } catch {
            return;
        }
    }
}

// One that has started is kept for the next set-up.
function kept(make) {
    const spare = [];
    return { make: () => spare.pop() ?? make(), release: (engine) => spare.push(engine) };
}

async function begin() {
    const settings = told("settings");
    const presets = told("presets");
    let engines;
    if (settings.server) {
        engines = { make: () => new ServerEngine(settings.server), release: (engine) => engine.stop() };
        stay(settings.server);
    } else if (settings.kernel) {
        const notebook = await holder();
        engines = { ...kept(() => new KernelEngine(notebook.line())), notebook };
    } else {
        const bytes = await unpacked(document.getElementById("engine").textContent.trim());
        engines = kept(() => new WorkerEngine(workerSource, bytes));
    }
    const first = engines.make();
    const catalogue = await first.catalogue();
    engines.release(first);
    const app = new App(engines, catalogue, presets, settings);
    await app.open();
    document.documentElement.classList.add("ready");
    return app;
}

export const app = begin().catch((error) => {
    document.querySelector(".about-preset").textContent = `The page could not begin: ${error.message}`;
    throw error;
});
