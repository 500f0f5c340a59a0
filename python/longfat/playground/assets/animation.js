// Packets on the link, as they were in the run.
//
// A run is known at the rows of its time series: for each flow what has been delivered by then, for the link how many
// packets wait. Between two rows what is delivered is taken to grow evenly. That gives each packet, or each so many of
// them, the instant at which it left the queue; and from the round trip follows the rest:
//
//     it reached the receiver at R, and so left the queue at T = R - the propagation from there
//     until R it is on the wire of the link and beyond; then its acknowledgment travels back to the sender, which sends
//     another packet, and that is at the queue one round trip of propagation after T
//     before T it waited; those that wait at an instant are the next ones to leave, as many as the run says
//
// So dots on the wires are what was in flight, dots in the queue what waited, and all of them together the window, where
// it is used. What is not known is the order in which packets of different flows waited, unless the queue is first in,
// first out, and how packets were spaced within a row.

const MOST_DOTS = 170;
const TRIP_SHOWN_S = 2.4; // what a round trip takes on the screen, when slowed down
const NICE = [1, 2, 5];

function nice(least) {
    for (let power = 1; ; power *= 10) {
        for (const factor of NICE) if (factor * power >= least) return factor * power;
    }
}

// For one flow: how many of its packets had left the queue at each row, and when a count was reached.
class Delivered {
    constructor(time, throughput, packetBits, sample, after) {
        this.time = [(time[0] ?? 0) - sample - after];
        for (const each of time) this.time.push(each - after);
        this.count = [0];
        for (let i = 0; i < throughput.length; i++) {
            this.count.push(this.count[i] + (throughput[i] * (this.time[i + 1] - this.time[i])) / packetBits);
        }
    }

    // How many had left at a time.
    at(time) {
        const i = upper(this.time, time);
        if (i === 0) return 0;
        if (i === this.time.length) return this.count[i - 1];
        const [t0, t1] = [this.time[i - 1], this.time[i]];
        return this.count[i - 1] + ((this.count[i] - this.count[i - 1]) * (time - t0)) / (t1 - t0);
    }

    // When so many had left; Infinity if that never happened.
    when(count) {
        const i = upper(this.count, count);
        if (i === 0) return this.time[0];
        if (i === this.count.length) return Infinity;
        const [c0, c1] = [this.count[i - 1], this.count[i]];
        return this.time[i - 1] + ((this.time[i] - this.time[i - 1]) * (count - c0)) / (c1 - c0);
    }
}

// The first index whose value exceeds `value`.
function upper(values, value) {
    let low = 0;
    let high = values.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (values[middle] <= value) low = middle + 1;
        else high = middle;
    }
    return low;
}

// What is where at a time: the model behind the picture, without a pixel.
export class Motion {
    // `flows`: name, colour, rtt, after (propagation from the queue to the receiver), before (from the sender to the queue),
    // packetBits, capacity (of the link, bit/s), time, throughput; `queue`: time, packets; `dropped`: packets in the rows of these times.
    constructor({ flows, queue, dropped, buffer, sample, end }) {
        this.end = end;
        this.sample = sample;
        this.queue = queue;
        this.dropped = dropped;
        this.flows = flows.map((flow) => ({
            ...flow,
            delivered: new Delivered(flow.time, flow.throughput, flow.packetBits, sample, flow.after),
        }));
        const waiting = queue.packets.reduce((most, each) => Math.max(most, each), 0);
        this.buffer = buffer ?? waiting;
        const onWires = this.flows.map(({ rtt, packetBits, capacity }) => (capacity * rtt) / packetBits);
        this.needs = nice((waiting + Math.max(0, ...onWires)) / MOST_DOTS);
        this.each = this.needs; // packets that a dot stands for
        this.rtt = this.flows.reduce((longest, { rtt }) => Math.max(longest, rtt), 0) || 1;
    }

    // How many packets waited.
    waiting(time) {
        const { time: at, packets } = this.queue;
        const i = upper(at, time);
        if (at.length === 0) return 0;
        if (i === at.length) return packets[i - 1];
        const before = i === 0 ? 0 : packets[i - 1];
        const from = i === 0 ? 0 : at[i - 1];
        return before + ((packets[i] - before) * (time - from)) / (at[i] - from);
    }

    // Packets dropped in the row to which a time belongs.
    drops(time) {
        const i = upper(this.queue.time, time - 1e-12);
        return this.dropped[i] ?? 0;
    }

    // The dots: those that move, with a place from 0 to 1 on the way to the receiver, to 2 on the way back and to 3 from the
    // sender to the queue; and those that wait, first to last.
    dots(time) {
        const moving = [];
        const next = [];
        const room = Math.round(this.waiting(time) / this.each);
        this.flows.forEach((flow, index) => {
            const { delivered, rtt, after, before } = flow;
            const legs = [after, Math.max(rtt - after - before, 0), before];
            const last = Math.floor(delivered.at(time) / this.each);
            for (let n = last; n > 0; n--) {
                let age = time - delivered.when(n * this.each);
                if (age > rtt) break;
                let leg = 0;
                while (leg < 2 && age > legs[leg]) age -= legs[leg++];
                moving.push({ flow: index, number: n, place: leg + (legs[leg] > 0 ? Math.min(age / legs[leg], 1) : 0) });
            }
            for (let n = last + 1; n <= last + room; n++) {
                const leaves = delivered.when(n * this.each);
                if (leaves === Infinity) break;
                next.push({ flow: index, leaves });
            }
        });
        next.sort((a, b) => a.leaves - b.leaves);
        return { moving, waiting: next.slice(0, room), room };
    }
}

export const SPEEDS = [
    { name: "slow", title: "a round trip takes 2.4 s", rate: (motion) => motion.rtt / TRIP_SHOWN_S },
    { name: "8 × as fast", title: "a round trip takes 0.3 s", rate: (motion) => (8 * motion.rtt) / TRIP_SHOWN_S },
    { name: "whole run in a minute", title: "too fast to follow packets: wires show how full they are", rate: (motion) => motion.end / 60 },
];

const CANVAS_HEIGHT = 132;
const LONGEST_STEP_S = 0.1; // between two pictures, whatever the page was doing

// One time for all set-ups, so that they can be compared: where it stands, how fast it goes, and whether it does.
export class Clock {
    constructor() {
        this.time = 0;
        this.speed = 0;
        this.playing = false;
        this.shown = new Set();
        this.before = null;
    }

    add(animation) {
        this.shown.add(animation);
        animation.follow();
    }

    remove(animation) {
        this.shown.delete(animation);
    }

    // Those that have something to show.
    get moving() {
        return [...this.shown].filter(({ motion }) => motion);
    }

    get end() {
        return Math.max(0, ...this.moving.map(({ motion }) => motion.end));
    }

    // Seconds of the run for a second here.
    get rate() {
        return Math.max(0, ...this.moving.map(({ motion }) => SPEEDS[this.speed].rate(motion)));
    }

    go(time) {
        this.time = Math.min(Math.max(time, 0), this.end);
        for (const animation of this.shown) animation.follow();
    }

    toggle(wanted = !this.playing) {
        this.playing = wanted;
        this.before = null;
        if (wanted && this.time >= this.end) this.time = 0;
        for (const animation of this.shown) animation.follow();
        this.tick();
    }

    choose(speed) {
        this.speed = speed;
        for (const animation of this.shown) animation.follow();
    }

    tick() {
        if (!this.playing || this.asked || !this.moving.some(({ seen }) => seen)) return;
        this.asked = true;
        requestAnimationFrame((now) => {
            this.asked = false;
            if (!this.playing) return;
            const step = this.before === null ? 0 : Math.min((now - this.before) / 1000, LONGEST_STEP_S);
            this.before = now;
            const next = this.time + step * this.rate;
            this.go(next >= this.end ? 0 : next);
            this.tick();
        });
    }
}

export class Animation {
    // `holder` has a canvas, a button, a select and a text; `onmove` hears where the clock stands.
    constructor(holder, clock, onmove) {
        this.holder = holder;
        this.clock = clock;
        this.onmove = onmove;
        this.canvas = holder.querySelector("canvas");
        this.play = holder.querySelector("button.play");
        this.speed = holder.querySelector("select");
        this.words = holder.querySelector(".words");
        this.motion = null;
        this.seen = false;
        this.play.addEventListener("click", () => clock.toggle());
        this.speed.addEventListener("change", () => clock.choose(this.speed.selectedIndex));
        this.sizes = new ResizeObserver(() => this.draw());
        this.sizes.observe(this.canvas);
        this.sight = new IntersectionObserver(([entry]) => {
            this.seen = entry.isIntersecting;
            clock.before = null;
            clock.tick();
        });
        this.sight.observe(this.canvas);
        clock.add(this);
    }

    remove() {
        this.clock.remove(this);
        this.sizes.disconnect();
        this.sight.disconnect();
    }

    set(motion) {
        this.motion = motion;
        this.holder.classList.toggle("empty", !motion);
        if (this.clock.time > this.clock.end) this.clock.time = 0;
        this.follow();
        this.clock.tick();
    }

    // Shows what the clock says.
    follow() {
        const { playing, speed, time } = this.clock;
        this.play.textContent = playing ? "Pause" : "Play";
        this.play.setAttribute("aria-pressed", String(playing));
        this.speed.selectedIndex = speed;
        this.draw();
        this.onmove(this.motion ? time : null);
    }

    draw() {
        const { canvas, motion } = this;
        const width = canvas.clientWidth;
        if (width === 0) return;
        const scale = devicePixelRatio || 1;
        if (canvas.width !== Math.round(width * scale)) canvas.width = Math.round(width * scale);
        if (canvas.height !== Math.round(CANVAS_HEIGHT * scale)) canvas.height = Math.round(CANVAS_HEIGHT * scale);
        const ink = canvas.getContext("2d");
        ink.setTransform(scale, 0, 0, scale, 0, 0);
        ink.clearRect(0, 0, width, CANVAS_HEIGHT);
        if (motion) new Scene(ink, width, motion, this.clock.rate).draw(Math.min(this.clock.time, motion.end));
    }

    describe(words) {
        this.words.textContent = words;
    }
}

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// One picture: sender, queue and transmitter on the left, the wire to the receiver above, the way back below.
class Scene {
    constructor(ink, width, motion, rate) {
        this.ink = ink;
        this.motion = motion;
        this.left = 26; // where the sender ends
        this.right = width - 26; // and the receiver begins
        this.entry = this.left + Math.max(width * 0.05, 20);
        this.queueWidth = Math.min(Math.max(width * 0.28, 90), 280);
        this.wire = this.entry + this.queueWidth;
        this.top = 46;
        this.bottom = 100;
        this.radius = Math.min(Math.max((this.right - this.wire) / 110, 2.2), 4);
        // A dot that jumps further than this between two pictures cannot be followed.
        this.follows = (rate / 60 / motion.rtt) * 2 < 0.12;
        this.ground = style("--panel");
        this.rule = style("--rule");
        this.faint = style("--faint");
        this.bad = style("--bad");
        this.colours = motion.flows.map(({ colour }) => style(`--line-${colour}`));
    }

    draw(time) {
        const { ink, motion } = this;
        const { moving, waiting, room } = motion.dots(time);
        this.pipes();
        if (this.follows) for (const dot of moving) this.dot(...this.where(dot.place), this.colours[dot.flow]);
        else this.bands(time);
        this.queue(waiting, room, time);
        ink.fillStyle = this.faint;
        ink.font = "12px system-ui, sans-serif";
        ink.textBaseline = "alphabetic";
        ink.textAlign = "left";
        ink.fillText("sender", 2, this.bottom + 28);
        ink.textAlign = "right";
        ink.fillText("receiver", this.right + 24, this.bottom + 28);
        ink.textAlign = "center";
        ink.fillText("acknowledgments", (this.left + this.right) / 2, this.bottom + 22);
        ink.fillText(`${time.toPrecision(time >= 100 ? 5 : 4)} s`, (this.wire + this.right) / 2, 18);
    }

    pipes() {
        const { ink } = this;
        ink.strokeStyle = this.rule;
        ink.lineWidth = 9;
        ink.lineCap = "butt";
        for (const [from, to, y] of [[this.left, this.entry, this.top], [this.wire, this.right, this.top], [this.left, this.right, this.bottom]]) {
            ink.beginPath();
            ink.moveTo(from, y);
            ink.lineTo(to, y);
            ink.stroke();
        }
        ink.fillStyle = this.ground;
        ink.strokeStyle = this.faint;
        ink.lineWidth = 1.2;
        for (const x of [this.left - 18, this.right]) {
            ink.beginPath();
            ink.roundRect(x, this.top - 14, 18, this.bottom - this.top + 24, 4);
            ink.fill();
            ink.stroke();
        }
    }

    // Where on the screen a place of a way is.
    where(place) {
        const between = (from, to, share) => from + (to - from) * share;
        if (place <= 1) return [between(this.wire + 4, this.right - 4, place), this.top, 1];
        if (place <= 2) return [between(this.right - 4, this.left + 4, place - 1), this.bottom, 0.62];
        return [between(this.left + 4, this.entry - 4, place - 2), this.top, 1];
    }

    dot(x, y, size, colour) {
        const { ink } = this;
        ink.fillStyle = colour;
        ink.globalAlpha = size < 1 ? 0.7 : 1;
        ink.beginPath();
        ink.arc(x, y, this.radius * size, 0, 2 * Math.PI);
        ink.fill();
        ink.globalAlpha = 1;
    }

    // How full the wires are, a band for each flow: as wide as its share of what they hold.
    bands(time) {
        const { ink, motion } = this;
        const now = motion.flows.map(({ delivered, packetBits }) => {
            const from = Math.max(time - motion.rtt, 0);
            return ((delivered.at(time) - delivered.at(from)) * packetBits) / Math.max(time - from, motion.sample);
        });
        const most = Math.max(motion.flows[0].capacity, now.reduce((a, b) => a + b, 0));
        for (const [y, from, to, height] of [[this.top, this.wire, this.right, 12], [this.bottom, this.left, this.right, 6]]) {
            let at = y + height / 2;
            now.forEach((rate, i) => {
                const part = (height * rate) / most;
                ink.fillStyle = this.colours[i];
                ink.fillRect(from, at - part, to - from, part);
                at -= part;
            });
        }
    }

    // The queue, which fills from the transmitter backwards; red where packets were dropped.
    queue(waiting, room, time) {
        const { ink, motion } = this;
        const height = 44;
        const x = this.entry;
        const y = this.top - height / 2;
        const full = motion.buffer > 0 ? motion.buffer / motion.each : 1;
        const dropped = motion.drops(time);
        ink.fillStyle = this.ground;
        ink.strokeStyle = dropped > 0 ? this.bad : this.faint;
        ink.lineWidth = dropped > 0 ? 2.4 : 1.2;
        ink.beginPath();
        ink.roundRect(x, y, this.queueWidth, height, 4);
        ink.fill();
        ink.stroke();
        const rows = 5;
        const columns = Math.max(Math.ceil(full / rows), 1);
        const across = (this.queueWidth - 8) / columns;
        const down = (height - 8) / rows;
        const size = Math.min(across, down) / 2 - 0.4;
        for (let i = 0; i < Math.min(room, rows * columns); i++) {
            const flow = waiting[i]?.flow;
            ink.fillStyle = flow === undefined ? this.faint : this.colours[flow];
            const column = Math.floor(i / rows);
            ink.beginPath();
            ink.arc(x + this.queueWidth - 4 - (column + 0.5) * across, y + 4 + ((i % rows) + 0.5) * down, Math.max(size, 0.8), 0, 2 * Math.PI);
            ink.fill();
        }
        ink.font = "12px system-ui, sans-serif";
        ink.textAlign = "left";
        ink.fillStyle = dropped > 0 ? this.bad : this.faint;
        const word = dropped > 0 ? `queue: ${Math.round(motion.waiting(time))}, ${dropped} dropped` : `queue: ${Math.round(motion.waiting(time))}`;
        ink.fillText(word, x, y - 7);
    }
}
