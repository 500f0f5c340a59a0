//! Disciplines as scenarios name them.

/// The discipline called `name`, set so that it acts within a second at a few megabits per second.
pub(crate) fn acting(name: &str) -> String {
    match early(name) {
        "" => format!("\"{name}\""),
        parameters => format!("{{ kind = \"{name}\", {parameters} }}"),
    }
}

/// The parameters that make it do so.
pub(crate) fn early(name: &str) -> &'static str {
    match name {
        "red" => "min = \"0.1 buffer\", max = \"0.5 buffer\"",
        "avq" => "alpha = \"5 /s\", limit = \"1 buffer\"",
        "rem" => "gamma = 0.1, target = \"0.3 buffer\", interval = \"3 ms\"",
        "cake" => "queues = 8, quantum = 900, target = \"4 ms\", interval = \"30 ms\"",
        "fq-codel" => "queues = 4, quantum = 300, target = \"4 ms\", interval = \"30 ms\"",
        "drr" => "queues = 4, quantum = 600",
        "sfq" => "queues = 4, perturb = \"90 ms\"",
        "codel" => "target = \"4 ms\", interval = \"30 ms\"",
        "dualpi2" => "target = \"4 ms\", interval = \"2 ms\"",
        "pie" => {
            "target = \"4 ms\", interval = \"2 ms\", burst = \"10 ms\", alpha = \"20 /s\", beta = \"200 /s\""
        }
        "step" => "threshold = \"0.2 buffer\"",
        "pi" => "a = 0.01, b = 0.008, target = \"0.2 buffer\", interval = \"700 us\"",
        _ => "",
    }
}
