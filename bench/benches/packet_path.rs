//! The packet path under criterion: a few simulated seconds of each kind of traffic.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use longfat_sim::{Scenario, Simulation};

const SCENARIOS: [(&str, &str); 3] = [
    ("three reno flows, drop tail", include_str!("../scenarios/three-reno-1G.toml")),
    ("two-way reno, drop tail", include_str!("../scenarios/two-way-reno-500M.toml")),
    ("random loss", include_str!("../scenarios/random-loss.toml")),
];

fn packet_path(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("packet path");
    group.sample_size(10);
    for (name, text) in SCENARIOS {
        let cut = ["duration=\"5 s\"".to_owned(), "warmup=\"1 s\"".to_owned()];
        let scenario = Scenario::read(text, name, &cut, None).expect("the scenario is right");
        let run = || {
            let mut simulation = Simulation::new(&scenario, false);
            while simulation.advance(1_000_000) {}
            simulation.finish().summary.engine.data_packets
        };
        group.throughput(Throughput::Elements(run()));
        group.bench_function(name, |bencher| bencher.iter(run));
    }
    group.finish();
}

criterion_group!(benches, packet_path);
criterion_main!(benches);
