//! What applications write and see, worked out by hand.

use crate::support;
use crate::support::numbers;
use longfat_sim::{Options, Recording, Simulation};
use serde_json::Value;

fn record(text: &str) -> Recording {
    support::record(text, false)
}

/// A path of 100 ms there and back on which a packet of 1000 bytes takes 1 ms and an acknowledgment 0.04 ms.
fn path(top: &str, application: &str) -> String {
    format!(
        "{top}\n[link.wire]\nrate = \"8 Mbit/s\"\ndelay = \"50 ms\"\nbuffer = \"unlimited\"\n[[flow]]\nname = \"f\"\n\
         control = \"reno\"\npath = [\"wire\"]\nrtt = \"100 ms\"\npacket = \"1000 B\"\ninitial_window = 30\n\
         application = {application}\n"
    )
}

fn number(told: &Value, keys: &[&str]) -> f64 {
    keys.iter().fold(told, |told, key| &told[key]).as_f64().expect("a number")
}

fn exchanges(recording: &Recording, column: &str) -> Vec<f64> {
    numbers(recording, "exchanges", column)
}

/// Times to the picosecond.
fn assert_times(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{found:?} {expected:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
    }
}

#[test]
fn a_constant_rate_below_the_capacity_waits_for_nothing() {
    // A write every 10 ms, from 0 on. Each takes 1 ms and then 50 ms: those written until 940 ms arrive by 991 ms.
    let constant = "{ kind = \"constant\", rate = \"800 kbit/s\" }";
    let recording = record(&path("duration = \"1 s\"", constant));
    let told = &recording.summary.applications["f"];
    assert_eq!(told["kind"], "constant");
    assert!((number(told, &["delay_s", "mean"]) - 0.051).abs() < 1e-15);
    assert!((number(told, &["goodput_bit_s"]) - 95.0 * 8000.0).abs() < 1e-6);
    assert!((number(told, &["written_bit_s"]) - 100.0 * 8000.0).abs() < 1e-6);
    assert!(exchanges(&recording, "start_s").is_empty(), "nothing is asked for");
}

#[test]
fn the_goodput_of_a_group_is_that_of_all_its_flows() {
    let constant =
        "{ kind = \"constant\", rate = \"800 kbit/s\" }\ncount = 2\nstart = [\"0 s\", \"505 ms\"]";
    let told = &record(&path("duration = \"1 s\"", constant)).summary.applications["f"];
    // Written until 940 ms, as above, and from 505 to 945 ms, which arrives until 996 ms: 95 packets and 45.
    assert!((number(told, &["goodput_bit_s"]) - 140.0 * 8000.0).abs() < 1e-6);
}

#[test]
fn writes_do_not_drift() {
    // 3 packets at 7 Mbit/s take 3.428571… ms: the 700th write is due after exactly 2.4 s.
    let constant = "{ kind = \"constant\", rate = \"7 Mbit/s\", write = \"3 packets\" }";
    let recording = record(&path("duration = \"2.4 s\"", constant));
    let written = number(&recording.summary.applications["f"], &["written_bit_s"]);
    assert!((written - 700.0 * 24_000.0 / 2.4).abs() < 1e-6, "{written}");
}

#[test]
fn a_response_follows_its_request() {
    // The request takes 0.1 ms and 50 ms. The server acknowledges it, which takes the link 0.04 ms, and responds: 3 ms
    // and 50 ms. So the first response is there after 50.1 + 53.04 = 103.14 ms. The next request leaves behind the
    // acknowledgment of the last packet, 0.04 ms later; from then on a cycle takes 103.18 ms.
    let rpc = "{ kind = \"request-response\", request = \"100 B\", response = \"3 packets\" }";
    let recording = record(&path("duration = \"0.5 s\"", rpc));
    assert_times(&exchanges(&recording, "start_s"), &[0.0, 0.10314, 0.20632, 0.3095]);
    assert_times(&exchanges(&recording, "response_s"), &[0.10314, 0.10318, 0.10318, 0.10318]);
    assert_eq!(exchanges(&recording, "bytes"), [3000.0; 4]);
    let told = &recording.summary.applications["f"];
    assert_eq!(told["completed"], 4);
    assert!((number(told, &["response_s", "mean"]) - 0.10317).abs() < 1e-15);
    // Five requests and twelve packets of responses have arrived, and a fifth response is on its way.
    assert_eq!(recording.summary.engine.data_packets, 17);
}

#[test]
fn what_comes_as_the_run_ends_has_come() {
    // As above, after 103.14 ms; and a write after 51 ms.
    let rpc = "{ kind = \"request-response\", request = \"100 B\", response = \"3 packets\" }";
    let constant = "{ kind = \"constant\", rate = \"80 kbit/s\" }";
    for (application, key, duration, early) in [
        (rpc, "response_s", "103.14 ms", "103.139 ms"),
        (constant, "delay_s", "51 ms", "50.999 ms"),
    ] {
        let seen = |duration: &str| {
            let recording = record(&path(&format!("duration = \"{duration}\""), application));
            !recording.summary.applications["f"][key]["mean"].is_null()
        };
        assert!(seen(duration) && !seen(early), "{application}");
    }
}

#[test]
fn packets_that_have_numbers_carry_requests_and_responses_as_well() {
    // As above: the request is acknowledged at once, and so is the last packet of the response.
    let rpc = "{ kind = \"request-response\", request = \"100 B\", response = \"1 packets\", think = \"1 s\" }";
    let text = path("duration = \"1.5 s\"", rpc) + "recovery = \"quic\"\nack_every = 1\n";
    let recording = record(&text);
    assert_times(&exchanges(&recording, "start_s"), &[0.0, 1.10114]);
    assert_times(&exchanges(&recording, "response_s"), &[0.10114; 2]);
    let voice = "{ kind = \"constant\", rate = \"800 kbit/s\" }";
    let text = path("duration = \"1 s\"", voice) + "recovery = \"quic\"\n";
    let told = &record(&text).summary.applications["f"];
    assert!((number(told, &["delay_s", "mean"]) - 0.051).abs() < 1e-15);
}

#[test]
fn a_client_thinks_before_it_asks_again() {
    let rpc = "{ kind = \"request-response\", request = \"100 B\", response = \"3 packets\", think = \"40 ms\" }";
    let recording = record(&path("duration = \"0.35 s\"", rpc));
    // Nothing is in the way of the second request.
    assert_times(&exchanges(&recording, "start_s"), &[0.0, 0.14314]);
    assert_times(&exchanges(&recording, "response_s"), &[0.10314; 2]);
}

#[test]
fn a_request_of_two_packets_is_one_request() {
    // 1500 bytes are two packets of 750: 0.75 ms each. Both are acknowledged, the second just before the response.
    let rpc = "{ kind = \"request-response\", request = \"1500 B\", response = \"3 packets\" }";
    let recording = record(&path("duration = \"0.15 s\"", rpc));
    assert_times(&exchanges(&recording, "response_s"), &[0.0515 + 0.05304]);
}

#[test]
fn a_packet_of_a_request_is_more_than_headers() {
    // 80 bytes are two packets of 40, where one has 79: but headers alone would be an acknowledgment, so each has 41. The
    // second is there after 0.082 + 50 ms; then an acknowledgment of 0.04 ms goes back, and the response, of 0.237 ms.
    let rpc = "{ kind = \"request-response\", request = \"80 B\", response = \"3 packets\" }";
    let text = path("duration = \"0.12 s\"", rpc).replace("1000 B", "79 B");
    assert_times(&exchanges(&record(&text), "response_s"), &[0.050_082 + 0.050_277]);
}

#[test]
fn requests_do_not_cross_the_link_of_the_host_that_responds() {
    // At 1 Mbit/s a packet of 1000 bytes takes 8 ms: the three of the response leave the host after 24 ms.
    let rpc = "{ kind = \"request-response\", request = \"100 B\", response = \"3 packets\" }\naccess = \"1 Mbit/s\"";
    let recording = record(&path("duration = \"0.15 s\"", rpc));
    assert_times(&exchanges(&recording, "response_s"), &[0.0501 + 0.024 + 0.051]);
}

#[test]
fn each_group_has_applications_of_its_own() {
    // A page of three connections as below, one of two objects, and after them a source on another link.
    let web = "{ kind = \"web\", request = \"100 B\", objects = 2, object = \"1 packets\", connections = 3, \
               think = \"1 s\" }\ncount = 2\nstart = [\"0 s\", \"400 ms\"]";
    let source = "[link.other]\nrate = \"8 Mbit/s\"\ndelay = \"50 ms\"\n[[flow]]\nname = \"g\"\ncontrol = \"reno\"\n\
                  path = [\"other\"]\nrtt = \"100 ms\"\npacket = \"1000 B\"\ninitial_window = 30\n\
                  application = { kind = \"constant\", rate = \"800 kbit/s\" }\n";
    let recording = record(&(path("duration = \"0.95 s\"", web) + source));
    assert_times(&exchanges(&recording, "start_s"), &[0.0, 0.4]);
    assert_times(&exchanges(&recording, "response_s"), &[0.10114 + 0.10118; 2]);
    let told = &recording.summary.applications["g"];
    assert!((number(told, &["delay_s", "mean"]) - 0.051).abs() < 1e-15, "{told}");
    assert!((number(told, &["written_bit_s"]) - 95.0 * 8000.0 / 0.95).abs() < 1e-6);
}

#[test]
fn the_objects_of_a_page_come_over_all_connections() {
    // The page itself takes 50.1 + 0.04 + 1 + 50 = 101.14 ms. Then three requests leave together, and the first of them
    // fares as if it were alone: behind the acknowledgment of the page it takes 0.04 + 50.1 ms, its object 51.04 ms. The
    // other two objects follow it by 1.04 ms each, so the first connection asks for the fifth, which takes as long again.
    let web = "{ kind = \"web\", request = \"100 B\", objects = 5, object = \"1 packets\", connections = 3, \
               think = \"1 s\" }";
    let recording = record(&path("duration = \"1 s\"", web));
    assert_eq!(recording.summary.flows.len(), 3, "each connection is a flow");
    assert_times(&exchanges(&recording, "response_s"), &[0.10114 + 0.10118 + 0.10118]);
    assert_eq!(exchanges(&recording, "bytes"), [5000.0]);
    let delivered = numbers(&recording, "flows", "delivered");
    assert_eq!(delivered, [3.0, 1.0, 1.0]);
}

#[test]
fn one_connection_brings_one_object_after_the_other() {
    let web = "{ kind = \"web\", request = \"100 B\", objects = 3, object = \"1 packets\", connections = 1 }";
    let recording = record(&path("duration = \"0.35 s\"", web));
    assert_times(&exchanges(&recording, "response_s"), &[0.10114 + 2.0 * 0.10118]);
}

/// Chunks of a second, at 80 or 160 kbit/s: 10 or 20 packets.
fn video(rest: &str) -> String {
    format!(
        "{{ kind = \"video\", request = \"100 B\", chunk = \"1 s\", ladder = [\"80 kbit/s\", \"160 kbit/s\"], {rest} }}"
    )
}

#[test]
fn three_chunks_of_a_video() {
    // The first chunk, at the lowest rate, is there after 50.1 + 0.04 + 10 + 50 = 110.14 ms: 726 kbit/s. The next one is
    // asked for at 160 kbit/s, behind an acknowledgment, and takes 0.04 + 50.1 + 0.04 + 20 + 50 = 120.18 ms, until
    // 230.32 ms. By then 1 - 0.12018 + 1 = 1.87982 s are held, of 2.5 s; there is room for a third when 0.37982 s more
    // have been played, at 610.14 ms. It takes 120.14 ms, and leaves 1.5 - 0.12014 + 1 = 2.37986 s.
    let recording =
        record(&path("duration = \"1.5 s\"", &video("buffer = \"2.5 s\", rule = \"throughput\"")));
    assert_times(&exchanges(&recording, "start_s"), &[0.0, 0.11014, 0.61014]);
    assert_times(&exchanges(&recording, "response_s"), &[0.11014, 0.12018, 0.12014]);
    assert_times(&exchanges(&recording, "bit_rate_bit_s"), &[80_000.0, 160_000.0, 160_000.0]);
    assert_times(&exchanges(&recording, "buffer_s"), &[1.0, 1.87982, 2.37986]);
    let told = &recording.summary.applications["f"];
    assert_eq!((&told["chunks"], &told["stalls"]), (&3.into(), &0.into()));
    assert!((number(told, &["bit_rate_bit_s"]) - 400_000.0 / 3.0).abs() < 1e-9);
    assert!((number(told, &["startup_s", "mean"]) - 0.11014).abs() < 1e-15);
    assert_eq!(told["bit_rate_changes"], 1);
}

#[test]
fn a_client_that_goes_by_its_buffer_climbs_when_it_is_full() {
    // A chunk takes 110.18 ms, so that after n of them the client holds n - (n - 1) · 0.11018 s. The lowest rate is kept
    // up to 2 s, the reservoir; the highest is reached at 4 s. At 2.78 and 3.67 s the map is at 111 and 147 kbit/s, not
    // yet at the next rate. The sixth chunk is asked for at 4.56 s.
    let recording = record(&path(
        "duration = \"1 s\"",
        &video("buffer = \"10 s\", reservoir = \"2 s\", cushion = \"2 s\""),
    ));
    let rates = &exchanges(&recording, "bit_rate_bit_s")[..7];
    assert_times(rates, &[8e4, 8e4, 8e4, 8e4, 8e4, 16e4, 16e4]);
}

#[test]
fn a_link_slower_than_the_video_stalls_it() {
    // 16 Mbit/s over 8 Mbit/s: a chunk of a second takes two, and 100.14 ms. The first picture is there after 2.10014 s;
    // each further chunk takes 2.10018 s and plays for one. In 9 s four chunks come: three stalls of 1.10018 s, and a
    // fourth one that lasts from 9.40068 s on, after the end.
    let text = path(
        "duration = \"9 s\"",
        "{ kind = \"video\", request = \"100 B\", chunk = \"1 s\", ladder = [\"16 Mbit/s\"] }",
    )
    .replace("initial_window = 30", "initial_window = 3000");
    let recording = record(&text);
    let told = &recording.summary.applications["f"];
    assert_eq!((&told["chunks"], &told["stalls"]), (&4.into(), &3.into()));
    let stalled = number(told, &["stalled"]);
    assert!((stalled - 3.0 * 1.10018 / 9.0).abs() < 1e-12, "{stalled}");
}

#[test]
fn a_source_that_is_on_for_a_part_writes_for_that_part() {
    // On for 25 ms of 100: writes are due after 0, 10, 20, 30, … ms of that, so three in one period and two in the next.
    let turns = "{ kind = \"on-off\", rate = \"800 kbit/s\", on = \"25 ms\", off = \"75 ms\" }";
    let recording = record(&path("duration = \"1 s\"", turns));
    let told = &recording.summary.applications["f"];
    assert!((number(told, &["written_bit_s"]) - 25.0 * 8000.0).abs() < 1e-6);
    assert!((number(told, &["delay_s", "mean"]) - 0.051).abs() < 1e-15);
}

#[test]
fn exponential_turns_have_the_duty_cycle_of_their_means() {
    // A fifth of the time, in 20 000 periods of 50 ms: give or take √(2/20 000) · 0.8 = 0.8 %.
    let turns = "{ kind = \"on-off\", rate = \"4 Mbit/s\", on = { exponential = \"10 ms\" }, \
                 off = { exponential = \"40 ms\" } }";
    let recording = record(&path("duration = \"1000 s\"", turns));
    let written = number(&recording.summary.applications["f"], &["written_bit_s"]);
    assert!((written / 800_000.0 - 1.0).abs() < 0.02, "{written}");
}

/// A link of 100 Mbit/s that sources without a window to speak of fill with Poisson packets, for 200 s.
fn crossed_by(sources: &[(&str, &str)]) -> Recording {
    let mut text = "duration = \"200 s\"\n[link.wire]\nrate = \"100 Mbit/s\"\ndelay = \"1 ms\"\n\
                    buffer = \"unlimited\"\n"
        .to_string();
    text.extend(sources.iter().enumerate().map(|(index, (packet, rate))| {
        format!(
            "[[flow]]\nname = \"f{index}\"\ncontrol = \"reno\"\npath = [\"wire\"]\nrtt = \"2 ms\"\n\
             packet = \"{packet}\"\ninitial_window = 1e6\n\
             application = {{ kind = \"constant\", rate = \"{rate}\", poisson = true }}\n"
        )
    }));
    record(&text)
}

#[test]
fn poisson_packets_wait_as_in_an_m_d_1_queue() {
    // At a load of 0.7 a packet of 1250 bytes, 100 us, waits for ρ/(2(1 - ρ)) = 7/6 of its own time on average.
    let recording = crossed_by(&[("1250 B", "70 Mbit/s")]);
    let mean = number(&recording.summary.applications["f0"], &["delay_s", "mean"]);
    let wait = mean - 1e-3 - 100e-6;
    assert!((wait / (7.0 / 6.0 * 100e-6) - 1.0).abs() < 0.02, "waits {wait}");
}

#[test]
fn packets_of_two_sizes_wait_as_in_an_m_g_1_queue() {
    // 2000 packets of 1500 bytes (120 us) and 10 000 of 500 bytes (40 us) per second, a load of 0.64. Both wait for
    // λ E[S²]/(2(1 - ρ)), Pollaczek and Khinchin's formula: (2000 · 120² + 10 000 · 40²) us²/s / 0.72 = 62.2 us.
    let recording = crossed_by(&[("1500 B", "24 Mbit/s"), ("500 B", "40 Mbit/s")]);
    for (name, own) in [("f0", 120e-6), ("f1", 40e-6)] {
        let mean = number(&recording.summary.applications[name], &["delay_s", "mean"]);
        let wait = mean - 1e-3 - own;
        assert!((wait / (44.8e-6 / 0.72) - 1.0).abs() < 0.02, "{name} waits {wait}");
    }
}

#[test]
fn a_lost_request_is_repaired() {
    // A third of all packets is lost in either direction: everything takes longer, but nothing stops.
    let rpc = "{ kind = \"request-response\", request = \"100 B\", response = \"3 packets\" }";
    let text = path("duration = \"400 s\"", rpc).replace("buffer =", "loss = 0.3\nbuffer =");
    let recording = record(&text);
    let done = recording.summary.applications["f"]["completed"].as_u64().expect("a count");
    assert!(done > 50, "{done}");
}

#[test]
fn a_stop_ends_what_is_written() {
    let constant = "{ kind = \"constant\", rate = \"800 kbit/s\" }\nstop = \"0.5 s\"";
    let recording = record(&path("duration = \"1 s\"", constant));
    let written = number(&recording.summary.applications["f"], &["written_bit_s"]);
    assert!((written - 50.0 * 8000.0).abs() < 1e-6, "{written}");
    let rpc = "{ kind = \"request-response\", response = \"3 packets\" }\nstop = \"0.2 s\"";
    let recording = record(&path("duration = \"1 s\"", rpc));
    let starts = exchanges(&recording, "start_s");
    assert_eq!(starts, [0.0]);
}

#[test]
fn what_is_asked_for_does_not_depend_on_the_network() {
    let web = "{ kind = \"web\", objects = { uniform = [1, 9] }, object = { exponential = { mean = \"9 kB\" } }, \
               think = { exponential = \"1 s\" } }";
    let text = path("duration = \"60 s\"", web);
    let slower = text.replace("8 Mbit/s", "3 Mbit/s");
    let bytes = |text: &str| exchanges(&record(text), "bytes");
    let (one, other) = (bytes(&text), bytes(&slower));
    let both = one.len().min(other.len());
    assert!(both > 20 && one[..both] == other[..both]);
}

#[test]
fn both_servers_and_other_seeds_agree() {
    let web = "{ kind = \"web\", objects = { geometric = 4 }, object = { exponential = { mean = \"9 kB\" } } }";
    let text = path("duration = \"5 s\"\nwarmup = \"1 s\"", web)
        .replace("name = \"f\"", "name = \"f\"\ncount = 3")
        .replace("unlimited", "9 packets");
    let scenario = support::read(&text);
    let run = |options| {
        let mut simulation = Simulation::with_options(&scenario, options);
        while simulation.advance(1000) {}
        let mut recording = simulation.finish();
        recording.summary.engine.events = 0;
        format!("{recording:?}")
    };
    let plain = run(Options::default().record(true));
    assert_eq!(plain, run(Options::default().record(true).stepwise(true)));
}

/// As above: the first picture is there at 2.10014 s, and has been played a second later. The next chunk would come at
/// 4.20032 s. The client is idle from 3.10014 s on, until the run ends or the flow stops.
#[test]
fn a_stall_lasts_until_the_run_ends_or_the_client_stops() {
    for (stop, until) in [("", 4.0), ("stop = \"3.5 s\"", 3.5)] {
        let application = format!(
            "{{ kind = \"video\", request = \"100 B\", chunk = \"1 s\", ladder = [\"16 Mbit/s\"] }}\n{stop}"
        );
        let text = path("duration = \"4 s\"", &application)
            .replace("initial_window = 30", "initial_window = 3000");
        let told = &record(&text).summary.applications["f"];
        assert_eq!((&told["chunks"], &told["stalls"]), (&1.into(), &1.into()));
        let stalled = number(told, &["stalled"]);
        assert!((stalled - (until - 3.10014) / 4.0).abs() < 1e-12, "{stalled}");
    }
}
