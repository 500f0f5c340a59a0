// The rest of a page: light and dark, tabs, texts to copy, filters. Without it everything is still there to be read.
(() => {
    const root = document.documentElement;
    root.classList.add("scripted");

    function kept(value) {
        try {
            if (value !== undefined) localStorage.setItem("longfat-theme", value);
            return localStorage.getItem("longfat-theme");
        } catch {
            return null; // pages from files have no memory in some browsers
        }
    }

    function theme(charts) {
        const button = document.querySelector(".theme");
        const dark = matchMedia("(prefers-color-scheme: dark)");
        const now = () => root.dataset.theme || (dark.matches ? "dark" : "light");
        const other = () => (now() === "dark" ? "light" : "dark");
        const label = () => {
            button.textContent = other() === "dark" ? "Dark" : "Light";
            button.setAttribute("aria-label", `Switch to ${other()} colours`);
        };
        button.addEventListener("click", () => {
            root.dataset.theme = other();
            kept(root.dataset.theme);
            label();
            charts.redraw();
        });
        dark.addEventListener("change", label);
        label();
    }

    // Sections become tabs, as the authoring practices of ARIA have them: one stop, then arrow keys.
    function tabs(element, number) {
        const sections = [...element.querySelectorAll(":scope > section")];
        if (sections.length < 2) return;
        const list = document.createElement("div");
        list.setAttribute("role", "tablist");
        const made = sections.map((section, i) => {
            const tab = document.createElement("button");
            tab.type = "button";
            tab.id = `tab-${number}-${i}`;
            section.id = section.id || `panel-${number}-${i}`;
            tab.setAttribute("role", "tab");
            tab.setAttribute("aria-controls", section.id);
            tab.textContent = section.querySelector("h3").textContent;
            section.setAttribute("role", "tabpanel");
            section.setAttribute("aria-labelledby", tab.id);
            return tab;
        });
        const choose = (chosen, focus) => {
            made.forEach((tab, i) => {
                tab.setAttribute("aria-selected", String(i === chosen));
                tab.tabIndex = i === chosen ? 0 : -1;
                sections[i].hidden = i !== chosen;
            });
            if (focus) made[chosen].focus();
        };
        made.forEach((tab, i) => tab.addEventListener("click", () => choose(i, false)));
        list.addEventListener("keydown", (event) => {
            const at = made.indexOf(document.activeElement);
            const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: made.length - 1 }[event.key];
            if (next === undefined) return;
            event.preventDefault();
            choose((next + made.length) % made.length, true);
        });
        list.append(...made);
        element.prepend(list);
        element.classList.add("live");
        choose(0, false);
    }

    function copy(button) {
        const text = button.parentElement.querySelector("pre");
        const said = button.textContent;
        const say = (words) => {
            button.textContent = words;
            setTimeout(() => (button.textContent = said), 2500);
        };
        const select = () => {
            getSelection().selectAllChildren(text);
            say("Selected: copy with Ctrl-C");
        };
        button.addEventListener("click", () => {
            if (!navigator.clipboard) return select();
            return navigator.clipboard.writeText(text.textContent).then(() => say("Copied"), select);
        });
    }

    // Buttons that leave only the rows, and what belongs to them, of one kind.
    function filters(element) {
        const buttons = [...element.querySelectorAll("button")];
        const items = [...document.querySelectorAll(element.dataset.of)];
        buttons.forEach((button) =>
            button.addEventListener("click", () => {
                const { kind } = button.dataset;
                buttons.forEach((each) => each.setAttribute("aria-pressed", String(each === button)));
                for (const item of items) {
                    item.hidden = kind !== "" && !item.dataset.kinds.split(" ").includes(kind);
                }
                for (const group of document.querySelectorAll("[data-group-of]")) {
                    const own = items.filter((item) => item.dataset.group === group.dataset.groupOf);
                    group.hidden = own.length > 0 && own.every((item) => item.hidden);
                }
            }),
        );
    }

    // A link into what is folded opens it.
    function unfold() {
        const id = decodeURIComponent(location.hash.slice(1));
        const target = id && document.getElementById(id);
        const folded = target && target.closest("details:not([open])");
        if (folded) folded.open = true;
    }

    const wanted = kept();
    if (wanted === "dark" || wanted === "light") root.dataset.theme = wanted;
    document.querySelectorAll(".tabs").forEach(tabs);
    const charts = longfatCharts.start();
    theme(charts);
    document.querySelectorAll(".copy").forEach(copy);
    document.querySelectorAll(".filters").forEach(filters);
    addEventListener("hashchange", unfold);
    unfold();
})();
