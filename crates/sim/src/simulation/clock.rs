//! What happens when a timer runs out.

use longfat_units::Time;

use super::Simulation;
use crate::application::Order;
use crate::events::Timer;
use crate::flow::Source;
use crate::network::Network;

impl Simulation {
    /// Handles the next timer, which has run out.
    pub(super) fn run_out(&mut self) {
        let (_, timer) = self.timers.pop().expect("a timer was due");
        match timer {
            Timer::Start(flow) => {
                self.network.flows[flow as usize].begin(self.now);
                self.send(flow as usize, self.now);
            }
            Timer::Arrival(group) => self.arrive(group),
            Timer::Stop(flow) => {
                let flow = &mut self.network.flows[flow as usize];
                if let Some(sender) = flow.source.sender_mut() {
                    sender.stop();
                    flow.window_at_stop = Some(sender.measured().window_mean(self.now));
                }
            }
            Timer::Application(index) => {
                let Network { applications, audiences, .. } = &mut self.network;
                let application = &mut applications[index as usize];
                let audience = audiences[application.group].as_mut();
                application.act(self.now, audience.expect("it has one"), &mut self.orders);
                self.obey(index);
            }
            Timer::Retransmission(flow) => self.retransmission_timer(flow),
            Timer::Alarm(flow) => self.alarm(flow),
            Timer::DelayedAck(flow) => {
                let flow = &mut self.network.flows[flow as usize];
                if let Some(ack) = flow.receiver.on_delayed_ack(self.now) {
                    let (slot, time) = (flow.slots.back, self.now + flow.back.before);
                    flow.outlet.in_transit += 1;
                    self.put(slot, time, ack);
                }
            }
            Timer::Wire(port) => self.come_late(port as usize),
            Timer::Warmup => {
                let flows = self.network.flows.iter_mut();
                for sender in flows.filter_map(|flow| flow.source.sender_mut()) {
                    sender.begin_measuring(self.now);
                }
            }
            Timer::Sample => self.sample(),
        }
    }

    /// Does what an application wants.
    pub(super) fn obey(&mut self, index: u32) {
        let mut orders = std::mem::take(&mut self.orders);
        for order in orders.drain(..) {
            match order {
                Order::Wake(time) => self.timers.add(time, Timer::Application(index)),
                Order::Write { flow, segments } => {
                    let flow = flow as usize;
                    match &mut self.network.flows[flow].source {
                        Source::Windowed(sender) => sender.write(self.now, segments),
                        Source::Numbered(sender) => sender.write(self.now, segments),
                        Source::Traced(sender) => sender.write(self.now, segments),
                        Source::Idle(_) | Source::Bursts(_) => {}
                    }
                    self.send(flow, self.now);
                }
            }
        }
        self.orders = orders;
    }

    /// The retransmission timer is not moved at every acknowledgment: when it runs out it checks the deadline, and
    /// is set again if that is still ahead.
    fn retransmission_timer(&mut self, index: u32) {
        let flow = &mut self.network.flows[index as usize];
        let Some(sender) = flow.source.sender_mut() else { return };
        if flow.outlet.timer_at != self.now {
            return;
        }
        flow.outlet.timer_at = Time::NEVER;
        let due = sender.deadline() <= self.now;
        if due {
            sender.on_timeout(self.now);
        } else if sender.deadline() != Time::NEVER {
            flow.outlet.timer_at = sender.deadline();
            self.timers.add(flow.outlet.timer_at, Timer::Retransmission(index));
        }
        if due {
            self.send(index as usize, self.now);
        }
    }

    /// Calls a flow's controller at the time it asked for, if it still wants the call. If not, nothing depends on it: which
    /// of its wishes have a timer is a matter of how early acknowledgments were heard.
    fn alarm(&mut self, index: u32) {
        let flow = &mut self.network.flows[index as usize];
        let Some(sender) = flow.source.sender_mut() else { return };
        if flow.alarm_at != self.now {
            return;
        }
        flow.alarm_at = Time::NEVER;
        let due = sender.alarm() <= self.now;
        if due {
            sender.on_alarm(self.now);
            self.send(index as usize, self.now);
        } else {
            self.set_alarm(index as usize);
        }
    }

    /// Adds a row to every time series.
    fn sample(&mut self) {
        let Some(series) = &mut self.series else { return };
        for port in &mut self.network.ports {
            port.settle(self.now);
        }
        for (index, flow) in self.network.flows[..self.network.long].iter_mut().enumerate() {
            let received = flow.receiver.received_mut().at_edge();
            if let Some(sender) = flow.source.sender() {
                series.read(self.now, index, flow, sender, received, self.scenario.sample);
            }
        }
        let next = self.now.saturating_add(self.scenario.sample);
        self.timers.add(next, Timer::Sample);
    }

    /// A short flow arrives, and the next arrival is scheduled.
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

#[cfg(test)]
mod tests {
    use longfat_scenario::Scenario;
    use longfat_units::{Span, Time};

    use crate::events::Timer;
    use crate::options::Options;
    use crate::simulation::Simulation;

    /// Where the wait for a block is cut short and another one begins, the event that is set for the first one stays. The
    /// second wait is over before it, and an acknowledgment would make the sender send then. An alarm that nobody wants any
    /// more does not.
    #[test]
    fn an_alarm_that_nobody_wants_does_not_make_a_sender_send() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        // Ten segments in 220 ms, 2/ln 2 times as fast: one every 7.6 ms, and no acknowledgment before 220.
        let text = "duration = \"1 s\"\n[link.l]\nrate = \"8 Mbit/s\"\ndelay = \"3 ms\"\n\
             [[flow]]\nname = \"f\"\ncontrol = \"bbr1\"\npath = [\"l\"]\nrtt = \"220 ms\"";
        let scenario = Scenario::read(text, "asked.toml", &[], None).expect("a good scenario");
        let left_by = |time, event_at, alarm_at| {
            let options = Options::default().stepwise(true);
            let mut simulation = Simulation::with_options(&scenario, options);
            while simulation.network.flows[0].outlet.pace_at == Time::NEVER {
                simulation.advance(1);
            }
            let flow = &mut simulation.network.flows[0];
            (flow.outlet.pace_at, flow.alarm_at) = (event_at, alarm_at);
            simulation.timers.add(alarm_at, Timer::Alarm(0));
            let mut sent = 0;
            while simulation.now <= time {
                sent = simulation.fates().sent;
                simulation.advance(1);
            }
            sent
        };
        assert_eq!(left_by(at(10), at(12), at(9)), 1, "the alarm comes after its wait is over");
        assert_eq!(left_by(at(10), at(12), at(7)), 1, "it comes before");
        assert_eq!(left_by(at(12), at(12), at(9)), 2, "its event makes it send");
        assert_eq!(left_by(at(10), at(8), at(9)), 2, "at once");
    }
}
