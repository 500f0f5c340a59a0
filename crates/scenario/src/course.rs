//! A value that changes in time: steps and ramps.

use longfat_units::{Rate, Span, Time};

/// Into how many steps of equal length a ramp is cut where an integer rate is needed ([`Course::step`]). Each step has
/// the value of its middle, so that the ramp as a whole carries exactly what the straight line would, and no moment is
/// off by more than 1/200 of the change.
const STEPS: u64 = 100;

/// A value of which the middle between two others makes sense.
pub trait Between: Copy + PartialOrd {
    /// The point `part`/`whole` of the way from `from` to `to`.
    fn between(from: Self, to: Self, part: u64, whole: u64) -> Self;
}

impl Between for u64 {
    fn between(from: Self, to: Self, part: u64, whole: u64) -> Self {
        let distance = |span: u64| (u128::from(span) * u128::from(part) / u128::from(whole)) as u64;
        if to >= from { from + distance(to - from) } else { from - distance(from - to) }
    }
}

impl Between for f64 {
    fn between(from: Self, to: Self, part: u64, whole: u64) -> Self {
        from + (to - from) * (part as f64 / whole as f64)
    }
}

/// What a value is at any time: constant, then steps and ramps, each from wherever the one before it has got to.
#[derive(Clone, Debug, PartialEq)]
pub struct Course<T> {
    /// In order of time, no two at the same; the first at zero.
    pieces: Vec<Piece<T>>,
}

/// From `at` on the value goes from `from` to `to`, for as long as `over`, and then stays there.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece<T> {
    at: Time,
    over: Span,
    from: T,
    to: T,
}

/// One change of a value: when it begins, how long it takes, and where it leads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step<T> {
    /// When it begins.
    pub at: Time,
    /// How long it takes; zero for a jump.
    pub over: Span,
    /// The value at its end.
    pub to: T,
}

impl<T: Between> Piece<T> {
    fn value(&self, now: Time) -> T {
        let passed = now.since(self.at);
        if passed >= self.over {
            self.to
        } else {
            T::between(self.from, self.to, passed.0, self.over.0)
        }
    }
}

impl<T: Between> Course<T> {
    /// `initial`, then `steps`. Of two that begin together the later one in the list begins where the other has got to.
    pub fn new(initial: T, mut steps: Vec<Step<T>>) -> Self {
        steps.sort_by_key(|step| step.at);
        let first = Piece { at: Time::ZERO, over: Span::ZERO, from: initial, to: initial };
        let mut pieces = Vec::with_capacity(steps.len() + 1);
        pieces.push(first);
        for Step { at, over, to } in steps {
            let last = *pieces.last().expect("the first is there");
            if last.at == at {
                pieces.pop();
            }
            pieces.push(Piece { at, over, from: last.value(at), to });
        }
        Self { pieces }
    }

    /// Is it the same at all times?
    pub fn is_constant(&self) -> bool {
        let first = self.pieces[0].from;
        self.pieces.iter().all(|piece| piece.from == first && piece.to == first)
    }

    /// How many pieces it has.
    pub fn pieces(&self) -> usize {
        self.pieces.len()
    }

    /// The value at `now`.
    pub fn value(&self, now: Time) -> T {
        self.pieces[self.find(now)].value(now)
    }

    /// The smallest value that it reaches.
    pub fn least(&self) -> T {
        self.ends()
            .reduce(|one, other| if other < one { other } else { one })
            .expect("there is a piece")
    }

    /// The largest value that it reaches.
    pub fn greatest(&self) -> T {
        self.ends()
            .reduce(|one, other| if other > one { other } else { one })
            .expect("there is a piece")
    }

    /// The values at which pieces begin and end.
    fn ends(&self) -> impl Iterator<Item = T> {
        let ends = self.pieces.iter().skip(1).map(|piece| Some(piece.at)).chain([None]);
        self.pieces.iter().zip(ends).flat_map(|(piece, end)| {
            [piece.value(piece.at), end.map_or(piece.to, |end| piece.value(end))]
        })
    }

    /// The piece that holds at `now`.
    fn find(&self, now: Time) -> usize {
        self.pieces.partition_point(|piece| piece.at <= now) - 1
    }
}

impl Course<u64> {
    /// The value at `now` as a step function, and until when it holds; a ramp is a hundred steps, each with the
    /// value of its middle. `piece` is where the last call left off, at an earlier time: zero at first.
    pub fn step(&self, piece: &mut usize, now: Time) -> (u64, Time) {
        while self.pieces.get(*piece + 1).is_some_and(|next| next.at <= now) {
            *piece += 1;
        }
        let Piece { at, over, from, to } = self.pieces[*piece];
        let next = self.pieces.get(*piece + 1).map_or(Time::NEVER, |next| next.at);
        let passed = now.since(at);
        if passed >= over {
            return (to, next);
        }
        let whole = u128::from(over.0);
        let step = (u128::from(passed.0) * u128::from(STEPS) / whole) as u64;
        let ends = (whole * u128::from(step + 1)).div_ceil(u128::from(STEPS)) as u64;
        (u64::between(from, to, 2 * step + 1, 2 * STEPS), next.min(at.saturating_add(Span(ends))))
    }

    /// Its integral over time in picoseconds, from one instant to another.
    pub fn integral(&self, from: Time, until: Time) -> u128 {
        let (mut now, mut piece, mut sum) = (from, self.find(from), 0);
        while now < until {
            let (value, holds) = self.step(&mut piece, now);
            let end = holds.min(until);
            sum += u128::from(value) * u128::from((end - now).0);
            now = end;
        }
        sum
    }
}

/// What the queue of a link is told of a rate that changes: each new one but zero, once, and when it begins.
#[derive(Clone, Debug)]
pub struct Tidings {
    piece: usize,
    /// When the next step of the rate begins.
    next: Time,
    told: Rate,
    most: Rate,
}

impl Tidings {
    /// For a queue that knows of the rate `known`, behind which no more than `most` passes.
    pub fn new(known: Rate, most: Option<Rate>) -> Self {
        Self { piece: 0, next: Time::ZERO, told: known, most: most.unwrap_or(Rate(u64::MAX)) }
    }

    /// The next change that has begun by `now`, if there is one that has not been told yet.
    #[inline]
    pub fn by(&mut self, now: Time, rate: &Course<u64>) -> Option<(Time, Rate)> {
        if self.next > now { None } else { self.look(now, rate) }
    }

    #[cold]
    fn look(&mut self, now: Time, rate: &Course<u64>) -> Option<(Time, Rate)> {
        while self.next <= now {
            let begins = self.next;
            let (rate, ends) = rate.step(&mut self.piece, begins);
            self.next = ends;
            let rate = Rate(rate).min(self.most);
            if rate.0 > 0 && rate != self.told {
                self.told = rate;
                return Some((begins, rate));
            }
        }
        None
    }
}
