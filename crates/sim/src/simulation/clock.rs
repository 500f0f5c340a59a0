//! What happens when a timer runs out.

use longfat_units::Time;

use super::Simulation;
use crate::events::Timer;

impl Simulation {
    /// The next timer has run out.
    pub(super) fn run_out(&mut self) {
        let (_, timer) = self.timers.pop().expect("a timer was due");
        match timer {
            Timer::Start(flow) => {
                self.network.flows[flow as usize].begin(self.now);
                self.send(flow as usize, self.now);
            }
            Timer::Arrival(group) => self.arrive(group),
            Timer::Stop(flow) => {
                if let Some(sender) = &mut self.network.flows[flow as usize].sender {
                    sender.stop();
                }
            }
            Timer::Retransmission(flow) => self.retransmission_timer(flow),
            Timer::DelayedAck(flow) => {
                let flow = &mut self.network.flows[flow as usize];
                if let Some(ack) = flow.receiver.on_delayed_ack(self.now) {
                    let (slot, time) = (flow.slots.back, self.now + flow.back.before);
                    flow.in_transit += 1;
                    self.put(slot, time, ack);
                }
            }
            Timer::Warmup => {
                for sender in self.network.flows.iter_mut().filter_map(|flow| flow.sender.as_mut())
                {
                    sender.begin_measuring(self.now);
                }
            }
            Timer::Sample => self.sample(),
        }
    }

    /// The retransmission timer is not moved at every acknowledgment: it runs out, looks at the deadline, and is
    /// set again if that lies ahead.
    fn retransmission_timer(&mut self, index: u32) {
        let flow = &mut self.network.flows[index as usize];
        let Some(sender) = &mut flow.sender else { return };
        if flow.timer_at != self.now {
            return;
        }
        flow.timer_at = Time::NEVER;
        let due = sender.deadline() <= self.now;
        if due {
            sender.on_timeout(self.now);
        } else if sender.deadline() != Time::NEVER {
            flow.timer_at = sender.deadline();
            self.timers.add(flow.timer_at, Timer::Retransmission(index));
        }
        if due {
            self.send(index as usize, self.now);
        }
    }

    /// Keeps a row of every time series.
    fn sample(&mut self) {
        let Some(series) = &mut self.series else { return };
        for link in &mut self.network.links {
            link.settle(self.now);
        }
        for (index, flow) in self.network.flows[..self.network.long].iter_mut().enumerate() {
            let received = flow.receiver.received_mut().at_edge();
            if let Some(sender) = &flow.sender {
                series.read(self.now, index, flow, sender, received, self.scenario.sample);
            }
        }
        let next = self.now.saturating_add(self.scenario.sample);
        self.timers.add(next, Timer::Sample);
    }

    /// A short flow arrives, and the next one is announced.
    fn arrive(&mut self, group: u32) {
        let now = self.now;
        let traffic = &mut self.network.traffic[group as usize];
        if let Some(next) = traffic.next_arrival(now) {
            self.timers.add(next, Timer::Arrival(group));
        }
        let flow = self.network.add_short(group as usize, now);
        self.heads.grow(self.network.pipes.len());
        self.network.flows[flow as usize].begin(now);
        self.send(flow as usize, self.now);
    }
}
