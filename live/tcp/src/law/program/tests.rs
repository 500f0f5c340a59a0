//! The kernel computes what `longfat-tcp-tables` computes, and its shell does what [`longfat_control::Windowed`] does.
//!
//! These tests ask the kernel itself, and so do nothing where there is none that would answer.

use libbpf_rs::ProgramInput;
use longfat_control::{
    CONTROLLERS, Cause, Congestion, CongestionControl, Feedback, Path, Phase, Start,
};
use longfat_tcp_host::Choice;
use longfat_tcp_tables::{Fixed, LARGEST, LawTable, ONE, tabulated, to_fixed, to_real};
use longfat_units::{Segments, Span, Time};

use super::*;

const RTT: Span = Span::from_millis(40);
const MICROS: f64 = 40_000.0;

/// `struct trial`, in numbers of eight bytes.
const WINDOW: usize = 0;
const THRESHOLD: usize = 1;
const EPOCH: usize = 2;
const ROUND_TRIP: usize = 3;
/// How many are acknowledged, or were in flight; and what has happened.
const EVENT: usize = 4;
const GAIN: usize = 5;
const RISE: usize = 6;
const TAKEN: usize = 7;
const WORDS: usize = 11;

/// The kernel with a law, if it takes one.
struct Kernel(LawProgram);

impl Kernel {
    fn with(table: &LawTable) -> Option<Self> {
        match LawProgram::load(&table.image(), "longfat_trial", "a trial") {
            Ok(program) => Some(Self(program)),
            Err(
                error @ (KernelError::Old(_) | KernelError::NoTypes | KernelError::Privileges(_)),
            ) => {
                eprintln!("not tried: {error}");
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    fn asked(&self, words: &mut [u64; WORDS]) {
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let program = self.0.object.progs_mut();
        let program = program.into_iter().find(|program| program.name() == TRIAL);
        let input = ProgramInput { context_in: Some(&mut bytes), ..ProgramInput::default() };
        program.expect("it is loaded in tests").test_run(input).expect("the kernel runs it");
        let (read, _) = bytes.as_chunks::<8>();
        for (word, bytes) in words.iter_mut().zip(read) {
            *word = u64::from_ne_bytes(*bytes);
        }
    }
}

/// The ten controllers that have a table with their defaults; `longfat-tcp-tables` tests which.
fn offered() -> Vec<(&'static str, LawTable)> {
    let table = |name: &str| tabulated(&Choice::read(name).ok()?).ok();
    let offered: Vec<_> = CONTROLLERS
        .iter()
        .filter_map(|control| Some((&*control.name, table(&control.name)?)))
        .collect();
    assert_eq!(offered.len(), 10);
    offered
}

/// Numbers without any order, the same each time: multiples of an odd one.
fn drawn(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

#[test]
fn the_kernel_computes_what_the_table_does() {
    for (name, table) in offered() {
        let Some(kernel) = Kernel::with(&table) else { return };
        for number in 0..400 {
            let any = |each: u64| drawn(3 * number + each) >> (drawn(number + each) % 64);
            let window = (any(0) | ONE).min(LARGEST);
            let epoch = (any(1) | ONE).min(LARGEST);
            let mut words = [0; WORDS];
            (words[WINDOW], words[EPOCH], words[ROUND_TRIP]) = (window, epoch, any(2));
            kernel.asked(&mut words);
            assert_eq!(
                words[GAIN],
                table.gain(window, epoch, any(2)),
                "{name} at {window} {epoch}"
            );
            assert_eq!(words[RISE], table.rise(window), "{name} at {window}");
            let taken = [
                (Phase::CongestionAvoidance, Cause::Loss),
                (Phase::CongestionAvoidance, Cause::Mark),
                (Phase::SlowStart, Cause::Loss),
                (Phase::SlowStart, Cause::Mark),
            ];
            for (word, (phase, cause)) in words[TAKEN..].iter().zip(taken) {
                assert_eq!(*word, table.taken(window, phase, cause), "{name} at {window}");
            }
        }
    }
}

/// The controller of the simulator and the shell in the kernel hear of the same events.
struct Twins {
    kernel: Kernel,
    words: [u64; WORDS],
    control: Box<dyn CongestionControl>,
    now: Time,
}

impl Twins {
    fn new(name: &str, table: &LawTable) -> Option<Self> {
        let kernel = Kernel::with(table)?;
        let entry = CONTROLLERS.iter().find(|entry| entry.name == name).expect("there is one");
        let sending = (entry.build)(&entry.defaults(), &Start::default());
        let control = sending.windowed().expect("it is a law");
        let mut words = [0; WORDS];
        (words[WINDOW], words[THRESHOLD], words[ROUND_TRIP]) =
            (10 * ONE, 1 << 62, to_fixed(MICROS));
        Some(Self { kernel, words, control, now: Time::ZERO })
    }

    fn kernel(&mut self, acked: u64, event: u64) {
        self.words[EVENT] = acked | event << 32;
        self.kernel.asked(&mut self.words);
    }

    fn acked(&mut self, acked: u64) {
        self.now += Span::from_millis(1);
        let path = Path { rtt: RTT, base_rtt: RTT };
        self.control.on_feedback(&Feedback::at(self.now, acked), &path);
        self.kernel(acked, 0);
    }

    fn congested(&mut self, cause: Cause, in_flight: u64) {
        self.now += RTT;
        let path = Path { rtt: RTT, base_rtt: RTT };
        let event = Congestion { now: self.now, cause, in_flight, again: false };
        self.control.on_congestion(&event, &path);
        let number = match cause {
            Cause::Loss => 1,
            Cause::Mark => 2,
            Cause::Timeout => 3,
        };
        self.kernel(in_flight, number);
    }

    /// Windows and thresholds are the same within half a percent.
    fn agree(&self, name: &str) {
        let near = |found: Fixed, expected: Segments| {
            let found = to_real(found);
            let off = (found / expected.0 - 1.0).abs();
            assert!(off < 0.005, "{name}: {found} in the kernel, {} in the simulator", expected.0);
        };
        near(self.words[WINDOW], self.control.window());
        match self.control.threshold() {
            Some(threshold) => near(self.words[THRESHOLD], threshold),
            None => assert_eq!(self.words[THRESHOLD], 1 << 62),
        }
    }
}

#[test]
fn flows_in_the_kernel_do_as_in_the_simulator() {
    for (name, table) in offered() {
        let Some(mut twins) = Twins::new(name, &table) else { return };
        for number in 0..2500 {
            let window = twins.control.window().0;
            match drawn(number) % 400 {
                0 | 1 => twins.congested(Cause::Loss, window as u64),
                2 => twins.congested(Cause::Mark, window as u64),
                // Rarely: a time-out takes all of the window.
                3 if number > 1500 => twins.congested(Cause::Timeout, window as u64),
                _ => twins.acked(1 + drawn(number + 1) % (1 + (window / 16.0) as u64)),
            }
            twins.agree(name);
        }
    }
}

#[test]
fn names_of_congestion_controls_are_short_and_each_its_own() {
    let names: std::collections::BTreeSet<String> =
        CONTROLLERS.iter().map(|entry| congestion(&entry.name)).collect();
    assert_eq!(names.len(), CONTROLLERS.len());
    assert!(names.iter().all(|name| name.len() <= LONGEST && !name.contains('-')), "{names:?}");
    assert!(names.contains("longfat_exp") && names.contains("longfat_cw_hstc"), "{names:?}");
}
