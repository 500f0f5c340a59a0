// From the tables of a run to lines of charts, to packets on a link, and to the numbers beside them.

import { Motion } from "./animation.js";
import { count, rate, share, time } from "./quantities.js";

const FEW = 8; // flows that have a line each; of more, a line stands for a group
const COLOURS = 8;
const OF_LINKS = [6, 7, 4, 3, 5, 2, 1, 0]; // so that the first link is not taken for the first flow

// What has a line: each of a few flows, or each group of many.
export function parties(outline) {
    const total = outline.flows.reduce((sum, { count: flows }) => sum + flows, 0);
    const found = [];
    let first = 0;
    for (const [group, { name, count: flows }] of outline.flows.entries()) {
        if (total <= FEW) {
            for (let i = 0; i < flows; i++) {
                found.push({ name: flows === 1 && total === outline.flows.length ? name : `${name}[${i}]`, group, first: first + i, flows: 1 });
            }
        } else found.push({ name: flows === 1 ? name : `${name}: ${flows} flows`, group, first, flows });
        first += flows;
    }
    return found.map((party, i) => ({ ...party, colour: i % COLOURS, dashed: i >= COLOURS }));
}

// The directions of links that data crosses.
export function crossed(outline) {
    const found = [];
    outline.links.forEach(({ name }, link) => {
        for (const reverse of [false, true]) {
            const used = [...outline.flows, ...outline.traffic].some(({ path }) => path.some((hop) => hop.link === name && hop.reverse === reverse));
            if (used) found.push({ link, reverse, name: reverse ? `${name}, reverse` : name });
        }
    });
    return found.length > 0 ? found : [{ link: 0, reverse: false, name: outline.links[0]?.name ?? "" }];
}

function column(table, rows, name) {
    const all = table.columns[name];
    return Float64Array.from(rows, (row) => all[row]);
}

// The rows of each flow, in order of time.
function rowsOfFlows(table, flows) {
    const rows = Array.from({ length: flows }, () => []);
    const { flow } = table.columns;
    for (let i = 0; i < table.rows; i++) rows[flow[i]].push(i);
    return rows;
}

// Sums or means of several flows at each time at which one has a row.
function together(table, rows, name, mean) {
    if (rows.length === 1) return { x: column(table, rows[0], "time_s"), y: column(table, rows[0], name) };
    const times = table.columns.time_s;
    const values = table.columns[name];
    const sums = new Map();
    for (const row of rows.flat().sort((a, b) => a - b)) {
        if (!Number.isFinite(values[row])) continue;
        const at = sums.get(times[row]) ?? [0, 0];
        at[0] += values[row];
        at[1] += 1;
        sums.set(times[row], at);
    }
    const x = Float64Array.from(sums.keys());
    return { x, y: Float64Array.from(sums.values(), ([sum, n]) => (mean ? sum / n : sum)) };
}

// `{kind: lines}` of what there is so far.
export function charted(outline, tables) {
    const flows = tables.flow_series;
    const links = tables.link_series;
    const lines = {};
    const who = parties(outline);
    const total = outline.flows.reduce((sum, group) => sum + group.count, 0);
    if (total > 0) {
        const rows = rowsOfFlows(flows, total);
        const line = (name, mean) =>
            who.map((party) => ({
                ...party,
                button: party.name,
                ...together(flows, rows.slice(party.first, party.first + party.flows), name, mean),
            }));
        lines.throughput = line("throughput_bit_s", false);
        lines.window = line("window", true);
    }
    const places = crossed(outline);
    const { link, direction } = links.columns;
    const forward = links.words.direction.indexOf("forward");
    const rows = places.map(() => []);
    for (let i = 0; i < links.rows; i++) {
        const found = places.findIndex((place) => place.link === link[i] && place.reverse === (direction[i] !== forward));
        if (found >= 0) rows[found].push(i);
    }
    const ofLinks = (name) =>
        places.map((place, i) => ({
            name: place.name,
            button: place.name,
            colour: OF_LINKS[i % COLOURS],
            dashed: i >= COLOURS,
            x: column(links, rows[i], "time_s"),
            y: column(links, rows[i], name),
        }));
    if (outline.traffic.length > 0 || total === 0) lines.utilisation = ofLinks("utilisation");
    lines.queue = ofLinks("queue_packets");
    lines.dropped = ofLinks("dropped");
    const marks = ofLinks("marked");
    if (marks.some(({ y }) => y.some((each) => each > 0))) lines.marked = marks;
    return lines;
}

// What moves on a link, or `null` where nothing can be told: no long flow crosses it, or it changes.
export function moving(outline, tables, linkIndex, sample) {
    const place = crossed(outline).find((each) => each.link === linkIndex);
    const link = outline.links[linkIndex];
    if (!place || !link) return null;
    const side = place.reverse ? link.reverse : link.forward;
    if (link.forward.varies || link.reverse.varies) return null;
    const total = outline.flows.reduce((sum, group) => sum + group.count, 0);
    const rows = rowsOfFlows(tables.flow_series, total);
    const delay = (hop) => {
        const { forward, reverse } = outline.links.find(({ name }) => name === hop.link);
        return hop.reverse ? reverse.delay_s : forward.delay_s;
    };
    const flows = [];
    for (const party of parties(outline)) {
        const group = outline.flows[party.group];
        const at = group.path.findIndex((hop) => hop.link === link.name && hop.reverse === place.reverse);
        if (at < 0) continue;
        const { x, y } = together(tables.flow_series, rows.slice(party.first, party.first + party.flows), "throughput_bit_s", false);
        const rtt = party.flows === 1 ? ownTrip(tables.flow_series, rows[party.first], group) : group.rtt_s.mean;
        // What remains of a round trip after the links is in four equal parts, at both ends of both ways.
        const links = group.path.reduce((sum, hop) => sum + delay(hop) + delay({ ...hop, reverse: !hop.reverse }), 0);
        const end = Math.max(rtt - links, 0) / 4;
        const leg = (hops) => hops.reduce((sum, hop) => sum + delay(hop), end);
        flows.push({
            name: party.name,
            colour: party.colour,
            rtt,
            before: leg(group.path.slice(0, at)),
            after: leg(group.path.slice(at)),
            packetBits: 8 * group.packet_bytes,
            capacity: side.rate_bit_s,
            time: x,
            throughput: y,
        });
    }
    if (flows.length === 0) return null;
    const { columns, words } = tables.link_series;
    const wanted = words.direction.indexOf(place.reverse ? "reverse" : "forward");
    const kept = [];
    for (let i = 0; i < tables.link_series.rows; i++) {
        if (columns.link[i] === linkIndex && columns.direction[i] === wanted) kept.push(i);
    }
    if (kept.length === 0) return null;
    const at = Array.from(kept, (row) => columns.time_s[row]);
    const buffer = side.buffer === null ? null : side.unit === "bytes" ? side.buffer / link.packet_bytes : side.buffer;
    return new Motion({
        flows,
        queue: { time: at, packets: kept.map((row) => columns.queue_packets[row]) },
        dropped: kept.map((row) => columns.dropped[row]),
        buffer,
        sample,
        end: at[at.length - 1],
    });
}

// The shortest round trip that a flow has seen is nearly that of its path; a group of equal flows says it exactly.
function ownTrip(table, rows, group) {
    if (group.rtt_s.least === group.rtt_s.greatest) return group.rtt_s.least;
    let least = Infinity;
    for (const row of rows) if (table.columns.rtt_s[row] < least) least = table.columns.rtt_s[row];
    return Math.min(Math.max(least, group.rtt_s.least), group.rtt_s.greatest);
}

const AVERAGE = (values) => values.reduce((sum, each) => sum + each, 0) / values.length;

// The numbers at a glance: name, text, what it means.
export function figures(outline, summary) {
    const found = [];
    const places = crossed(outline);
    const link = (place) => summary.links[outline.links[place.link].name][place.reverse ? "reverse" : "forward"];
    const each = places.map(link);
    const busiest = each.reduce((best, one) => (one.utilisation > best.utilisation ? one : best), each[0]);
    found.push(["Utilisation", share(busiest.utilisation), "bits that left the link over its capacity, after the warm-up"]);
    const delays = summary.flows.map((flow) => flow.queueing_delay_mean_s).filter(Number.isFinite);
    if (delays.length > 0) found.push(["Queueing delay", time(AVERAGE(delays)), "round trip minus propagation, mean over acknowledgments and flows"]);
    found.push(["Dropped", share(busiest.drop_rate), "packets dropped by the queue per packet that arrived"]);
    if (busiest.marked > 0) found.push(["Marked", share(busiest.mark_rate), "packets marked per packet that arrived"]);
    const jains = Object.values(summary.jain).filter(Number.isFinite);
    if (outline.flows.length === 1 && summary.flows.length > 1 && jains.length === 1) {
        found.push(["Fairness", jains[0].toFixed(3), "Jain's index of the goodputs: 1 if all are equal"]);
    }
    return found;
}

// A row for each of a few flows, or for each group, and for each group of short flows: `{head, rows}`.
export function table(outline, summary) {
    const rows = parties(outline).map((party) => {
        const flows = summary.flows.slice(party.first, party.first + party.flows);
        const sum = (key) => flows.reduce((total, flow) => total + (flow[key] ?? 0), 0);
        const delays = flows.map((flow) => flow.queueing_delay_mean_s).filter(Number.isFinite);
        const windows = flows.map((flow) => flow.window_mean).filter(Number.isFinite);
        return {
            ...party,
            cells: [
                flows[0].control,
                rate(sum("goodput_bit_s")),
                windows.length > 0 ? count(AVERAGE(windows)) : "–",
                share(AVERAGE(flows.map((flow) => flow.retransmit_rate ?? 0))),
                count(sum("timeouts")),
                delays.length > 0 ? time(AVERAGE(delays)) : "–",
            ],
        };
    });
    const short = outline.traffic.map(({ name, control }) => {
        const told = summary.traffic[name];
        return {
            name,
            cells: [control, rate(told.goodput_bit_s), `${count(told.completed)} done`, share(told.drop_rate), "", time(told.completion_s?.mean)],
        };
    });
    return { head: ["", "controller", "goodput", "mean window", "sent again", "time-outs", "queueing"], rows, short };
}
