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

#[cfg(test)]
mod tests {
    use longfat_scenario::{Application, Scenario};

    use super::super::Connection;
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// A player of chunks of a second at 1, 2, 4 and 9 Mbit/s in packets of 1000 bytes, from 1 s on; and its audience, from
    /// the beginning until 100 s.
    fn player(rest: &str) -> (Player, Audience) {
        let text = format!(
            "duration = \"100 s\"\n[link.l]\nrate = \"8 Mbit/s\"\ndelay = \"1 ms\"\n[[flow]]\nname = \"f\"\n\
             control = \"reno\"\npath = [\"l\"]\nrtt = \"2 ms\"\npacket = \"1000 B\"\napplication = {{ kind = \"video\", \
             chunk = \"1 s\", ladder = [\"1 Mbit/s\", \"2 Mbit/s\", \"4 Mbit/s\", \"9 Mbit/s\"], buffer = \"12 s\", {rest} }}"
        );
        let scenario = Scenario::read(&text, "player.toml", &[], None).expect("it is right");
        let what = scenario.flows[0].application.clone().expect("it has one");
        let Application::Video(video) = &what else { panic!("{what:?}") };
        let player = Player::new(video, Bytes(1000), at(1000));
        (player, Audience::new(what, 1, (Time::ZERO, at(100_000))))
    }

    /// A connection on which this many segments were asked for then.
    fn asked(segments: u64, millis: u64) -> Dialogue {
        let it = Connection { response: segments, asked_at: at(millis), ..Connection::default() };
        Dialogue { request: 1, connections: vec![it], asked: Vec::new() }
    }

    /// The map goes up by 1 Mbit/s with each second above two, from 1 to 9. Huang et al. 2014, algorithm 1: once it has
    /// reached the rate above, the highest one below it; once it is down at the rate below, the lowest one above it.
    #[test]
    fn a_rate_is_kept_until_the_map_has_passed_the_next_one() {
        let (mut player, _) = player("reservoir = \"2 s\", cushion = \"8 s\"");
        for (rung, millis, next) in [
            (0, 2_000, 0),
            (0, 2_900, 0),
            (0, 3_100, 1),
            (0, 5_000, 1),
            (0, 5_100, 2),
            (0, 9_900, 2),
            (0, 10_000, 3),
            (1, 2_100, 1),
            (1, 4_900, 1),
            (1, 5_100, 2),
            (2, 3_100, 2),
            (2, 2_900, 1),
            (3, 5_100, 3),
            (3, 4_900, 2),
            (3, 3_000, 2),
            (3, 2_900, 1),
            (3, 2_000, 0),
        ] {
            (player.rung, player.level) = (rung, Span::from_millis(millis));
            assert_eq!(player.choose(), next, "from {rung} with {millis} ms");
        }
    }

    /// Half of the harmonic mean: a second of video at 1 Mbit/s is 125 packets.
    #[test]
    fn a_client_that_goes_by_throughput_looks_at_the_last_twenty_chunks() {
        let (mut player, mut audience) = player("rule = \"throughput\", margin = 0.5");
        assert_eq!(player.choose(), 0, "nothing is known yet");
        let mut answer = |player: &mut Player, millis| {
            let end = player.as_of + Span::from_millis(millis);
            let mut dialogue = asked(125, (player.as_of.0) / 1_000_000_000);
            player.answered(end, &mut dialogue, (&mut audience, 0));
        };
        // A chunk in 500 ms is 2 Mbit/s; one more in 100 ms makes it 2 Mbit in 600 ms: 3.33 Mbit/s.
        for (millis, rung) in [(500, 0), (100, 0)] {
            answer(&mut player, millis);
            assert_eq!(player.choose(), rung);
        }
        // A third: 3 Mbit in 700 ms, and a fourth: 4 Mbit in 800, 5 Mbit/s.
        for rung in [1, 1] {
            answer(&mut player, 100);
            assert_eq!(player.choose(), rung);
        }
        // With sixteen more, 20 Mbit in 2.4 s: 8.33 Mbit/s. The next one takes the place of the first: 10 Mbit/s.
        for _ in 0..16 {
            answer(&mut player, 100);
        }
        assert_eq!(player.choose(), 2);
        let mean = |player: &Player| player.latest.iter().sum::<f64>() / player.latest.len() as f64;
        assert!((mean(&player) * 125_000.0 - 0.12).abs() < 1e-12);
        answer(&mut player, 100);
        assert!((mean(&player) * 125_000.0 - 0.1).abs() < 1e-12);
        assert_eq!(player.latest.len(), LATEST);
    }

    /// The first chunk comes at 3 s, two seconds after the start, and the next one just as it has been played, at 4 s. The
    /// third is half a second late, and the run ends 250 ms after that has been played.
    #[test]
    fn a_player_stalls_from_the_end_of_what_it_holds_until_more_comes() {
        let (mut player, mut audience) = player("rule = \"throughput\"");
        let mut come = |player: &mut Player, millis| {
            player.answered(at(millis), &mut asked(125, millis - 100), (&mut audience, 0)).0
        };
        assert_eq!(come(&mut player, 3_000), at(3_000), "there is room");
        assert_eq!(come(&mut player, 4_000), at(4_000));
        assert_eq!(player.level, Span::from_millis(1000));
        assert_eq!(come(&mut player, 5_500), at(5_500));
        player.play_until(at(6_750), &mut audience);
        let told = audience.told(Bytes(0));
        assert_eq!((&told["stalls"], &told["startup_s"]["mean"]), (&2.into(), &2.0.into()));
        assert_eq!(told["stalled"], 0.0075);
    }

    /// Of twelve seconds it holds eleven and a half when a chunk has come: it waits until there is room for another.
    #[test]
    fn a_full_player_waits_for_room() {
        let (mut player, mut audience) = player("rule = \"throughput\"");
        (player.playing, player.played, player.as_of) = (true, true, at(20_000));
        player.level = Span::from_millis(10_750);
        let (next, event) =
            player.answered(at(20_250), &mut asked(125, 20_000), (&mut audience, 0));
        assert_eq!((next, event), (at(20_750), Event::Begin));
        assert_eq!(player.level, Span::from_millis(11_500));
    }

    /// It holds a second from 4 s on, and is looked at again when the measured interval has begun at 10 s.
    #[test]
    fn a_stall_counts_where_it_begins_and_its_time_where_it_passes() {
        let (mut player, _) = player("rule = \"throughput\"");
        let what = Application::Video(player.video.clone());
        let mut audience = Audience::new(what, 1, (at(10_000), at(30_000)));
        player.answered(at(4_000), &mut asked(125, 3_900), (&mut audience, 0));
        player.answered(at(12_000), &mut asked(125, 11_900), (&mut audience, 0));
        player.play_until(at(14_000), &mut audience);
        let told = audience.told(Bytes(0));
        assert_eq!((&told["stalls"], &told["stalled"]), (&1.into(), &0.15.into()));
    }
}
