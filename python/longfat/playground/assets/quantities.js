// Quantities as people and scenario files write them.

export const RATES = [[1e12, "Tbit/s"], [1e9, "Gbit/s"], [1e6, "Mbit/s"], [1e3, "kbit/s"], [1, "bit/s"]];
export const TIMES = [[1, "s"], [1e-3, "ms"], [1e-6, "us"], [1e-9, "ns"]];
const COUNTS = [[1e9, "×10⁹"], [1e6, "M"], [1e3, "k"], [1, ""]];

function scaled(value, units, digits) {
    const [size, unit] = units.find(([size]) => value >= size * 0.99999) ?? units[units.length - 1];
    return [String(Number((value / size).toPrecision(digits))), unit];
}

// A rate or a time as a file has it: `"100 Mbit/s"`, without the quotes.
export function rateText(bitPerSecond) {
    return scaled(bitPerSecond, RATES, 12).join(" ");
}

export function timeText(seconds) {
    return seconds === 0 ? "0 s" : scaled(seconds, TIMES, 12).join(" ");
}

// For people: three digits.
export function rate(bitPerSecond) {
    return Number.isFinite(bitPerSecond) ? scaled(bitPerSecond, RATES, 3).join("\u00a0") : "–";
}

export function time(seconds) {
    if (!Number.isFinite(seconds)) return "–";
    return seconds === 0 ? "0\u00a0s" : scaled(seconds, TIMES, 3).join("\u00a0").replace("us", "µs");
}

export function count(value) {
    if (!Number.isFinite(value)) return "–";
    if (value < 1e5) return Math.round(value).toLocaleString("en");
    const [number, unit] = scaled(value, COUNTS, 3);
    return `${number}\u00a0${unit}`.trimEnd();
}

export function share(value) {
    if (!Number.isFinite(value)) return "–";
    if (value === 0) return "0";
    if (value >= 0.001) return `${Number((100 * value).toPrecision(3))}\u00a0%`;
    return value.toExponential(1).replace(".0e", "e").replace("e-", "e−");
}

export function plain(value) {
    return Number.isFinite(value) ? String(Number(value.toPrecision(3))) : "–";
}

// A slider whose steps are ratios: as many to a decade, each of two digits.
export class Ratios {
    constructor(least, most, perDecade) {
        this.least = least;
        this.perDecade = perDecade;
        this.steps = Math.round(Math.log10(most / least) * perDecade);
    }

    value(step) {
        return Number((this.least * 10 ** (step / this.perDecade)).toPrecision(2));
    }

    step(value) {
        if (!(value > 0)) return 0;
        const step = Math.round(Math.log10(value / this.least) * this.perDecade);
        return Math.min(Math.max(step, 0), this.steps);
    }
}

// The same with a place for nothing at its lower end.
export class RatiosFromNothing extends Ratios {
    constructor(least, most, perDecade) {
        super(least, most, perDecade);
        this.steps += 1;
    }

    value(step) {
        return step === 0 ? 0 : super.value(step - 1);
    }

    step(value) {
        return value > 0 ? Math.min(super.step(value) + 1, this.steps) : 0;
    }
}
