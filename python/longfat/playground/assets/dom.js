// Elements, in few words. Texts are only ever texts.

export function h(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else if (name in element && typeof value !== "string") element[name] = value;
        else if (value !== null && value !== undefined) element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
}

// A colour of the charts beside a name.
export function swatch(number, dashed = false) {
    const element = h("span", { class: dashed ? "swatch dashed" : "swatch", "aria-hidden": "true" });
    element.style.setProperty("--own", `var(--line-${number})`);
    return element;
}

let ids = 0;

export function unique(word) {
    return `${word}-${++ids}`;
}
