//! What a scenario says about a link becomes the two directions of a real one.

use longfat_queue::Capacity;
use longfat_scenario::{Link, Scenario, ScenarioError, chance};
use longfat_units::{Bytes, Rate, Span};

use crate::direction::{Direction, Parts};
use crate::marker::Marker;

/// Segments may arrive together within this time, which saves calls to the kernel.
const TOGETHER: Span = Span(100 * 1_000_000);

/// The share of a round trip by which the 99th percentile of packets may be late.
const LATE: u64 = 100;

/// Packets that Linux can carry over a TUN device and that leave room for headers.
const PACKETS: std::ops::RangeInclusive<u64> = 576..=65_535;

/// A link that can be made.
#[derive(Debug)]
pub struct Settings {
    link: Link,
    seed: u64,
    end: Span,
    /// The largest packet, in bytes.
    pub packet: Bytes,
}

/// Why there is no link.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The scenario is wrong.
    #[error("{0}")]
    Scenario(#[from] ScenarioError),
    /// There is not exactly one link.
    #[error("a real link is made from a scenario with exactly one link, and this one has {0}")]
    Links(usize),
    /// It uses something that only the simulator has.
    #[error("link `{link}` has {what}, which only the simulator can do: leave it out")]
    Unknown {
        /// The name of the link.
        link: String,
        /// What it uses.
        what: &'static str,
    },
    /// Packets of this size cannot be carried.
    #[error(
        "packets of {0} cannot be carried by a TUN device: choose a size from 576 B to 65535 B"
    )]
    Packet(Bytes),
}

impl Settings {
    /// Reads a scenario and takes its only link. `origin` is the name of the file in messages.
    ///
    /// # Errors
    /// If the scenario is wrong, or has no link that can be made.
    pub fn read(text: &str, origin: &str) -> Result<Self, SettingsError> {
        let scenario = Scenario::read(text, origin, &[], None)?;
        let packets = scenario.largest_packets();
        let ([link], [packet]) = (&scenario.links[..], &packets[..]) else {
            return Err(SettingsError::Links(scenario.links.len()));
        };
        for direction in [&link.forward, &link.reverse] {
            let unknown = [
                (direction.trace.is_some(), "a trace"),
                (!direction.impairments.are_none(), "impairments"),
            ];
            if let Some((_, what)) = unknown.into_iter().find(|(used, _)| *used) {
                return Err(SettingsError::Unknown { link: link.name.clone(), what });
            }
        }
        if !PACKETS.contains(&packet.0) {
            return Err(SettingsError::Packet(*packet));
        }
        let (link, seed, end) = (link.clone(), scenario.seed, scenario.duration);
        Ok(Self { link, seed, end, packet: *packet })
    }

    /// Does the forward direction tell data of spare capacity (AntiECN)?
    pub fn tells_spare(&self) -> bool {
        self.link.forward.anti_ecn.is_some()
    }

    /// The delays of both directions together, before any change.
    pub fn rtt(&self) -> Span {
        self.link.forward.delay + self.link.reverse.delay
    }

    /// The rate in the forward direction, before any change.
    pub fn rate(&self) -> Rate {
        self.link.forward.rate
    }

    /// The buffer and the queue of the forward direction, in words.
    pub fn told(&self) -> String {
        let direction = &self.link.forward;
        let buffer = match direction.buffer {
            Capacity::Packets(packets) => format!("{packets} packets"),
            Capacity::Bytes(bytes) => bytes.to_string(),
            Capacity::Unbounded => "unbounded".into(),
        };
        let loss =
            if direction.loss > 0.0 { format!(", loss {}", direction.loss) } else { String::new() };
        format!("buffer {buffer}, {}{loss}", direction.queue.kind())
    }

    /// How late the 99th percentile of packets may be before a measurement counts for nothing.
    pub fn bound(&self) -> Span {
        self.rtt() / LATE
    }

    /// What a window needs in order to fill wire and buffer of the forward direction.
    pub fn window(&self) -> Bytes {
        let direction = &self.link.forward;
        let product = direction.rate.bytes_in(self.rtt());
        let buffer = match direction.buffer {
            Capacity::Bytes(bytes) => bytes,
            Capacity::Packets(packets) => Bytes(packets.saturating_mul(self.packet.0)),
            Capacity::Unbounded => product,
        };
        Bytes(product.0.saturating_add(buffer.0))
    }

    /// The forward and the reverse direction.
    pub fn directions(&self) -> [Direction; 2] {
        [(false, "forward"), (true, "reverse")].map(|(reverse, name)| {
            let direction = self.link.direction(reverse);
            let site = direction.site(self.packet);
            // The streams of the simulator, so that queues draw the same numbers.
            let stream = |part: &str| {
                chance::stream(self.seed, &format!("link/{}/{name}/{part}", self.link.name))
            };
            let queue = (direction.queue.entry.build)(&direction.queue.settings, &site);
            Direction::new(Parts {
                queue: queue.into_queue(direction.buffer),
                known: site.rate,
                marker: direction.anti_ecn.map(|marker| Marker::new(marker, site.rate)),
                course: self.link.course(reverse, self.end),
                chance: stream("queue"),
                corruption: stream("corruption"),
                together: TOGETHER.min(self.rtt() / (4 * LATE)),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(link: &str, flow: &str) -> Result<Settings, SettingsError> {
        let text = format!(
            "duration = \"9 s\"\n[link.some]\nrate = \"100 Mbit/s\"\ndelay = \"10 ms\"\n{link}\n[[flow]]\n\
             name = \"flow\"\ncontrol = \"reno\"\npath = [\"some\"]\nrtt = \"40 ms\"\n{flow}"
        );
        Settings::read(&text, "test")
    }

    #[test]
    fn a_link_is_what_its_scenario_says() {
        let settings =
            read("buffer = \"100 packets\"", "packet = \"9000 B\"").expect("it is right");
        assert_eq!(settings.rate(), Rate(100_000_000));
        // The link's own delays, whatever else is on the path.
        assert_eq!(settings.rtt(), Span::from_millis(20));
        assert_eq!(settings.bound(), Span(200 * 1_000_000));
        assert_eq!(settings.packet, Bytes(9000));
        // A bandwidth-delay product of 250 kB, and 900 kB of buffer.
        assert_eq!(settings.window(), Bytes(1_150_000));
    }

    #[test]
    fn what_only_the_simulator_can_do_is_refused() {
        for (link, flow, told) in [
            ("jitter = { kind = \"gaussian\", most = \"1 ms\" }", "", "impairments"),
            ("", "packet = \"100 B\"", "choose a size"),
            ("delay = \"1 ms\"", "", "twice"),
            (
                "[link.more]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\nbuffer = \"9 packets\"",
                "",
                "has 2",
            ),
        ] {
            let error = read(link, flow).expect_err(told).to_string();
            assert!(error.contains(told), "{error} does not say `{told}`");
        }
    }
}
