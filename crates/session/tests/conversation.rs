//! A conversation from its first request to its last, and everything out of its turn.

use longfat_session::{Session, catalogue};
use serde_json::{Value, json};

const TEXT: &str = r#"
duration = "4 s"
warmup = "1 s"

[link.bottleneck]
rate = "10 Mbit/s"
delay = "5 ms"

[[flow]]
name = "reno"
control = "reno"
count = 2
path = ["bottleneck"]
rtt = "20 ms"
start = { uniform = ["0 s", "100 ms"] }
"#;

fn read(session: &mut Session, request: &Value) -> Value {
    let answer = session.read(request.to_string().as_bytes(), &mut |name| {
        if name == "there.trace" { Ok("1\n2\n".to_owned()) } else { Err("no such file".to_owned()) }
    });
    serde_json::from_str(&answer).expect("answers are JSON")
}

/// The head of results, and the values of a column of numbers.
struct Results {
    head: Value,
    bytes: Vec<u8>,
    columns_at: usize,
}

impl Results {
    fn new(bytes: Vec<u8>) -> Self {
        let length = u32::from_le_bytes(bytes[..4].try_into().expect("four bytes")) as usize;
        let head = serde_json::from_slice(&bytes[4..4 + length]).expect("the head is JSON");
        Self { head, bytes, columns_at: 4 + length }
    }

    fn numbers(&self, table: &str, column: &str) -> Vec<f64> {
        let mut at = self.columns_at;
        for entry in self.head["tables"].as_array().expect("a list") {
            let rows = entry["rows"].as_u64().expect("a count") as usize;
            for each in entry["columns"].as_array().expect("a list") {
                let is_word = each["kind"] == "word";
                if entry["name"] == table && each["name"] == column {
                    assert!(!is_word);
                    let values = self.bytes[at..at + 8 * rows].chunks_exact(8);
                    return values
                        .map(|value| f64::from_le_bytes(value.try_into().expect("eight bytes")))
                        .collect();
                }
                at += (rows * if is_word { 4 } else { 8 }).next_multiple_of(8);
            }
        }
        panic!("there is no {table}.{column}");
    }
}

#[test]
fn a_scenario_is_told_in_numbers() {
    let mut session = Session::default();
    let answer = read(&mut session, &json!({ "text": TEXT, "overrides": ["seed=7"] }));
    let told = &answer["scenario"];
    assert_eq!((&told["duration_s"], &told["seed"]), (&json!(4.0), &json!(7)));
    let link = &told["links"][0]["forward"];
    assert_eq!(link["rate_bit_s"], 10_000_000);
    // 10 Mbit/s × 20 ms = 25 000 bytes: 16.7 packets of 1500, rounded up.
    assert_eq!(
        (&link["buffer"], &link["unit"], &link["bdp_s"]),
        (&json!(17), &json!("packets"), &json!(0.02))
    );
    assert_eq!(told["flows"][0]["count"], 2);
    assert_eq!(told["flows"][0]["path"], json!([{ "link": "bottleneck", "reverse": false }]));
    assert_eq!(told["flows"][0]["start_s"], json!({ "least": 0.0, "mean": 0.05, "greatest": 0.1 }));
    // A full link carries 10⁷ × 4 / (8 × 1500) packets.
    let packets = told["estimate"]["packets"].as_f64().expect("a number");
    assert!((packets / 3333.0 - 1.0).abs() < 0.1, "{packets}");
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let mut session = Session::default();
    let text = TEXT.replace("control = \"reno\"", "control = \"renno\"");
    let answer = read(&mut session, &json!({ "text": text, "origin": "page" }));
    let error = &answer["error"];
    let problem = &error["diagnostics"][0];
    assert_eq!(
        (&problem["line"], &problem["column"], &problem["length"]),
        (&json!(11), &json!(11), &json!(7))
    );
    assert!(problem["help"].as_str().expect("a hint").contains("reno"), "{problem}");
    let message = error["message"].as_str().expect("a text");
    assert!(message.contains("page:11"), "{message}");
    // It is forgotten: there is nothing to run.
    session.start();
    assert!(!session.advance(1));
}

#[test]
fn files_come_from_the_request_and_from_the_host() {
    let mut session = Session::default();
    let text = |name: &str| TEXT.replace("rate = \"10 Mbit/s\"", &format!("trace = \"{name}\""));
    let rate = |answer: &Value| answer["scenario"]["links"][0]["forward"]["rate_bit_s"].clone();
    // Two packets of 1500 bytes in two milliseconds.
    let answer = read(&mut session, &json!({ "text": text("there.trace") }));
    assert_eq!(rate(&answer), 12_000_000, "{answer}");
    let files = json!({ "mine.trace": "1\n" });
    let answer = read(&mut session, &json!({ "text": text("mine.trace"), "files": files }));
    assert_eq!(rate(&answer), 12_000_000, "{answer}");
    let answer = read(&mut session, &json!({ "text": text("missing.trace") }));
    let message = answer["error"]["message"].as_str().expect("a text");
    assert!(message.contains("no such file"), "{message}");
}

#[test]
fn series_so_far_are_the_beginning_of_those_at_the_end() {
    let mut session = Session::default();
    read(&mut session, &json!({ "text": TEXT }));
    session.start();
    let mut earlier = Vec::new();
    while session.advance(500) {
        earlier.push((session.progress(), Results::new(session.series())));
    }
    assert!(earlier.len() > 5);
    let finished = Results::new(session.finish());
    assert_eq!(finished.head["summary"]["flows"].as_array().map(Vec::len), Some(2));
    let columns = [
        ("flow_series", "window"),
        ("flow_series", "throughput_bit_s"),
        ("link_series", "queue_packets"),
        ("link_series", "dropped"),
    ];
    for (progress, results) in &earlier {
        assert!(results.head.get("summary").is_none());
        for (table, column) in columns {
            let (so_far, all) = (results.numbers(table, column), finished.numbers(table, column));
            assert_eq!(so_far, all[..so_far.len()], "{table}.{column} at {progress}");
        }
        // A row of both directions every 10 ms.
        let rows = results.numbers("link_series", "queue").len() as f64;
        assert!((rows / 2.0 - 400.0 * progress).abs() <= 1.0, "{rows} rows at {progress}");
    }
}

#[test]
fn asking_for_the_series_changes_nothing() {
    let mut session = Session::default();
    let mut run = |asks: bool| {
        read(&mut session, &json!({ "text": TEXT }));
        session.start();
        while session.advance(300) {
            if asks {
                session.series();
            }
        }
        session.finish()
    };
    assert!(run(true) == run(false));
}

#[test]
fn out_of_its_turn_nothing_happens() {
    let mut session = Session::default();
    session.start();
    assert!(!session.advance(10));
    assert_eq!((session.progress(), session.resolved().as_str()), (1.0, ""));
    for bytes in [session.series(), session.finish(), session.finish()] {
        assert_eq!(Results::new(bytes).head, json!({ "tables": [] }));
    }
    read(&mut session, &json!({ "text": TEXT }));
    assert!(!session.advance(10), "it has not begun");
    let resolved = session.resolved();
    let once_more = read(&mut session, &json!({ "text": resolved }));
    assert_eq!(once_more["scenario"]["links"][0]["forward"]["rate_bit_s"], 10_000_000);
    assert_eq!(session.resolved(), resolved);
}

#[test]
fn no_request_panics() {
    let mut session = Session::default();
    let deep = "[".repeat(100_000);
    for request in [
        &b""[..],
        b"\xff\xfe",
        b"[]",
        b"{}",
        b"{\"text\": 1}",
        b"{\"text\": \"\", \"txt\": \"\"}",
        b"{\"text\": \"\", \"seed\": -1}",
        deep.as_bytes(),
    ] {
        let answer = session.read(request, &mut |_| Err("none".to_owned()));
        let answer: Value = serde_json::from_str(&answer).expect("answers are JSON");
        assert!(!answer["error"]["message"].as_str().expect("a text").is_empty());
    }
}

#[test]
fn the_catalogue_has_everything() {
    let told: Value = serde_json::from_str(&catalogue()).expect("it is JSON");
    let count = |list: &str| told[list].as_array().map(Vec::len);
    assert_eq!(count("controllers"), Some(longfat_control::CONTROLLERS.len()));
    assert_eq!(count("queues"), Some(longfat_queue::DISCIPLINES.len()));
}
