//! All flows: whose report is whose.

use std::collections::BTreeMap;

use crate::{Choice, Decision, Host, News, Report, SLOTS};

/// The hosts of all flows, by their slots.
#[derive(Debug)]
pub struct Flows {
    choice: Choice,
    hosts: BTreeMap<u32, Host>,
    begun: u64,
}

impl Flows {
    /// No flow yet; each will have a controller of its own.
    pub fn new(choice: Choice) -> Self {
        Self { choice, hosts: BTreeMap::new(), begun: 0 }
    }

    /// How many flows there were.
    pub fn begun(&self) -> u64 {
        self.begun
    }

    /// How many flows there are.
    pub fn open(&self) -> usize {
        self.hosts.len()
    }

    /// A report has come; `now` is the time at which it is read, in nanoseconds of `CLOCK_MONOTONIC`. The decision
    /// belongs into the slot of the report.
    pub fn hear(&mut self, report: &Report, now: u64) -> Option<Decision> {
        if report.slot >= SLOTS {
            return None;
        }
        let host = self.hosts.get_mut(&report.slot);
        if report.news.has(News::ENDS) {
            if host.is_some_and(|host| host.generation() == report.generation) {
                self.hosts.remove(&report.slot);
            }
            return None;
        }
        match host {
            Some(host) if host.generation() == report.generation => host.hear(report, now),
            _ => {
                self.begun += 1;
                let host = Host::new(self.choice.clone(), report);
                let decision = host.decision(report);
                self.hosts.insert(report.slot, host);
                Some(decision)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begins(slot: u32, generation: u32) -> Report {
        Report {
            slot,
            generation,
            news: News::BEGINS,
            window: 10,
            threshold: crate::NO_THRESHOLD,
            payload: 1448,
            smoothed_us: 1000,
            ..Report::default()
        }
    }

    fn flows() -> Flows {
        Flows::new(Choice::read("reno").expect("it runs"))
    }

    #[test]
    fn each_flow_has_a_controller_of_its_own() {
        let mut flows = flows();
        for slot in [3, 5] {
            let decision = flows.hear(&begins(slot, 1), 0).expect("it is answered");
            assert_eq!((decision.window, decision.generation), (10, 1));
        }
        let grown = Report { acked: 10, news: News::default(), ..begins(3, 1) };
        assert_eq!(flows.hear(&grown, 0).map(|decision| decision.window), Some(20));
        let other = Report { acked: 1, news: News::default(), ..begins(5, 1) };
        assert_eq!(flows.hear(&other, 0).map(|decision| decision.window), Some(11));
        assert_eq!((flows.begun(), flows.open()), (2, 2));
    }

    #[test]
    fn a_slot_is_given_to_the_next_flow() {
        let mut flows = flows();
        flows.hear(&begins(0, 1), 0);
        // The next one is there before the last word of the one before was read.
        flows.hear(&Report { window: 4, ..begins(0, 3) }, 0);
        flows.hear(&Report { news: News::ENDS, ..begins(0, 1) }, 0);
        assert_eq!((flows.begun(), flows.open()), (2, 1));
        let grown = Report { acked: 2, news: News::default(), ..begins(0, 3) };
        assert_eq!(flows.hear(&grown, 0).map(|decision| decision.window), Some(6));
        flows.hear(&Report { news: News::ENDS, ..begins(0, 3) }, 0);
        assert_eq!((flows.begun(), flows.open()), (2, 0));
    }

    #[test]
    fn a_slot_that_does_not_exist_is_no_flow() {
        let mut flows = flows();
        assert_eq!(flows.hear(&begins(SLOTS, 1), 0), None);
        assert_eq!(flows.open(), 0);
    }
}
