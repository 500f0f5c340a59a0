//! Clients that play a video, and ask for it chunk by chunk.

use std::collections::VecDeque;

use longfat_scenario::{BitRateRule, Video};
use longfat_units::{Bytes, Rate, Span, Time};

use super::{Audience, Dialogue, Event, Exchange, segments};

/// FESTIVE (Jiang et al. 2012, section 4.3) takes the harmonic mean of the last 20 chunks.
const LATEST: usize = 20;

/// A client that plays a video.
///
/// It plays from the arrival of the first chunk on. When it has nothing left it stalls until the next one has come. It
/// asks for a chunk as soon as the last one has come and there is room for another.
#[derive(Debug)]
pub(super) struct Player {
    video: Video,
    packet: Bytes,
    start: Time,
    /// What it held at `as_of`, and whether it was playing then.
    level: Span,
    as_of: Time,
    playing: bool,
    /// Has it ever played?
    played: bool,
    /// The rung of the ladder asked for last.
    rung: usize,
    /// Times taken by the latest chunks per byte, in seconds.
    latest: VecDeque<f64>,
}

impl Player {
    pub(super) fn new(video: &Video, packet: Bytes, start: Time) -> Self {
        Self {
            video: video.clone(),
            packet,
            start,
            level: Span::ZERO,
            as_of: start,
            playing: false,
            played: false,
            rung: 0,
            latest: VecDeque::with_capacity(LATEST),
        }
    }

    /// Plays what it holds, and stalls if that is not enough.
    pub(super) fn play_until(&mut self, now: Time, audience: &mut Audience) {
        let passed = now.since(self.as_of);
        if self.playing && passed > self.level {
            let empty = self.as_of + self.level;
            audience.stall_begins(empty);
            self.playing = false;
            self.level = Span::ZERO;
            self.as_of = empty;
        }
        if self.playing {
            self.level = self.level - passed;
        } else if self.played {
            audience.stalled((self.as_of, now));
        }
        self.as_of = self.as_of.max(now);
    }

    /// Asks for the next chunk.
    pub(super) fn begin(&mut self, now: Time, dialogue: &mut Dialogue, audience: &mut Audience) {
        self.play_until(now, audience);
        let before = self.rung;
        self.rung = self.choose();
        if self.played {
            audience.chose(now, before != self.rung);
        }
        dialogue.ask(0, segments(self.chunk_bytes(), self.packet), now);
    }

    fn rate(&self) -> Rate {
        self.video.ladder[self.rung]
    }

    fn chunk_bytes(&self) -> u64 {
        self.rate().bytes_in(self.video.chunk).0
    }

    /// The rung of the next chunk.
    fn choose(&self) -> usize {
        let last = self.video.ladder.len() - 1;
        match self.video.rule {
            BitRateRule::Buffer { reservoir, cushion } => {
                self.choose_by_buffer(reservoir, cushion, last)
            }
            BitRateRule::Throughput { margin } => {
                if self.latest.is_empty() {
                    return 0;
                }
                // The harmonic mean of rates is the mean of times.
                let mean = self.latest.iter().sum::<f64>() / self.latest.len() as f64;
                let most = margin * 8.0 / mean;
                let below = self.video.ladder.partition_point(|rate| rate.0 as f64 <= most);
                below.saturating_sub(1)
            }
        }
    }

    /// Huang et al. 2014, algorithm 1: the rate changes only when the map from buffer to rate has passed the next one.
    fn choose_by_buffer(&self, reservoir: Span, cushion: Span, last: usize) -> usize {
        if self.level <= reservoir {
            return 0;
        }
        if self.level.0 >= reservoir.0.saturating_add(cushion.0) {
            return last;
        }
        let ladder = &self.video.ladder;
        let rate = |rung: usize| ladder[rung].0 as f64;
        let within = (self.level - reservoir).seconds() / cushion.seconds();
        let map = rate(0) + within * (rate(last) - rate(0));
        if map >= rate((self.rung + 1).min(last)) {
            ladder.partition_point(|rate| (rate.0 as f64) < map).saturating_sub(1)
        } else if map <= rate(self.rung.saturating_sub(1)) {
            ladder.partition_point(|rate| (rate.0 as f64) <= map).min(last)
        } else {
            self.rung
        }
    }

    /// A chunk has come. Returns when the next one is asked for.
    pub(super) fn answered(
        &mut self,
        now: Time,
        dialogue: &mut Dialogue,
        (audience, index): (&mut Audience, u64),
    ) -> (Time, Event) {
        self.play_until(now, audience);
        let connection = dialogue.connection(0);
        let (asked_at, bytes) = (connection.asked_at, self.packet * connection.response);
        if self.latest.len() == LATEST {
            self.latest.pop_front();
        }
        self.latest.push_back((now - asked_at).seconds() / bytes.0 as f64);
        if !self.played {
            audience.began_to_play(now, now - self.start);
        }
        self.level = Span(self.level.0.saturating_add(self.video.chunk.0));
        (self.playing, self.played) = (true, true);
        audience.exchanged(Exchange {
            bit_rate: Some(self.rate()),
            level: Some(self.level),
            ..Exchange::new(index, asked_at, now, bytes)
        });
        let room = self.video.buffer - self.video.chunk;
        let wait = Span(self.level.0.saturating_sub(room.0));
        (now.saturating_add(wait), Event::Begin)
    }
}
