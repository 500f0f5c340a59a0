//! Receive windows, and what is told of them.

use longfat_scenario::{ReceiveBuffer, ReceiveWindow, Scenario};
use longfat_units::Bytes;

use crate::read;

fn scenario(keys: &str) -> Scenario {
    let text = format!(
        "duration = \"1 s\"\n[link.l]\nrate = \"12 Mbit/s\"\ndelay = \"1 ms\"\n[[flow]]\nname = \"f\"\n\
         control = \"reno\"\npath = [\"l\"]\nrtt = \"2 ms\"\n{keys}\n"
    );
    read(&text, &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn window(keys: &str) -> Option<ReceiveWindow> {
    let scenario = scenario(keys);
    let window = scenario.flows[0].transport.receive_window;
    assert_eq!(read(&scenario.to_toml(), &[]), Ok(scenario), "{keys}");
    window
}

#[test]
fn windows_are_as_large_as_their_buffers() {
    assert_eq!(window(""), None);
    assert_eq!(window("receive_window = \"none\""), None);
    let packets = window("receive_window = \"40 packets\"").expect("it has one");
    assert_eq!(packets.buffer, ReceiveBuffer::Fixed(Bytes(40 * 1460)));
    assert_eq!((packets.scale, packets.most_packets(Bytes(1500))), (0, 40));
    let auto = window("receive_window = \"auto\"").expect("it has one");
    let (initial, most) = (Bytes(65_535), Bytes(6_000_000));
    assert_eq!(auto.buffer, ReceiveBuffer::RightSizing { initial, most });
    // 6 MB are 91.6 times 65 535 B.
    assert_eq!(auto.scale, 7);
    let tuned =
        "receive_window = { kind = \"sender-tuned\", initial = \"3 packets\", most = \"10 kB\" }";
    let (initial, most) = (Bytes(3 * 1460), Bytes(10_000));
    let tuned = window(tuned).expect("it has one");
    assert_eq!(tuned.buffer, ReceiveBuffer::SenderTuned { initial, most });
}

/// RFC 7323, section 2.3: 16 bits, shifted.
#[test]
fn a_window_is_told_in_units_of_its_scale() {
    let window = |size: &str, scale: u64| {
        window(&format!(
            "receive_window = {{ kind = \"fixed\", size = \"{size}\", scale = {scale} }}"
        ))
        .expect("it has one")
    };
    assert_eq!(window("1 MB", 0).most_packets(Bytes(1500)), 65_535 / 1460);
    let rounded = window("100 kB", 14);
    // Six times 16 384 B.
    assert_eq!((rounded.told(100_000), rounded.most_packets(Bytes(1500))), (98_304, 67));
    assert_eq!(window("5 GB", 14).told(u64::MAX), 65_535 << 14);
}
