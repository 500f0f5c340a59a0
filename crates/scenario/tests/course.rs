//! Values that change in time.

use longfat_scenario::{Course, Step, Tidings};
use longfat_units::{Rate, Span, Time};

fn step(at: u64, over: u64, to: u64) -> Step<u64> {
    Step { at: Time(at), over: Span(over), to }
}

#[test]
fn a_value_jumps_and_climbs() {
    let course = Course::new(10, vec![step(300, 100, 30), step(100, 0, 20)]);
    let values = [0, 99, 100, 300, 325, 350, 400, 9000].map(|at| course.value(Time(at)));
    assert_eq!(values, [10, 10, 20, 20, 22, 25, 30, 30]);
    assert_eq!((course.least(), course.greatest(), course.is_constant()), (10, 30, false));
}

#[test]
fn a_ramp_that_is_cut_off_goes_no_further() {
    let course = Course::new(0, vec![step(0, 100, 100), step(50, 50, 0)]);
    let values = [0, 25, 50, 75, 100].map(|at| course.value(Time(at)));
    assert_eq!(values, [0, 25, 50, 25, 0]);
    assert_eq!(course.greatest(), 50);
}

#[test]
fn a_jump_and_a_ramp_at_the_same_time_make_a_sawtooth() {
    let course = Course::new(9, vec![step(10, 0, 1), step(10, 10, 11)]);
    assert_eq!([9, 10, 15, 20].map(|at| course.value(Time(at))), [9, 1, 6, 11]);
}

#[test]
fn the_steps_of_a_ramp_carry_what_the_line_carries() {
    // From 0 to 1000 in 1000 ps: the first of a hundred steps has the value at 5 ps, and the sum is half of 10^6.
    let course = Course::new(0, vec![step(0, 1000, 1000)]);
    assert_eq!(course.step(&mut 0, Time(0)), (5, Time(10)));
    assert_eq!(course.step(&mut 0, Time(999)), (995, Time(1000)));
    assert_eq!(course.integral(Time(0), Time(1000)), 500_000);
    assert_eq!(course.integral(Time(1000), Time(1010)), 10_000);
}

#[test]
fn every_new_rate_is_told_once_and_an_outage_is_none() {
    // 80 until 100, nothing until 200, 80 again; 20 from 300 on, said twice; a ramp of a hundred steps to 120.
    let steps = [(100, 0, 0), (200, 0, 80), (300, 0, 20), (350, 0, 20), (400, 100, 120)];
    let course = Course::new(80, steps.map(|(at, over, to)| step(at, over, to)).to_vec());
    let told = |most: Option<Rate>, looks: &[u64]| -> Vec<(u64, u64)> {
        let known = Rate(80).min(most.unwrap_or(Rate(80)));
        let mut tidings = Tidings::new(known, most);
        let by =
            |&now: &u64| std::iter::from_fn(|| tidings.by(Time(now), &course)).collect::<Vec<_>>();
        looks.iter().flat_map(by).map(|(at, rate)| (at.0, rate.0)).collect()
    };
    let all = told(None, &[9999]);
    assert_eq!(all[0], (300, 20));
    // Their middles, rounded down, from 20.5 to 119.5, of which the first is no news; and the end.
    let ramp: Vec<_> = (1..=100).map(|step| (400 + step, 20 + step)).collect();
    assert_eq!(all[1..], ramp);
    assert_eq!(told(None, &[0, 299, 300, 300, 405, 450, 451, 9999]), all, "however often");
    assert_eq!(told(Some(Rate(22)), &[9999]), [(300, 20), (401, 21), (402, 22)]);
    assert_eq!(told(None, &[299]), []);
}
