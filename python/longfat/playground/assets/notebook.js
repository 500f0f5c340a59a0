// A page in a frame of a notebook, and who holds that frame (widget.js): a port, over which both say what has changed.
//
//     out   {kind: "line"} with a port to another engine; {kind: "texts", texts}: what is set up now
//     in    {kind: "texts", texts}: show these; {kind: "dark", dark}: the colours of the notebook

class Notebook {
    constructor(port) {
        this.port = port;
    }

    // A port to an engine of its own in the kernel.
    line() {
        const { port1, port2 } = new MessageChannel();
        this.port.postMessage({ kind: "line" }, [port2]);
        return port1;
    }

    tell(texts) {
        this.port.postMessage({ kind: "texts", texts });
    }

    listen(listener) {
        this.port.onmessage = ({ data }) => listener[data.kind]?.(data[data.kind]);
    }
}

// Whoever holds the frame sends a port once the page has loaded.
export function holder() {
    return new Promise((resolve) => {
        const hear = ({ source, ports }) => {
            if (source !== parent || ports.length !== 1) return;
            removeEventListener("message", hear);
            resolve(new Notebook(ports[0]));
        };
        addEventListener("message", hear);
    });
}
