//! Clients that ask for pages of one object or more.

use longfat_scenario::chance::Stream;
use longfat_scenario::{Application, Interval, Objects, Size};
use longfat_units::{Bytes, Time};

use super::{Audience, Dialogue, Event, Exchange, segments};
use crate::draw;

/// A client that asks for a page, and some time after it has come for the next one.
///
/// The first object of a page is asked for alone, on the first connection. The others are asked for once it has come,
/// in their order, each on the first connection that is free: as browsers do with HTTP/1.1 (RFC 9112, section 9.4).
#[derive(Debug)]
pub(super) struct Browser {
    objects: Objects,
    object: Size,
    think: Interval,
    packet: Bytes,
    /// The objects of the page, in segments; how many have been asked for, and how many have come.
    page: Vec<u64>,
    asked: usize,
    come: usize,
    begun: Time,
}

impl Browser {
    pub(super) fn new(what: &Application, packet: Bytes) -> Self {
        let (objects, object, think) = match *what {
            Application::RequestResponse { response, think, .. } => {
                (Objects::Fixed(1), response, think)
            }
            Application::Web { objects, object, think, .. } => (objects, object, think),
            _ => unreachable!("others have no pages"),
        };
        let begun = Time::ZERO;
        Self { objects, object, think, packet, page: Vec::new(), asked: 0, come: 0, begun }
    }

    /// Asks for a page. What it consists of is drawn at once, so that it does not depend on the network.
    pub(super) fn begin(&mut self, now: Time, dialogue: &mut Dialogue, chance: &mut Stream) {
        let count = draw::objects(self.objects, chance);
        self.page.clear();
        for _ in 0..count {
            self.page.push(segments(draw::size(&self.object, chance), self.packet));
        }
        (self.begun, self.asked, self.come) = (now, 0, 0);
        self.ask(0, now, dialogue);
    }

    /// Asks for the next object, if there is one.
    fn ask(&mut self, connection: u32, now: Time, dialogue: &mut Dialogue) {
        if let Some(&object) = self.page.get(self.asked) {
            dialogue.ask(connection, object, now);
            self.asked += 1;
        }
    }

    /// An object has come. Returns when the next page begins, if that was the last one.
    pub(super) fn answered(
        &mut self,
        connection: u32,
        now: Time,
        (dialogue, chance): (&mut Dialogue, &mut Stream),
        (audience, index): (&mut Audience, u64),
    ) -> Option<(Time, Event)> {
        self.come += 1;
        if self.come == 1 {
            for connection in 0..dialogue.count() {
                self.ask(connection, now, dialogue);
            }
        } else {
            self.ask(connection, now, dialogue);
        }
        if self.come < self.page.len() {
            return None;
        }
        let bytes = self.packet * self.page.iter().sum::<u64>();
        audience.exchanged(Exchange::new(index, self.begun, now, bytes));
        Some((now.saturating_add(draw::interval(&self.think, chance)), Event::Begin))
    }
}
