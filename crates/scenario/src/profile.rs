//! Profiles: the conventions of an era or of a standard, so that a flow need not spell them out.

use longfat_units::parameter::Given;

use crate::error::{Problem, Problems, did_you_mean, quoted};
use crate::fields::Field;
use crate::tree::{KeyValue, Node, TomlTable, Value};
use crate::value::NONE;

/// A named set of defaults for `[[flow]]` and `[[traffic]]`. What a flow itself says overrides its profile.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Profile {
    /// The name in scenario files.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// Where the values come from.
    pub source: &'static str,
    /// The keys that it sets, with their values as they would be written.
    pub keys: &'static [(&'static str, Given)],
    /// The keys that it sets for flows with a certain controller: that one, the key, its value.
    pub with: &'static [(&'static str, &'static str, Given)],
}

/// Every profile there is, in alphabetical order.
pub static PROFILES: &[Profile] = &[
    Profile {
        name: "1995",
        about: "a TCP of 1995: fast recovery but no selective acknowledgments, and slow clocks",
        source: "RFC 1122 (delayed acknowledgments), RFC 2001 (Reno, an initial window of one segment \
                 and threshold of 65535 bytes), BSD (ticks of 500 ms, at least two)",
        keys: &[
            ("packet", Given::text("500 B")),
            ("initial_window", Given::Number(1.0)),
            ("initial_threshold", Given::text("65535 B")),
            ("recovery", Given::text("reno")),
            ("delayed_ack", Given::Flag(true)),
            ("rto_min", Given::text("1 s")),
            ("rto_tick", Given::text("500 ms")),
            ("ecn", Given::Flag(false)),
        ],
        with: &[],
    },
    Profile {
        name: "linux-6",
        about: "the TCP of Linux 6 with its defaults, between two hosts of that kind",
        source: "net/ipv4/tcp.h and ip-sysctl of Linux 6 (RACK, PRR, a minimum of 200 ms above the smoothed round trip, \
                 40 ms for delayed acknowledgments, tcp_slow_start_after_idle, tcp_ecn = 2: not asked for), RFC 6928; \
                 a probe for a lone segment waits 40 ms longer, there 200 ms",
        keys: &[
            ("initial_window", Given::Number(10.0)),
            ("recovery", Given::text("rack")),
            ("delayed_ack", Given::Flag(true)),
            ("ack_every", Given::Number(2.0)),
            ("ack_delay", Given::text("40 ms")),
            ("rto_min", Given::text("200 ms")),
            ("rto_estimator", Given::text("linux")),
            ("ecn", Given::Flag(false)),
            ("send_quantum", Given::text("1 ms")),
            ("window_validation", Given::text("rfc2861")),
        ],
        with: &[("cubic", "slow_start", Given::text("hystart"))],
    },
    Profile {
        name: "ns2-2005",
        about: "what the simulations of 2003 to 2006 used where their papers say nothing",
        source: "the defaults of ns-2 in those years",
        keys: &[
            ("packet", Given::text("1000 B")),
            ("initial_window", Given::Number(2.0)),
            ("rto_min", Given::text("200 ms")),
        ],
        with: &[],
    },
    Profile {
        name: "quic-9002",
        about: "QUIC as its RFCs have it, without handshakes",
        source: "RFC 9002 (losses, initial window of 10 packets, pacing in groups no larger than that), RFC 9000 \
                 (max_ack_delay of 25 ms, every second packet acknowledged)",
        keys: &[
            ("initial_window", Given::Number(10.0)),
            ("recovery", Given::text("quic")),
            ("delayed_ack", Given::Flag(true)),
            ("ack_every", Given::Number(2.0)),
            ("ack_delay", Given::text("25 ms")),
            ("pacing", Given::text("spread")),
            ("send_quantum", Given::Number(10.0)),
        ],
        with: &[],
    },
    Profile {
        name: "rfc",
        about: "what the standards say, to the letter",
        source: "RFC 6928 (initial window), RFC 5681 (delayed acknowledgments; a window that was idle, section 4.1), RFC \
                 6298 (time-out)",
        keys: &[
            ("initial_window", Given::Number(10.0)),
            ("delayed_ack", Given::Flag(true)),
            ("rto_min", Given::text("1 s")),
            ("rto_restart", Given::text("never")),
            ("window_validation", Given::text("rfc5681")),
        ],
        with: &[],
    },
];

/// `table` with the keys of its profile added where it does not set them itself. Problems that they cause are shown
/// where the profile is named.
pub(crate) fn lay(table: &TomlTable, problems: &mut Problems) -> TomlTable {
    let mut whole = table.clone();
    let Some(node) = table.node("profile") else { return whole };
    let Some(profile) = problems.keep(find(Field { name: "profile", node })) else { return whole };
    let control = table
        .node("control")
        .and_then(|node| node.text().or_else(|| node.table()?.node("kind").and_then(Node::text)));
    let keys = profile.into_iter().flat_map(|profile| profile.keys);
    let with = profile.into_iter().flat_map(|profile| profile.with);
    let with = with.filter(|(kind, ..)| Some(*kind) == control);
    let keys = keys.map(|(name, given)| (name, given));
    for (name, given) in keys.chain(with.map(|(_, name, given)| (name, given))) {
        if let (None, Some(value)) = (table.get(name), Value::given(given)) {
            let node = Node { place: node.place, value };
            whole.0.push(KeyValue { name: (*name).into(), key: node.place, node });
        }
    }
    whole
}

/// The named profile, if one is wanted.
fn find(field: Field<'_>) -> Result<Option<&'static Profile>, Problem> {
    let name = match &field.node.value {
        Value::Text(name) => name.clone(),
        // The shell strips the quotation marks from --set flow.forward.profile="1995".
        Value::Integer(year) => year.to_string(),
        _ => return Err(field.wrong("the name of a profile")),
    };
    if name == NONE {
        return Ok(None);
    }
    let names = || PROFILES.iter().map(|profile| profile.name);
    PROFILES.iter().find(|profile| profile.name == name).map(Some).ok_or_else(|| {
        let help = did_you_mean(&name, names()).unwrap_or_else(|| {
            format!("the profiles are: {}", names().collect::<Vec<_>>().join(", "))
        });
        field.problem(format!("there is no profile called `{}`", quoted(&name))).help(help)
    })
}
