//! Random scenarios, and random harm to them.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use longfat_units::{Bytes, Rate, Span};

/// No path of three links is longer there and back.
const LONGEST_PATH: u64 = 120_000_000_000;

/// The text of a scenario that is right.
pub(super) fn scenario() -> impl Strategy<Value = String> {
    let links = prop::collection::vec(link(), 1..=3);
    (links, 1..=3_usize).prop_flat_map(|(links, flows)| {
        let count = links.len();
        let flows = prop::collection::vec(flow(count), flows);
        (Just(links), flows, top()).prop_map(|(links, flows, top)| {
            let mut text = top;
            for (index, link) in links.iter().enumerate() {
                text += &link.replace("NAME", &format!("link-{index}"));
            }
            for (index, flow) in flows.iter().enumerate() {
                let heading = format!("[[flow]]\nname = \"flow_{index}\"\n");
                text.extend([heading.as_str(), flow]);
            }
            text
        })
    })
}

/// `key = value`, or nothing.
fn maybe(key: &'static str, value: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    prop::option::of(value)
        .prop_map(move |value| value.map_or_else(String::new, |value| format!("{key} = {value}\n")))
}

fn span(range: std::ops::Range<u64>) -> impl Strategy<Value = String> {
    range.prop_map(|span| format!("\"{}\"", Span(span)))
}

fn words(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    select(words).prop_map(String::from)
}

fn top() -> impl Strategy<Value = String> {
    let second = 1_000_000_000_000;
    (
        span(6 * second..1000 * second),
        maybe("warmup", span(0..6 * second)),
        maybe("seed", any::<u64>().prop_map(|seed| seed.to_string())),
        maybe("sample", span(second / 100..second)),
    )
        .prop_map(|(duration, warmup, seed, sample)| {
            format!("duration = {duration}\n{warmup}{seed}{sample}")
        })
}

fn link() -> impl Strategy<Value = String> {
    let keys = |always: bool| {
        let rate = (1_000_000_u64..400_000_000_000).prop_map(|rate| format!("\"{}\"", Rate(rate)));
        let delay = span(0..LONGEST_PATH / 6);
        let (rate, delay) = if always {
            (
                rate.prop_map(|it| format!("rate = {it}\n")).boxed(),
                delay.prop_map(|it| format!("delay = {it}\n")).boxed(),
            )
        } else {
            (maybe("rate", rate).boxed(), maybe("delay", delay).boxed())
        };
        (
            rate,
            delay,
            maybe("loss", (0.0..1.0_f64).prop_map(|loss| format!("{loss:e}"))),
            maybe("bdp", span(0..1_000_000_000_000)),
            buffer_and_queue(),
        )
            .prop_map(|(rate, delay, loss, bdp, rest)| format!("{rate}{delay}{loss}{bdp}{rest}"))
    };
    (keys(true), prop::option::of(keys(false))).prop_map(|(forward, reverse)| {
        let reverse =
            reverse.map(|keys| format!("[link.NAME.reverse]\n{keys}")).unwrap_or_default();
        // A flow may not cross every link: its round trip must be there all the same.
        format!("[link.NAME]\nbdp = \"80 ms\"\n{forward}{reverse}").replacen(
            "bdp = \"80 ms\"\n",
            if forward.contains("bdp = ") { "" } else { "bdp = \"80 ms\"\n" },
            1,
        )
    })
}

fn buffer_and_queue() -> impl Strategy<Value = String> {
    let number = 0.001..3.0_f64;
    let buffer = prop_oneof![
        number.prop_map(|factor| format!("\"{factor} bdp\"")),
        (1_u64..10_000_000).prop_map(|count| format!("\"{count} packets\"")),
        (65_535_u64..10_000_000_000).prop_map(|bytes| format!("\"{}\"", Bytes(bytes))),
        span(1_000_000_000_000..2_000_000_000_000),
    ];
    let shares = (0.0..1.0_f64)
        .prop_map(|share| format!("{{ kind = \"shares\", at = \"{share} buffer\" }}"));
    let thresholds = (0.0..1.0_f64, words(&["bdp", "buffer"]), words(&["packets", "bytes"])).prop_map(
        |(share, unit, mode)| {
            format!(
                "{{ kind = \"thresholds\", mode = \"{mode}\", min = \"{} {unit}\", max = \"{share} {unit}\" }}",
                share / 3.0
            )
        },
    );
    let queue = prop_oneof![
        words(&["\"drop-tail\"", "{ kind = \"drop-tail\" }", "\"shares\"", "\"thresholds\""]),
        shares,
        thresholds,
        (0_u64..100, 100_u64..1000).prop_map(|(min, max)| format!(
            "{{ kind = \"thresholds\", min = \"{min} packets\", max = \"{max} packets\" }}"
        )),
    ];
    let limited = (maybe("buffer", buffer), maybe("queue", queue));
    let unlimited =
        Just(("buffer = \"unlimited\"\n".to_string(), "queue = \"thresholds\"\n".to_string()));
    prop_oneof![8 => limited, 1 => unlimited].prop_map(|(buffer, queue)| buffer + &queue)
}

fn flow(links: usize) -> impl Strategy<Value = String> {
    let indices: Vec<usize> = (0..links).collect();
    let path = prop::sample::subsequence(indices, 1..=links).prop_shuffle().prop_map(|path| {
        let names: Vec<String> = path.iter().map(|index| format!("\"link-{index}\"")).collect();
        format!("path = [{}]\n", names.join(", "))
    });
    let start = (1_u64..=6).prop_flat_map(move |count| {
        let rtt = times(count, LONGEST_PATH..1_000_000_000_000);
        let start = times(count, 0..5_000_000_000_000);
        (Just(count), rtt, maybe("start", start))
            .prop_map(|(count, rtt, start)| format!("count = {count}\nrtt = {rtt}\n{start}"))
    });
    (path, control(), start, ends(), window(), transport()).prop_map(
        |(path, control, start, ends, window, transport)| {
            format!("control = {control}\n{path}{start}{ends}{window}{transport}")
        },
    )
}

fn times(count: u64, range: std::ops::Range<u64>) -> impl Strategy<Value = String> {
    let (low, high) = (range.clone(), range.clone());
    let sorted = (low, high).prop_map(|(a, b)| (Span(a.min(b)), Span(a.max(b))));
    prop_oneof![
        span(range.clone()),
        prop::collection::vec(span(range.clone()), count as usize)
            .prop_map(|list| format!("[{}]", list.join(", "))),
        (span(range.clone()), span(range))
            .prop_map(|(first, last)| format!("{{ spread = [{first}, {last}] }}")),
        sorted.prop_map(|(low, high)| format!("{{ uniform = [\"{low}\", \"{high}\"] }}")),
    ]
}

fn control() -> impl Strategy<Value = String> {
    let tuned = (0.0..=1.0_f64, 1_u64..=1000, 0.001..1e6_f64, any::<bool>(), 0.0..100.0_f64)
        .prop_map(|(gamma, ticks, c, per_mark, delta)| {
            format!(
                "{{ kind = \"tunable\", gamma = {gamma:e}, ticks = {ticks}, c = \"{c} /s\", \
                 per_mark = {per_mark}, delta = {delta:e}, on = \"tunable\" }}"
            )
        });
    prop_oneof![words(&["\"reno\"", "\"tunable\"", "{ kind = \"unlawful\", rate = 1e300 }"]), tuned]
}

fn ends() -> impl Strategy<Value = String> {
    let size = prop_oneof![
        Just("\"unlimited\"".to_string()),
        (1_u64..1_000_000_000).prop_map(|count| format!("\"{count} packets\"")),
        (1_u64..u64::MAX).prop_map(|bytes| format!("\"{}\"", Bytes(bytes))),
    ];
    let stop =
        prop_oneof![Just("\"none\"".to_string()), span(5_000_000_000_000..9_000_000_000_000)];
    (
        maybe("reverse", any::<bool>().prop_map(|flag| flag.to_string())),
        maybe("size", size),
        maybe("stop", stop),
        maybe("packet", (41_u64..=65_535).prop_map(|bytes| format!("\"{bytes} B\""))),
    )
        .prop_map(|(reverse, size, stop, packet)| format!("{reverse}{size}{stop}{packet}"))
}

fn window() -> impl Strategy<Value = String> {
    let threshold = prop_oneof![
        Just("\"none\"".to_string()),
        (2.0..1e300_f64).prop_map(|threshold| format!("{threshold:e}"))
    ];
    let most = prop_oneof![
        Just("\"none\"".to_string()),
        (1_u64..u64::MAX).prop_map(|count| count.to_string())
    ];
    (
        maybe("initial_window", (1.0..1e7_f64).prop_map(|window| format!("{window:e}"))),
        maybe("initial_threshold", threshold),
        maybe("max_window", most),
        maybe("slow_start", words(&["\"standard\"", "\"limited\""])),
    )
        .prop_map(|(window, threshold, most, slow)| format!("{window}{threshold}{most}{slow}"))
}

fn transport() -> impl Strategy<Value = String> {
    let access = prop_oneof![
        Just("\"none\"".to_string()),
        (1_u64..320_000_000_000_000).prop_map(|rate| format!("\"{}\"", Rate(rate))),
    ];
    (
        maybe("recovery", words(&["\"sack\"", "\"newreno\"", "\"reno\""])),
        maybe("delayed_ack", words(&["true", "false"])),
        maybe("rto_min", span(1..10_000_000_000_000)),
        maybe("ecn", words(&["true", "false"])),
        maybe("access", access),
    )
        .prop_map(|(recovery, delayed, rto, ecn, access)| {
            format!("{recovery}{delayed}{rto}{ecn}{access}")
        })
}

/// Pieces that a mutation puts in.
const PIECES: &[&str] = &[
    "",
    "",
    "",
    "",
    "",
    "",
    "\"",
    "'",
    "=",
    "\n",
    "[",
    "]",
    "{",
    "}",
    "[[",
    "#",
    ".",
    ",",
    "-1",
    "0",
    "1e999",
    "nan",
    "-inf",
    "99999999999999999999999999999999999999999",
    "true",
    "1979-05-27",
    "\"\"",
    "\"0 s\"",
    "\"1 bdp\"",
    "\"none\"",
    "\"unlimited\"",
    "\"1e30 packets\"",
    "\"9 buffer\"",
    "\"1 B\"",
    "\"213 d\"",
    "\u{7f}",
    "\u{1F980}",
    "\r\n",
    "\t",
    "\\",
    "\\u0000",
    "[]",
    "{}",
    "\"\u{202e}x\"",
    "\"99999999 s\"",
    "[[traffic]]\n",
    "anti_ecn = true\n",
    "[link.a.b.c]\n",
    "\"18446744073709551615 B\"",
    "kind",
];

/// One change: what to put, where, and how much to take away.
pub(super) type Mutation = (Index, Index, &'static str);

/// A few changes to a text.
pub(super) fn mutations() -> impl Strategy<Value = Vec<Mutation>> {
    prop::collection::vec((any::<Index>(), any::<Index>(), select(PIECES)), 1..4)
}

/// `text` with some values replaced: right in form, and mostly wrong in meaning.
pub(super) fn replace_values(text: &str, mutations: &[Mutation]) -> String {
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    for (at, from, piece) in mutations {
        let value = |text: &str| text.split_once(" = ").map(|(_, value)| value.to_string());
        // A value from another line, or a piece.
        let other = if piece.is_empty() { value(&lines[from.index(lines.len())]) } else { None };
        let line = &mut lines[at.index(text.lines().count())];
        if let Some((key, _)) = line.split_once(" = ") {
            *line = format!("{key} = {}", other.as_deref().unwrap_or(piece));
        }
    }
    lines.join("\n")
}

/// `text` after the changes; they fall between characters.
pub(super) fn mutate(text: &str, mutations: &[Mutation]) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for (at, length, piece) in mutations {
        let start = at.index(characters.len() + 1);
        let end = (start + length.index(12)).min(characters.len());
        characters.splice(start..end, piece.chars());
    }
    characters.into_iter().collect()
}
