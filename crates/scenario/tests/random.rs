//! Random scenarios.

use proptest::prelude::*;
use proptest::sample::select;

use longfat_units::{Bytes, Rate, Span};

/// No path of three links is longer than this, there and back.
const LONGEST_PATH: u64 = 120_000_000_000;

/// The text of a valid scenario.
pub(super) fn scenario() -> impl Strategy<Value = String> {
    let links = prop::collection::vec(link(), 1..=3);
    let groups = prop_oneof![(1..=3_usize, 0..=2_usize), (0..1_usize, 1..=2_usize)];
    (links, groups).prop_flat_map(|(links, (flows, traffic))| {
        let count = links.len();
        let flows = prop::collection::vec(flow(count), flows);
        let traffic = prop::collection::vec(traffic_group(count), traffic);
        (Just(links), flows, traffic, top()).prop_map(|(links, flows, traffic, top)| {
            let mut text = top;
            for (index, link) in links.iter().enumerate() {
                text += &link.replace("NAME", &format!("link-{index}"));
            }
            for (sort, groups) in [("flow", flows), ("traffic", traffic)] {
                for (index, group) in groups.iter().enumerate() {
                    let heading = format!("[[{sort}]]\nname = \"{sort}_{index}\"\n");
                    text.extend([heading.as_str(), group]);
                }
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
        maybe("observe", any::<bool>().prop_map(|observe| observe.to_string())),
        maybe("delay_percentiles", any::<bool>().prop_map(|told| told.to_string())),
    )
        .prop_map(|(duration, warmup, seed, sample, observe, percentiles)| {
            format!("duration = {duration}\n{warmup}{seed}{sample}{observe}{percentiles}")
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
            maybe("anti_ecn", anti_ecn()),
            buffer_and_queue(),
            impairments(),
        )
            .prop_map(|(rate, delay, loss, bdp, anti_ecn, rest, impairments)| {
                format!("{rate}{delay}{loss}{bdp}{anti_ecn}{rest}{impairments}")
            })
    };
    (keys(true), prop::option::of(keys(false)), changes()).prop_map(
        |(forward, reverse, changes)| {
            let mut reverse =
                reverse.map(|keys| format!("[link.NAME.reverse]\n{keys}")).unwrap_or_default();
            let mut forward = forward;
            // A changing rate leaves no room for AntiECN, and a trace for neither.
            if changes.contains("rate") || changes.contains("trace") {
                let plain = |text: &str| {
                    let lines = text.split_inclusive('\n');
                    lines.filter(|line| !line.starts_with("anti_ecn")).collect::<String>()
                };
                (forward, reverse) = (plain(&forward), plain(&reverse));
            }
            if changes.starts_with("trace") {
                forward += &changes;
            } else {
                reverse += &changes;
            }
            // A flow may skip some links, but needs a round trip all the same.
            format!("[link.NAME]\nbdp = \"80 ms\"\n{forward}{reverse}").replacen(
                "bdp = \"80 ms\"\n",
                if forward.contains("bdp = ") { "" } else { "bdp = \"80 ms\"\n" },
                1,
            )
        },
    )
}

/// What a wire does to packets.
fn impairments() -> impl Strategy<Value = String> {
    let second = 1_000_000_000_000;
    let jitter = prop_oneof![
        Just("false".to_string()),
        span(0..second),
        (0..second, any::<bool>()).prop_map(|(most, ordered)| {
            format!("{{ most = \"{}\", ordered = {ordered} }}", Span(most))
        }),
        (1..second, 1..1000_u64).prop_map(|(interval, packets)| {
            format!("{{ kind = \"wifi\", interval = \"{}\", packets = {packets} }}", Span(interval))
        }),
    ];
    let distance = prop_oneof![
        span(0..second),
        (1..1000_u64).prop_map(|packets| format!("\"{packets} packets\"")),
    ];
    let reorder = (0.0..=1.0_f64, distance).prop_map(|(probability, distance)| {
        format!("{{ probability = {probability:e}, distance = {distance} }}")
    });
    let share = || 1e-9..=1.0_f64;
    let bucket = || {
        (1_u64..1_000_000_000, 65_535_u64..1_000_000_000).prop_map(|(rate, burst)| {
            format!("{{ rate = \"{}\", burst = \"{}\" }}", Rate(rate), Bytes(burst))
        })
    };
    let keep = prop_oneof![
        words(&["\"newest\""]),
        (2..65_535_u64).prop_map(|count| format!("\"1/{count}\"")),
    ];
    let hold = (1..second).prop_map(|hold| format!("hold = \"{}\"", Span(hold)));
    let acknowledgments = prop_oneof![
        Just("false".to_string()),
        hold.clone().prop_map(|hold| format!("{{ {hold} }}")),
        hold.clone().prop_map(|hold| format!("{{ {hold}, keep = \"all\" }}")),
        keep.clone().prop_map(|keep| format!("{{ keep = {keep} }}")),
        (hold, keep).prop_map(|(hold, keep)| format!("{{ keep = {keep}, {hold} }}")),
    ];
    let burst = (share(), share(), share(), share()).prop_map(|(p, r, good, bad)| {
        format!("{{ p = {p:e}, r = {r:e}, good = {good:e}, bad = {bad:e} }}")
    });
    (
        maybe("jitter", jitter),
        maybe("reorder", prop_oneof![1 => Just("false".to_string()), 3 => reorder]),
        maybe("duplicate", share().prop_map(|share| format!("{share:e}"))),
        maybe("burst_loss", prop_oneof![1 => Just("false".to_string()), 3 => burst]),
        (maybe("policer", bucket()), maybe("shaper", bucket())),
        maybe("acknowledgments", acknowledgments),
        maybe("ecn", words(&["\"kept\"", "\"bleached\"", "\"ect0\""])),
    )
        .prop_map(|(jitter, reorder, duplicate, burst, (policer, shaper), acks, ecn)| {
            format!("{jitter}{reorder}{duplicate}{burst}{policer}{shaper}{acks}{ecn}")
        })
}

/// How a link changes, or the trace that it follows.
fn changes() -> impl Strategy<Value = String> {
    let second = 1_000_000_000_000;
    let rate = prop_oneof![Just(0), 1_u64..1_000_000_000];
    let value = prop_oneof![
        rate.prop_map(|rate| format!("rate = \"{}\"", Rate(rate))),
        (0..second).prop_map(|delay| format!("delay = \"{}\"", Span(delay))),
        (0.0..=1.0_f64).prop_map(|loss| format!("loss = {loss:e}")),
    ];
    let change = (
        span(0..300 * second),
        value,
        maybe("over", span(0..second)),
        maybe("every", span(second..9 * second)),
        maybe("reverse", any::<bool>().prop_map(|flag| flag.to_string())),
    )
        .prop_map(|(at, value, over, every, reverse)| {
            format!("[[link.NAME.change]]\nat = {at}\n{value}\n{over}{every}{reverse}")
        });
    let trace = prop::collection::vec(0_u64..20, 1..9).prop_map(|gaps| {
        let mut now = 0;
        let mut stamps: Vec<String> = Vec::new();
        for gap in gaps {
            now += gap;
            stamps.push(now.to_string());
        }
        format!("trace = {{ mahimahi = \"{} {}\" }}\n", stamps.join(" "), now + 1)
    });
    prop_oneof![
        2 => Just(String::new()),
        2 => prop::collection::vec(change, 1..4).prop_map(|changes| changes.concat()),
        1 => trace,
    ]
}

/// A virtual buffer that holds the largest packet on any link.
fn anti_ecn() -> impl Strategy<Value = String> {
    let buffer = prop_oneof![
        Just("unlimited".to_string()),
        (65_535_u64..10_000_000_000).prop_map(|bytes| Bytes(bytes).to_string()),
        (1.0..1e6_f64).prop_map(|count| format!("{count} packets")),
    ];
    let marker = (1e-9..=1.0_f64, buffer, words(&["and", "overwrite"])).prop_map(
        |(threshold, buffer, mode)| {
            format!("{{ threshold = {threshold:e}, buffer = \"{buffer}\", mode = \"{mode}\" }}")
        },
    );
    prop_oneof![1 => Just("false".to_string()), 3 => marker]
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

fn path(links: usize) -> impl Strategy<Value = String> {
    let indices: Vec<usize> = (0..links).collect();
    let order = prop::sample::subsequence(indices, 1..=links).prop_shuffle();
    (order, prop::collection::vec(0..6, links)).prop_map(|(path, ways)| {
        let name = |(index, way): (&usize, &i32)| match way {
            0 => format!("{{ link = \"link-{index}\" }}"),
            1 => format!("{{ reverse = true, link = \"link-{index}\" }}"),
            2 => format!("{{ link = \"link-{index}\", reverse = false }}"),
            _ => format!("\"link-{index}\""),
        };
        let names: Vec<String> = path.iter().zip(&ways).map(name).collect();
        format!("path = [{}]\n", names.join(", "))
    })
}

fn flow(links: usize) -> impl Strategy<Value = String> {
    let start = (1_u64..=6).prop_flat_map(move |count| {
        let rtt = times(count, LONGEST_PATH..1_000_000_000_000);
        let start = times(count, 0..5_000_000_000_000);
        (Just(count), rtt, maybe("start", start))
            .prop_map(|(count, rtt, start)| format!("count = {count}\nrtt = {rtt}\n{start}"))
    });
    let size = prop_oneof![
        Just("\"unlimited\"".to_string()),
        (1_u64..1_000_000_000).prop_map(|count| format!("\"{count} packets\"")),
        (1_u64..u64::MAX).prop_map(|bytes| format!("\"{}\"", Bytes(bytes))),
    ];
    let amount = prop_oneof![1 => maybe("size", size), 1 => maybe("application", application())];
    (path(links), control(), start, amount, ends(), sender()).prop_map(
        |(path, control, start, amount, ends, sender)| {
            format!("control = {control}\n{path}{start}{amount}{ends}{sender}")
        },
    )
}

/// Short flows. No load on a link of the range below produces too many arrivals or too few.
fn traffic_group(links: usize) -> impl Strategy<Value = String> {
    let arrivals = prop_oneof![
        (1e-9..1e9_f64).prop_map(|rate| format!("{{ poisson = \"{rate} /s\" }}")),
        (1.0..1000.0_f64).prop_map(|load| format!("{{ load = \"{load} %\" }}")),
        (0.01..=1.0_f64).prop_map(|load| format!("{{ load = {load} }}")),
    ];
    let range = LONGEST_PATH..1_000_000_000_000;
    let rtt = prop_oneof![
        span(range.clone()),
        (range.clone(), range).prop_map(|(a, b)| {
            format!("{{ uniform = [\"{}\", \"{}\"] }}", Span(a.min(b)), Span(a.max(b)))
        }),
    ];
    let count = prop_oneof![
        Just("\"none\"".to_string()),
        (1_u64..u64::MAX).prop_map(|count| count.to_string()),
    ];
    let times = (maybe("start", span(0..5_000_000_000_000)), maybe("count", count));
    (path(links), control(), arrivals, size(), rtt, times, ends(), sender()).prop_map(
        |(path, control, arrivals, size, rtt, (start, count), ends, sender)| {
            format!(
                "control = {control}\n{path}arrivals = {arrivals}\nsize = {size}\nrtt = {rtt}\n\
                 {start}{count}{ends}{sender}"
            )
        },
    )
}

/// What writes the data of a flow. What every packet size allows: writes of whole packets, requests with a header.
fn application() -> impl Strategy<Value = String> {
    let second = 1_000_000_000_000;
    let interval = move || {
        prop_oneof![
            span(1_000_000..second),
            span(1_000_000..second).prop_map(|mean| format!("{{ exponential = {mean} }}")),
            (1_000_000..second, 1.001..1e3_f64).prop_map(|(mean, shape)| {
                format!("{{ pareto = {{ mean = \"{}\", shape = {shape:e} }} }}", Span(mean))
            }),
            (1_000_000..second, 1_000_000..second).prop_map(|(a, b)| {
                format!("{{ uniform = [\"{}\", \"{}\"] }}", Span(a.min(b)), Span(a.max(b)))
            }),
        ]
    };
    let writes = || {
        let write = (1_u64..1000).prop_map(|count| format!("\"{count} packets\""));
        (1_u64..100_000_000_000, prop::option::of(write)).prop_map(|(rate, write)| {
            let write = write.map_or(String::new(), |write| format!(", write = {write}"));
            format!("rate = \"{}\"{write}", Rate(rate))
        })
    };
    let request =
        || (41_u64..1_000_000_000).prop_map(|bytes| format!("request = \"{}\"", Bytes(bytes)));
    let objects = prop_oneof![
        (1_u64..10_000).prop_map(|count| count.to_string()),
        (1_u64..100, 100_u64..10_000).prop_map(|(a, b)| format!("{{ uniform = [{a}, {b}] }}")),
        (1.0..1e4_f64).prop_map(|mean| format!("{{ geometric = {mean} }}")),
    ];
    let rule = prop_oneof![
        Just("rule = \"buffer\"".to_string()),
        (0..second, 0..second).prop_map(|(a, b)| {
            format!("reservoir = \"{}\", cushion = \"{}\"", Span(a), Span(b))
        }),
        (0.01..10.0_f64).prop_map(|margin| format!("rule = \"throughput\", margin = {margin}")),
    ];
    prop_oneof![
        Just("\"none\"".to_string()),
        (writes(), any::<bool>()).prop_map(|(writes, poisson)| {
            format!("{{ kind = \"constant\", {writes}, poisson = {poisson} }}")
        }),
        (writes(), interval(), interval()).prop_map(|(writes, on, off)| {
            format!("{{ kind = \"on-off\", {writes}, on = {on}, off = {off} }}")
        }),
        (request(), size(), interval()).prop_map(|(request, response, think)| {
            format!("{{ kind = \"request-response\", {request}, response = {response}, think = {think} }}")
        }),
        (objects, size(), 1_u64..100, interval()).prop_map(|(objects, object, connections, think)| {
            format!(
                "{{ kind = \"web\", objects = {objects}, object = {object}, connections = {connections}, \
                 think = {think} }}"
            )
        }),
        (request(), prop::collection::btree_set(1_u64..1_000_000_000, 1..9), 1..second, rule).prop_map(
            |(request, ladder, chunk, rule)| {
                let ladder: Vec<String> = ladder.iter().map(|rate| format!("\"{}\"", Rate(*rate))).collect();
                let ladder = ladder.join(", ");
                format!("{{ kind = \"video\", {request}, ladder = [{ladder}], chunk = \"{}\", {rule} }}", Span(chunk))
            }
        ),
    ]
}

fn size() -> impl Strategy<Value = String> {
    let mean = || {
        prop_oneof![
            (30.0..1e4_f64).prop_map(|count| format!("mean = \"{count} packets\"")),
            (1e3..1e9_f64).prop_map(|bytes| format!("mean = \"{bytes} B\"")),
            (1_u64..1_000_000).prop_map(|size| format!("mean = \"{size} kB\"")),
        ]
    };
    let bytes = 1000_u64..1_000_000_000;
    prop_oneof![
        bytes.clone().prop_map(|size| format!("\"{}\"", Bytes(size))),
        (30_u64..10_000).prop_map(|count| format!("\"{count} packets\"")),
        (mean(), 1.001..1e300_f64)
            .prop_map(|(mean, shape)| format!("{{ pareto = {{ {mean}, shape = {shape:e} }} }}")),
        mean().prop_map(|mean| format!("{{ exponential = {{ {mean} }} }}")),
        (mean(), 0.0..=10.0_f64)
            .prop_map(|(mean, sigma)| format!("{{ lognormal = {{ {mean}, sigma = {sigma:e} }} }}")),
        (bytes.clone(), bytes).prop_map(|(a, b)| {
            format!("{{ uniform = [\"{}\", \"{}\"] }}", Bytes(a.min(b)), Bytes(a.max(b)))
        }),
    ]
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
                 per_mark = {per_mark}, delta = {delta:e}, on = \"needy\" }}"
            )
        });
    prop_oneof![words(&["\"reno\"", "\"tunable\"", "{ kind = \"unlawful\", rate = 1e300 }"]), tuned]
}

/// What fits into the first window of `"auto"`: 65 535 B, told in units of 128 B since it grows to 6 MB; and 40 B.
const LARGEST_PACKET: u64 = 511 * 128 + 40;

fn ends() -> impl Strategy<Value = String> {
    let stop =
        prop_oneof![Just("\"none\"".to_string()), span(5_000_000_000_000..9_000_000_000_000)];
    (
        maybe("reverse", any::<bool>().prop_map(|flag| flag.to_string())),
        maybe("stop", stop),
        maybe("packet", (41_u64..=LARGEST_PACKET).prop_map(|bytes| format!("\"{bytes} B\""))),
    )
        .prop_map(|(reverse, stop, packet)| format!("{reverse}{stop}{packet}"))
}

/// Windows and transport, without what packets that have numbers do not know.
fn sender() -> impl Strategy<Value = String> {
    (window(), transport()).prop_map(|(window, transport)| {
        let text = format!("{window}{transport}");
        if !text.contains("\"quic") {
            return text;
        }
        let foreign = ["receive_window", "ecn_feedback = \"echo\""];
        let known = |line: &&str| !foreign.iter().any(|key| line.starts_with(key));
        text.lines().filter(known).flat_map(|line| [line, "\n"]).collect()
    })
}

fn window() -> impl Strategy<Value = String> {
    let threshold = prop_oneof![
        Just("\"none\"".to_string()),
        (2.0..1e300_f64).prop_map(|threshold| format!("{threshold:e}")),
        (0_u64..u64::MAX).prop_map(|bytes| format!("\"{}\"", Bytes(bytes)))
    ];
    let most = prop_oneof![
        Just("\"none\"".to_string()),
        (1_u64..u64::MAX).prop_map(|count| count.to_string())
    ];
    (
        maybe("initial_window", (1.0..1e7_f64).prop_map(|window| format!("{window:e}"))),
        maybe("initial_threshold", threshold),
        maybe("max_window", most),
        maybe("receive_window", receive_window()),
        maybe(
            "slow_start",
            words(&["\"standard\"", "\"limited\"", "\"hystart\"", "\"hystart++\""]),
        ),
    )
        .prop_map(|(window, threshold, most, receive, slow)| {
            format!("{window}{threshold}{most}{receive}{slow}")
        })
}

fn receive_window() -> impl Strategy<Value = String> {
    let buffer = || {
        prop_oneof![
            (131_072_u64..9_000_000_000).prop_map(|bytes| format!("\"{}\"", Bytes(bytes))),
            (131_072_u64..9_000_000).prop_map(|count| format!("\"{count} packets\"")),
        ]
    };
    let scale = || {
        prop_oneof![Just(String::new()), (1..=14).prop_map(|scale| format!("scale = {scale}, "))]
    };
    let tuned =
        (words(&["right-sizing", "sender-tuned"]), (131_072_u64..9_000_000_000, 0..9_u64), scale())
            .prop_map(|(kind, (initial, times), scale)| {
                let (initial, most) = (Bytes(initial), Bytes(initial * (times + 1)));
                format!(
                    "{{ kind = \"{kind}\", {scale}initial = \"{initial}\", most = \"{most}\" }}"
                )
            });
    prop_oneof![
        words(&["\"none\"", "\"auto\"", "{ scale = 3 }", "{ kind = \"sender-tuned\" }"]),
        buffer(),
        (scale(), buffer())
            .prop_map(|(scale, size)| format!("{{ kind = \"fixed\", {scale}size = {size} }}")),
        tuned,
    ]
}

/// Acknowledgments held back, groups of packets, unused windows and known paths.
fn host() -> impl Strategy<Value = String> {
    let quantum = prop_oneof![
        Just("\"none\"".to_string()),
        (1..u32::MAX).prop_map(|packets| packets.to_string()),
        span(1..10_000_000_000_000),
    ];
    let resume = prop_oneof![
        Just("\"none\"".to_string()),
        (2.0..1e7_f64, span(1..10_000_000_000_000))
            .prop_map(|(window, rtt)| format!("{{ window = {window}, rtt = {rtt} }}")),
    ];
    let methods =
        &["\"none\"", "\"rfc5681\"", "\"rfc2861\"", "\"rfc7661\"", "\"ratelimited-increase\""];
    (
        maybe("ack_every", (1_u64..=1_000_000).prop_map(|every| every.to_string())),
        maybe("ack_delay", span(1..10_000_000_000_000)),
        maybe("send_quantum", quantum),
        maybe("window_validation", words(methods)),
        maybe("careful_resume", resume),
    )
        .prop_map(|(every, delay, quantum, validation, resume)| {
            format!("{every}{delay}{quantum}{validation}{resume}")
        })
}

const PROFILES: &[&str] =
    &["\"1995\"", "\"linux-6\"", "\"ns2-2005\"", "\"quic-9002\"", "\"rfc\"", "\"none\""];

fn transport() -> impl Strategy<Value = String> {
    let access = prop_oneof![
        Just("\"none\"".to_string()),
        (1_u64..320_000_000_000_000).prop_map(|rate| format!("\"{}\"", Rate(rate))),
    ];
    let pacing = prop_oneof![
        words(&["\"controller\"", "\"none\"", "\"spread\""]),
        (0.01..100.0_f64).prop_map(|gain| format!("{{ spread = {gain} }}")),
        (1..u32::MAX).prop_map(|blocks| format!("{{ blocks = {blocks} }}")),
        (0.001..1e12_f64).prop_map(|rate| format!("{{ rate = \"{rate} /s\" }}")),
    ];
    (
        maybe("recovery", words(&["\"sack\"", "\"newreno\"", "\"reno\"", "\"rack\"", "\"quic\""])),
        maybe("delayed_ack", words(&["true", "false"])),
        maybe("rto_min", span(1..10_000_000_000_000)),
        maybe("rto_tick", span(1..10_000_000_000_000)),
        maybe("rto_estimator", words(&["\"rfc6298\"", "\"linux\""])),
        maybe("rto_restart", words(&["\"first\"", "\"each\"", "\"never\""])),
        maybe(
            "ecn",
            words(&[
                "true",
                "false",
                "\"ect1\"",
                "true\necn_feedback = \"accurate\"",
                "false\necn_feedback = \"echo\"",
            ]),
        ),
        maybe("host_jitter", words(&["\"none\"", "\"1 ps\""])),
        maybe("access", access),
        maybe("pacing", pacing),
        maybe("profile", words(PROFILES)),
        host(),
    )
        .prop_map(
            |(
                recovery,
                delayed,
                rto,
                tick,
                estimator,
                restart,
                ecn,
                jitter,
                access,
                pacing,
                profile,
                host,
            )| {
                let timer = format!("{rto}{tick}{estimator}{restart}");
                format!("{recovery}{delayed}{timer}{ecn}{jitter}{access}{pacing}{profile}{host}")
            },
        )
}
