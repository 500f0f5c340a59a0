//! A transfer over QUIC under a controller of longfat, by real sockets:
//!
//! ```console
//! $ cargo run --release -- --control exp                    # both ends here, by the loopback interface
//! $ cargo run --release -- --serve 0.0.0.0:4433             # one end there
//! $ cargo run --release -- --to 192.0.2.1:4433 --control exp --set gamma=0.1
//! ```
//!
//! It prints, each second and on average, what the receiver got, the window and the losses.

mod arguments;
mod ends;

use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use arguments::{Arguments, Role};
use quinn::{Connection, VarInt};

/// How often the window is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// What happened in some time.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    looks: u32,
    segments: f64,
    round_trip: f64,
}

impl Tally {
    fn look(&mut self, connection: &Connection) {
        let path = connection.stats().path;
        self.looks += 1;
        // quinn is told a byte more than the window.
        self.segments += path.cwnd.saturating_sub(1) as f64 / f64::from(path.current_mtu);
        self.round_trip += path.rtt.as_secs_f64();
    }

    fn add(&mut self, other: Self) {
        self.looks += other.looks;
        self.segments += other.segments;
        self.round_trip += other.round_trip;
    }

    fn print(self, when: &str, bits: f64, lost: u64, responses: u64) {
        let looks = f64::from(self.looks.max(1));
        println!(
            "{when:>7}  {:>10.1}  {:>10.1}  {:>10.2}  {lost:>8}  {responses:>9}",
            bits / 1e6,
            self.segments / looks,
            1e3 * self.round_trip / looks
        );
    }
}

/// Sends for as long as asked, and says what came of it.
async fn transfer(connection: &Connection, seconds: u64) -> Result<(), Box<dyn Error>> {
    println!("      s      Mbit/s    segments      rtt ms      lost  responses");
    let (mut send, mut receive) = connection.open_bi().await?;
    let begin = Instant::now();
    // What is still in the buffers at the end is not sent: the receiver counts what it has.
    let writer = tokio::spawn(async move {
        let data = vec![0; 1 << 16];
        let writing = async { while send.write_all(&data).await.is_ok() {} };
        let _ = tokio::time::timeout(Duration::from_secs(seconds), writing).await;
        send.reset(VarInt::from_u32(0))
    });
    let (mut total, mut clock) = (Tally::default(), tokio::time::interval(LOOK));
    let (mut lost_before, mut responses_before, mut sent_before) = (0, 0, 0);
    for second in 1..=seconds {
        let mut tally = Tally::default();
        while begin.elapsed() < Duration::from_secs(second) {
            clock.tick().await;
            tally.look(connection);
        }
        let (stats, responses) = (connection.stats(), responses(connection));
        // What left, headers and repeats included: what arrived is known only at the end.
        let (lost, sent) = (stats.path.lost_packets, stats.udp_tx.bytes);
        let bits = 8.0 * (sent - sent_before) as f64;
        tally.print(&second.to_string(), bits, lost - lost_before, responses - responses_before);
        (lost_before, responses_before, sent_before) = (lost, responses, sent);
        total.add(tally);
    }
    writer.await??;
    let (bytes, time) = ends::report(&mut receive).await?;
    let lost = connection.stats().path.lost_packets;
    total.print("arrived", 8.0 * bytes as f64 / time.as_secs_f64(), lost, responses(connection));
    Ok(())
}

/// How often the controller has answered congestion.
fn responses(connection: &Connection) -> u64 {
    let state = connection.congestion_state().into_any();
    state.downcast::<longfat_quinn::Adapter>().map_or(0, |adapter| adapter.responses())
}

async fn run(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let Arguments { role, control, settings, seconds } = arguments;
    let settings = settings.iter();
    let factory = settings
        .fold(longfat_quinn::factory(control), |factory, (name, value)| {
            factory.set(name.as_str(), value.as_str())
        })
        .build()?;
    match role {
        Role::Serve(address) => {
            let server = ends::server(address)?;
            println!("listening on {}", server.local_addr()?);
            ends::serve(server).await;
        }
        Role::Send(address) => {
            let client = ends::client(address)?;
            transfer(&ends::connect(&client, address, factory).await?, seconds).await?;
        }
        Role::Both => {
            let server = ends::server("127.0.0.1:0".parse()?)?;
            let address = server.local_addr()?;
            let serving = tokio::spawn(ends::serve(server));
            let client = ends::client(address)?;
            transfer(&ends::connect(&client, address, factory).await?, seconds).await?;
            serving.abort();
        }
    }
    Ok(())
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> ExitCode {
    let done = match Arguments::read(std::env::args().skip(1)) {
        Ok(arguments) => run(arguments).await,
        Err(reason) => Err(reason.into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Through real sockets and real cryptography, for a second.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_transfer_by_the_loopback_interface() {
        let server = ends::server("127.0.0.1:0".parse().expect("an address")).expect("a server");
        let address = server.local_addr().expect("it is bound");
        let serving = tokio::spawn(ends::serve(server));
        let factory = longfat_quinn::factory("exp").build().expect("it runs");
        let client = ends::client(address).expect("a client");
        let connection = ends::connect(&client, address, factory).await.expect("it is there");
        transfer(&connection, 1).await.expect("it arrives");
        assert!(connection.stats().udp_tx.bytes > 1_000_000);
        serving.abort();
    }
}
