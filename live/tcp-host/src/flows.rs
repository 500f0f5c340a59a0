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
