//! What short flows send: packets, of which the last one is as large as the others.
//!
//! A flow of s bytes sends ceil(s/P) packets of P bytes, so the mean load is that many of them:
//!
//! ```text
//!     E ceil(s/P) = Σ over k = 0, 1, … of  P(s > k P)
//! ```

use std::f64::consts::SQRT_2;

use longfat_scenario::Size;
use longfat_units::{Bytes, math};

/// Terms of the sum that are added one by one. What remains of it is smooth, and as good as an integral.
const TERMS: u32 = 4096;

/// The mean number of packets that flows of this size send.
pub(crate) fn mean_packets(size: &Size, packet: Bytes) -> f64 {
    let bytes = packet.0 as f64;
    match *size {
        Size::Fixed(sent) => sent.0.div_ceil(packet.0).max(1) as f64,
        Size::Uniform(low, high) => uniform(low.0 as f64, high.0 as f64, bytes),
        // A geometric series.
        Size::Exponential { mean } => -1.0 / math::expm1(-bytes / mean),
        Size::Pareto { mean, shape } => {
            let scale = mean * (shape - 1.0) / shape;
            let beyond = |x: f64| if x <= scale { 1.0 } else { math::pow(scale / x, shape) };
            let excess = |x: f64| {
                if x <= scale { mean - x } else { x * beyond(x) / (shape - 1.0) }
            };
            sum(beyond, excess, bytes)
        }
        Size::LogNormal { mean, sigma: 0.0 } => (mean / bytes).ceil(),
        Size::LogNormal { mean, sigma } => {
            let normal = |z: f64| math::erfc(-z / SQRT_2) / 2.0;
            let at = |x: f64| math::ln(mean / x) / sigma;
            let beyond = |x: f64| if x <= 0.0 { 1.0 } else { normal(at(x) - sigma / 2.0) };
            let excess = |x: f64| mean * normal(at(x) + sigma / 2.0) - x * beyond(x);
            sum(beyond, excess, bytes)
        }
    }
}

/// The sum, from the probability of more than x bytes and the mean of what exceeds x: ∫ P(s > x) dx from there.
fn sum(beyond: impl Fn(f64) -> f64, excess: impl Fn(f64) -> f64, packet: f64) -> f64 {
    let first: f64 = (0..TERMS).map(|term| beyond(f64::from(term) * packet)).sum();
    let from = f64::from(TERMS) * packet;
    first + excess(from) / packet + beyond(from) / 2.0
}

/// The mean of ceil(s/P) where s is uniform between two bounds: its integral from 0 to x is P n (n + 1)/2 + (n + 1) r with
/// x = n P + r.
fn uniform(low: f64, high: f64, packet: f64) -> f64 {
    if low >= high {
        return (high / packet).ceil();
    }
    let integral = |x: f64| {
        let whole = (x / packet).floor();
        (whole + 1.0) * (packet * whole / 2.0 + (x - packet * whole))
    };
    (integral(high) - integral(low)) / (high - low)
}

#[cfg(test)]
mod tests {
    use longfat_scenario::chance;

    use super::*;

    const PACKET: Bytes = Bytes(1000);

    fn assert_near(size: &Size, expected: f64, part: f64) {
        let found = mean_packets(size, PACKET);
        assert!((found / expected - 1.0).abs() < part, "{size:?}: {found}, not {expected}");
    }

    #[test]
    fn the_last_packet_is_as_large_as_the_others() {
        for (bytes, packets) in [(1, 1.0), (1000, 1.0), (1001, 2.0), (10_000, 10.0)] {
            assert_near(&Size::Fixed(Bytes(bytes)), packets, 1e-12);
        }
    }

    #[test]
    fn means_that_can_be_worked_out_by_hand() {
        // One packet half of the time, two the other half; and 2, 3 and 4 in the proportion 1 : 2 : 1.
        assert_near(&Size::Uniform(Bytes(0), Bytes(2000)), 1.5, 1e-12);
        assert_near(&Size::Uniform(Bytes(1500), Bytes(3500)), 2.0 * 0.25 + 3.0 * 0.5 + 1.0, 1e-12);
        assert_near(&Size::Uniform(Bytes(1500), Bytes(1500)), 2.0, 1e-12);
        // P(s > 1000 k) = 2^-k.
        assert_near(&Size::Exponential { mean: 1000.0 / std::f64::consts::LN_2 }, 2.0, 1e-12);
        // At least 1000 B, and P(s > 1000 k) = k^-2: one and π²/6. With 2000 B and more, (k/2)^-2 from k = 2: 4 (π²/6 - 1)
        // and the first two.
        let squares = std::f64::consts::PI * std::f64::consts::PI / 6.0;
        assert_near(&Size::Pareto { mean: 2000.0, shape: 2.0 }, 1.0 + squares, 1e-6);
        assert_near(&Size::Pareto { mean: 4000.0, shape: 2.0 }, 4.0 * squares - 2.0, 1e-6);
        assert_near(&Size::LogNormal { mean: 1500.0, sigma: 0.0 }, 2.0, 1e-12);
    }

    /// Large flows have half a packet more than their bytes; small ones have one packet.
    #[test]
    fn large_flows_lose_half_a_packet() {
        for mean in [1e5, 1e8, 1e11] {
            let packets = mean / 1000.0 + 0.5;
            assert_near(&Size::Exponential { mean }, packets, 1e-5);
            assert_near(&Size::LogNormal { mean, sigma: 0.5 }, packets, 1e-5);
            assert_near(&Size::Pareto { mean, shape: 1.35 }, packets, 1e-4);
        }
        assert_near(&Size::LogNormal { mean: 10.0, sigma: 1.0 }, 1.0, 1e-3);
        // Two thirds of these bytes are in flows of more than the 4096 packets that are counted one by one.
        assert_near(&Size::LogNormal { mean: 4.096e6, sigma: 2.0 }, 4096.5, 1e-6);
    }

    /// Two hundred thousand draws of exp(μ + σ z), with z from twelve uniform numbers and μ = ln(mean) - σ²/2.
    #[test]
    fn drawn_sizes_have_that_mean() {
        let (mean, sigma) = (3000.0, 0.8);
        let mut stream = chance::stream(1, "test");
        let draws = 200_000;
        let mut packets = 0.0;
        for _ in 0..draws {
            let z = (0..12).map(|_| chance::uniform(&mut stream)).sum::<f64>() - 6.0;
            let bytes = math::exp(math::ln(mean) - sigma * sigma / 2.0 + sigma * z);
            packets += (bytes / 1000.0).ceil();
        }
        assert_near(&Size::LogNormal { mean, sigma }, packets / f64::from(draws), 0.01);
    }
}
