// The playground in a notebook: a frame with the page, and lines between its engines and the kernel.
//
// The frame may run scripts and nothing else. It has no origin, so it reaches nothing of the notebook but what goes over
// its port: the texts of scenarios, requests to the engine, colours. The page comes from the kernel when it is shown, so a
// saved notebook does not hold it.

const WAITING = "The playground runs in the kernel of this notebook, which has not answered: run this cell again.";

// As the notebook has it: JupyterLab and Notebook say so in an attribute, others in a class; else as the reader has it.
function dark() {
    const { body } = document;
    if (body.dataset.jpThemeLight) return body.dataset.jpThemeLight === "false";
    if (body.classList.contains("vscode-dark") || body.classList.contains("vscode-high-contrast")) return true;
    if (body.classList.contains("vscode-light")) return false;
    if (document.documentElement.getAttribute("theme") === "dark") return true;
    return matchMedia("(prefers-color-scheme: dark)").matches;
}

function same(one, other) {
    return JSON.stringify(one) === JSON.stringify(other);
}

function render({ model, el }) {
    const view = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
    const lines = new Map();
    let port = null;
    let shown = model.get("texts");

    const waiting = document.createElement("p");
    waiting.textContent = WAITING;
    el.replaceChildren(waiting);

    const line = (end) => {
        const engine = `${view}/${lines.size}`;
        lines.set(engine, end);
        end.onmessage = ({ data }) => model.send({ ...data, engine });
    };

    const heard = ({ data, ports }) => {
        if (data.kind === "line") return line(ports[0]);
        shown = data.texts;
        model.set("texts", shown);
        model.save_changes();
    };

    const open = (html) => {
        const frame = document.createElement("iframe");
        frame.title = "longfat playground";
        frame.setAttribute("sandbox", "allow-scripts");
        frame.allow = "clipboard-write";
        frame.style.cssText = `display: block; width: 100%; height: ${model.get("height")}px; border: 0`;
        frame.addEventListener("load", () => {
            // Moved elsewhere, a frame loads anew.
            const { port1, port2 } = new MessageChannel();
            port = port1;
            lines.clear();
            port.onmessage = heard;
            frame.contentWindow.postMessage("longfat", "*", [port2]);
            colour();
            if (!same(shown, started)) port.postMessage({ kind: "texts", texts: shown });
        });
        const started = shown;
        frame.srcdoc = html;
        el.replaceChildren(frame);
    };

    const hear = (content, buffers) => {
        if (content.view === view) return open(content.html);
        const end = lines.get(content.engine);
        if (!end) return;
        const [bytes] = buffers ?? [];
        if (!bytes) return end.postMessage(content);
        const buffer = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength).slice().buffer;
        end.postMessage({ ...content, buffer }, [buffer]);
    };

    const changed = () => {
        const texts = model.get("texts");
        if (same(texts, shown)) return;
        shown = texts;
        port?.postMessage({ kind: "texts", texts });
    };

    const colour = () => port?.postMessage({ kind: "dark", dark: dark() });
    const watch = new MutationObserver(colour);
    watch.observe(document.body, { attributes: true, attributeFilter: ["class", "data-jp-theme-light"] });
    const preference = matchMedia("(prefers-color-scheme: dark)");
    preference.addEventListener("change", colour);

    model.on("msg:custom", hear);
    model.on("change:texts", changed);
    model.send({ kind: "page", view });

    return () => {
        watch.disconnect();
        preference.removeEventListener("change", colour);
        model.off("msg:custom", hear);
        model.off("change:texts", changed);
        model.send({ kind: "gone", view });
    };
}

export default { render };
