//! What feeds a link, and which links can be given their arrivals early.
//!
//! If a link receives only acknowledgments, all of data that left the same other link the same delay earlier, they
//! arrive in the order in which that data left. Nothing can come in between, so the link is given each of them as soon
//! as the departure of its data is known, and no acknowledgment needs an event of its own. Flows with the same round
//! trip through one link, all in the same direction, are such a case.

use longfat_units::Span;

use crate::flow::Route;
use crate::network::Network;
use crate::traffic::Traffic;

/// What reaches a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feed {
    /// Nothing so far.
    Nothing,
    /// Acknowledgments of data that left this link, this long afterwards.
    Acknowledgments(usize, Span),
    /// Anything else: the order of arrivals is not known in advance.
    Mixed,
}

impl Feed {
    /// The two feeds combined.
    fn and(self, more: Self) -> Self {
        if self == Self::Nothing || self == more { more } else { Self::Mixed }
    }
}

/// Lets flows hand acknowledgments early to the first link of their way back, wherever that changes no result.
pub(crate) fn tell_links_early(network: &mut Network) {
    let feeds = feeds(network);
    for flow in &mut network.flows {
        flow.returns_early = matches!(feeds[flow.back.ports[0]], Feed::Acknowledgments(..));
    }
}

fn feeds(network: &Network) -> Vec<Feed> {
    // Departures that are events are not known in advance, and the place of a short flow is reused by later ones.
    let mut feeds: Vec<Feed> = network
        .ports
        .iter()
        .map(|link| if link.has_departures() { Feed::Mixed } else { Feed::Nothing })
        .collect();
    for link in network.traffic.iter().flat_map(Traffic::routes).flat_map(Route::ports) {
        feeds[link] = Feed::Mixed;
    }
    for flow in &network.flows {
        let (out, back) = (&flow.out, &flow.back);
        let (turn, further) = back.ports.split_first().expect("a path has a link");
        for &link in out.ports.iter().chain(further) {
            feeds[link] = Feed::Mixed;
        }
        let last = *out.ports.last().expect("a path has a link");
        // A link that changes may let packets of different flows arrive at once.
        let at_once = network.ports[last].is_varying();
        feeds[*turn] = feeds[*turn].and(if flow.receiver.may_delay() || at_once {
            Feed::Mixed
        } else {
            Feed::Acknowledgments(last, out.after + back.before)
        });
    }
    feeds
}

#[cfg(test)]
mod tests {
    use longfat_scenario::Scenario;

    use crate::options::Options;
    use crate::simulation::Simulation;

    const FLOWS: &str = r#"
        [[flow]]
        name = "a"
        control = "reno"
        count = 3
        path = ["first", "second"]
        rtt = "40 ms"
        [[flow]]
        name = "b"
        control = "hstcp"
        path = ["first", "second"]
        rtt = "40 ms"
        packet = "576 B"
    "#;

    /// Which flows hand acknowledgments early to the first link of their way back.
    fn early(links: &str, flows: &str, stepwise: bool) -> Vec<bool> {
        let text = format!(
            "duration = \"1 s\"\n[link.first]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n\
             [link.second]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n{links}\n{flows}"
        );
        let scenario = Scenario::read(&text, "early.toml", &[], None).expect("a good scenario");
        let simulation = Simulation::with_options(&scenario, Options::default().stepwise(stepwise));
        simulation.network.flows.iter().map(|flow| flow.returns_early).collect()
    }

    #[test]
    fn flows_of_one_round_trip_the_same_way_tell_links_early() {
        assert_eq!(early("", FLOWS, false), [true; 4]);
        assert_eq!(early("", FLOWS, true), [false; 4], "packet by packet, no flow does");
    }

    #[test]
    fn what_mixes_the_order_forbids_it() {
        let other_rtt = FLOWS.replacen("40 ms", "41 ms", 1);
        assert_eq!(early("", &other_rtt, false), [false; 4]);
        let delayed = format!("{FLOWS}delayed_ack = true");
        assert_eq!(early("", &delayed, false), [false; 4]);
        let kept = early("reverse = { rate = \"1 Mbit/s\", queue = \"pushout\" }", FLOWS, false);
        assert_eq!(kept, [false; 4], "departures are events");
        let change =
            "[[link.second.change]]\nat = \"100 ms\"\nrate = \"2 Mbit/s\"\nreverse = false";
        assert_eq!(early(change, FLOWS, false), [false; 4], "two packets may arrive at once");
    }

    #[test]
    fn only_the_links_that_others_use_hear_late() {
        let other = |path: &str, reverse: bool| {
            format!(
                "{FLOWS}\n[[flow]]\nname = \"c\"\ncontrol = \"reno\"\npath = [\"{path}\"]\nrtt = \"40 ms\"\n\
                 reverse = {reverse}"
            )
        };
        // Acknowledgments of `a` and `b` first reach the second link. Those of `c` first reach the first, which the
        // others cross as well.
        assert_eq!(early("", &other("first", false), false), [true, true, true, true, false]);
        // The acknowledgments of `c` follow data from the second link, but after a different delay.
        assert_eq!(early("", &other("second", false), false), [false; 5]);
        // The data of `c` takes the others' way back, and its acknowledgments their way out.
        assert_eq!(early("", &other("second", true), false), [false; 5]);
        let traffic = format!(
            "{FLOWS}\n[[traffic]]\nname = \"web\"\ncontrol = \"reno\"\npath = [\"second\"]\nrtt = \"40 ms\"\n\
             arrivals = {{ poisson = \"1 /s\" }}\nsize = \"9 packets\""
        );
        assert_eq!(early("", &traffic, false), [false; 4]);
    }
}
