//! The bytes of traces, worked out by hand and read again.

use longfat_sim::{Scenario, Simulation};
use longfat_trace::{Capture, Chosen, Qlog, TraceError};
use serde_json::Value;

/// Six packets of 1000 bytes at once on a link that takes three: 3, 4 and 5 are lost.
const BURST: &str = r#"
    duration = "400 ms"
    [link.narrow]
    rate   = "8 Mbit/s"
    delay  = "10 ms"
    buffer = "2 packets"
    [[flow]]
    name           = "burst"
    control        = "reno"
    path           = ["narrow"]
    rtt            = "100 ms"
    packet         = "1000 B"
    ecn            = false
    initial_window = 6
    "#;

fn read(text: &str) -> Scenario {
    Scenario::read(text, "test.toml", &[], None).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The bytes of a capture of these flows, and of the qlog of the first one.
fn traced(text: &str, names: &[&str]) -> (Vec<u8>, Vec<u8>, Capture) {
    let scenario = read(text);
    let names: Vec<_> = names.iter().map(ToString::to_string).collect();
    let chosen = Chosen::of(&scenario, &names).expect("they are there");
    let (mut packets, mut log) = (Vec::new(), Vec::new());
    let mut capture = Capture::new(&scenario, &chosen, &mut packets).expect("no encryption");
    let mut qlog = Qlog::new(&scenario, (0, 0), &mut log);
    let mut simulation = Simulation::new(&scenario, false);
    simulation.trace(true, |stream| chosen.has(stream));
    let mut more = true;
    while more {
        more = simulation.advance(100);
        for event in simulation.take_trace(!more) {
            capture.add(&event, &mut packets);
            qlog.add(&event, &mut log);
        }
    }
    (packets, log, capture)
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// The blocks of a file: kind and body.
fn blocks(mut bytes: &[u8]) -> Vec<(u32, &[u8])> {
    let mut blocks = Vec::new();
    while !bytes.is_empty() {
        let length = word(bytes, 4) as usize;
        assert_eq!((length % 4, word(bytes, length - 4) as usize), (0, length));
        blocks.push((word(bytes, 0), &bytes[8..length - 4]));
        bytes = &bytes[length..];
    }
    blocks
}

/// A captured packet: interface, nanoseconds, length on the wire, headers.
fn packets(bytes: &[u8]) -> Vec<(u32, u64, u32, &[u8])> {
    let blocks = blocks(bytes);
    let packets = blocks.iter().filter(|(kind, _)| *kind == 6);
    packets
        .map(|(_, body)| {
            let time = u64::from(word(body, 4)) << 32 | u64::from(word(body, 8));
            (word(body, 0), time, word(body, 16), &body[20..20 + word(body, 12) as usize])
        })
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// Sums worked out on paper: 16-bit words added with end-around carry, and inverted.
#[test]
fn headers_are_those_of_the_rfcs() {
    let (file, ..) = traced(BURST, &[]);
    let packets = packets(&file);
    // 40 B of headers and 960 of data. IPv4: length 1000, no fragments, 64 hops, TCP, 10.0.0.1 to 10.128.0.1.
    let ip = "450003e8000040004006228f0a0000010a800001";
    // Ports 49152 and 5001, sequence 1, acknowledgment 1, 20 B of header, ACK, window 65 535.
    let tcp = "c000138900000001000000015010ffffc4070000";
    assert_eq!((packets[3].0, packets[3].1, packets[3].2), (0, 0, 1000));
    assert_eq!(hex(packets[3].3), format!("{ip}{tcp}"));
    // Segment 6 arrives when 3 is expected: acknowledgment 3 · 960 + 1 = 2881, and a block from 6 · 960 + 1 = 5761 to
    // 6721 behind two no-operations, 32 B of header in all.
    let ip = "4500003400004000400626430a8000010a000001";
    let tcp = "1389c0000000000100000b418010ffff55ae00000101050a0000168100001a41";
    let first =
        packets[3..].iter().find(|packet| packet.2 == 52).expect("a selective acknowledgment");
    assert_eq!(hex(first.3), format!("{ip}{tcp}"));
}

#[test]
fn a_connection_opens_with_what_both_ends_know() {
    let (file, ..) = traced(BURST, &[]);
    let opening: Vec<_> = packets(&file)[..3].iter().map(|packet| hex(&packet.3[32..])).collect();
    // 32 B of header, SYN, window 65 535; at most 960 B of data; scale 14; selective acknowledgments.
    let options = "020403c001030 30e01010402".replace(' ', "");
    for (packet, flags) in opening.iter().zip(["8002", "8012"]) {
        assert!(packet.starts_with(&format!("{flags}ffff")), "{packet}");
        assert!(packet.ends_with(&options), "{packet}");
    }
    assert!(opening[2].starts_with("5010ffff"), "{}", opening[2]);
}

/// RFC 3168, section 6.1.1: SYN with ECE and CWR, SYN/ACK with ECE. RFC 9768, section 3.1: SYN with all three bits,
/// answered by CWR alone; and the counter of marks begins at 5 (section 3.2.1).
#[test]
fn ecn_is_agreed_as_the_scenario_has_it() {
    let marked = BURST.replace("= false", "= true");
    let flags = |text: &str| -> Vec<u16> {
        let (file, ..) = traced(text, &[]);
        let packets = packets(&file);
        let field = |headers: &[u8]| u16::from_be_bytes([headers[32], headers[33]]) & 0x0FFF;
        packets[..4].iter().map(|packet| field(packet.3)).collect()
    };
    assert_eq!(flags(&marked), [0x0C2, 0x052, 0x010, 0x010]);
    let accurate = marked.replace("= true", "= true\necn_feedback = \"accurate\"");
    assert_eq!(flags(&accurate), [0x1C2, 0x092, 0x090, 0x150]);
    assert_eq!(flags(BURST)[..2], [0x002, 0x012]);
}

/// 70 000 segments of 65 495 B are more than 2³² bytes. So much at once is more than sequence numbers can tell, too.
#[test]
fn sequence_numbers_wrap() {
    let text = r#"
        duration = "3 ms"
        [link.wide]
        rate   = "100 Gbit/s"
        delay  = "1 ms"
        [[flow]]
        name           = "much"
        control        = "reno"
        initial_window = 70000
        path           = ["wide"]
        rtt            = "4 ms"
        packet         = "65535 B"
        "#;
    let (file, _, capture) = traced(text, &[]);
    assert_eq!(capture.ambiguous(), ["10.0.0.1:49152 to 10.128.0.1:5001"]);
    let data = packets(&file);
    let data = data.iter().filter(|packet| packet.2 == 65_535);
    let mut expected = 1_u32;
    let (mut count, mut wrapped) = (0, false);
    for packet in data {
        let found = u32::from_be_bytes(packet.3[24..28].try_into().expect("four bytes"));
        assert_eq!(found, expected, "packet {count}");
        let next = expected.wrapping_add(65_495);
        wrapped |= next < expected;
        expected = next;
        count += 1;
    }
    assert!(wrapped && count == 70_000, "{count} packets");
}

#[test]
fn places_have_names_and_what_is_no_flow_is_refused() {
    let text = BURST.replace("packet  ", "count = 3\npacket  ")
        + "[[traffic]]\nname = \"web\"\ncontrol = \"reno\"\npath = [\"narrow\"]\nrtt = \"100 ms\"\n\
           arrivals = { poisson = \"20 /s\" }\nsize = \"3 packets\"\n";
    let (file, _, capture) = traced(&text, &["burst[1]", "web"]);
    let blocks = blocks(&file);
    assert_eq!(blocks[0].0, 0x0A0D_0D0A);
    let places: Vec<_> = blocks.iter().filter(|(kind, _)| *kind == 1).collect();
    let name = |body: &[u8]| {
        assert_eq!((word(body, 0), word(body, 4)), (101, 80));
        let length = usize::from(body[10]);
        String::from_utf8(body[12..12 + length].to_vec()).expect("text")
    };
    assert_eq!(places.iter().map(|(_, body)| name(body)).collect::<Vec<_>>(), ["burst[1]", "web"]);
    let senders: std::collections::BTreeSet<_> =
        packets(&file).iter().map(|packet| packet.3[12..20].to_vec()).collect();
    assert!(senders.len() > 4, "each short flow is a connection of its own");
    assert!(capture.ambiguous().is_empty());
    let scenario = read(&text);
    for name in ["bursts", "burst[3]", "burst[x]", "web[0]", "burst[", ""] {
        let refused = Chosen::of(&scenario, &[name.to_string()]).expect_err(name);
        let told = refused.to_string();
        assert!(matches!(refused, TraceError::Unknown { .. }), "{told}");
        assert!(
            told.contains("flows, `burst` or `burst[0]` to `burst[2]`; short flows, `web`"),
            "{told}"
        );
    }
}

#[test]
fn encrypted_packets_are_refused_unless_left_out() {
    let text = BURST.replace("packet  ", "recovery = \"quic\"\npacket  ")
        + &BURST[BURST.find("[[flow]]").expect("a flow")..].replace("\"burst\"", "\"plain\"");
    let scenario = read(&text);
    let capture = |names: &[String]| {
        let chosen = Chosen::of(&scenario, names).expect("they are there");
        Capture::new(&scenario, &chosen, &mut Vec::new()).map(|_| ())
    };
    let refused = capture(&[]).expect_err("one is encrypted").to_string();
    assert!(
        refused.contains("`burst` sends as QUIC does") && refused.contains("qlog"),
        "{refused}"
    );
    assert_eq!(capture(&["plain".to_string()]), Ok(()));
}

/// A record separator, a text, a line feed: for each event (RFC 7464).
fn records(log: &[u8]) -> Vec<Value> {
    let texts = log.split(|byte| *byte == 0x1E).skip(1);
    texts.map(|text| serde_json::from_slice(text).expect("JSON")).collect()
}

#[test]
fn qlog_tells_packets_losses_and_numbers() {
    let (_, log, _) = traced(BURST, &[]);
    let records = records(&log);
    assert_eq!(records[0]["qlog_version"], "0.3");
    assert_eq!(records[0]["qlog_format"], "JSON-SEQ");
    assert_eq!(records[0]["trace"]["vantage_point"]["name"], "burst[0]");
    let of = |name: &str| -> Vec<&Value> {
        records[1..].iter().filter(|record| record["name"] == name).collect()
    };
    let sent = of("transport:packet_sent");
    assert_eq!(sent[5]["data"]["header"]["packet_number"], 5);
    assert_eq!(sent[5]["data"]["frames"][0]["offset"], 4800);
    // As in the capture: the first acknowledgment after 101.04 ms, and at the third report of what came later 3 is lost.
    let received = of("transport:packet_received");
    assert_eq!(received[0]["time"], 101.04);
    assert_eq!(received[0]["data"]["frames"][0]["acked_ranges"], serde_json::json!([[0]]));
    let lost = of("recovery:packet_lost");
    assert_eq!(lost[0]["data"]["header"]["packet_number"], 3);
    let metrics = of("recovery:metrics_updated");
    assert_eq!(metrics[0]["data"]["congestion_window"], 6 * 960);
    let phases: Vec<_> = of("recovery:congestion_state_updated")
        .iter()
        .map(|event| event["data"]["new"].as_str().expect("a name").to_owned())
        .collect();
    assert_eq!(phases[..2], ["slow_start", "recovery"]);
    let times: Vec<_> = records[1..].iter().map(|event| event["time"].as_f64()).collect();
    assert!(times.is_sorted_by(|one, next| one <= next));
}
