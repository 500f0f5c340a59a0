//! The program `longfat-quic`: bulk transfers over QUIC between the ends of a link, under any controller of longfat.
//!
//! ```text
//!     thread in longfat-a                              thread in longfat-b
//!     data ▸ quinn ▸ controller ▸ socket ── link ──▶ socket ▸ quinn ▸ nothing
//!                    every 10 ms: window, round trip, acknowledged, lost
//! ```
//!
//! Both ends are threads of one process, so that the certificate which one end makes when it begins reaches the other
//! without a file. Each has a processor of its own and runs before other programs, where it may.

mod choice;
mod endpoint;
mod error;
mod give;
mod place;
mod run;
mod take;

use std::process::ExitCode;
use std::time::Duration;

use lexopt::prelude::*;
use longfat_live::program::{self, Failure};

use crate::error::QuicError;
use crate::run::Transfer;

const USAGE: &str = "\
longfat-quic run CONTROL [--flows N] [--seconds S] [--packet BYTES]   send from a to b, and tell what became of it
longfat-quic check CONTROL                                            can it run?
longfat-quic list                                                     which controllers run, and why the others do not
";

enum Request {
    Run(Transfer),
    Check(String),
    List,
}

fn main() -> ExitCode {
    program::run(USAGE, request, |request| {
        let told = match request {
            Request::Run(transfer) => run::run(&transfer)?,
            Request::Check(control) => {
                let chosen = choice::choose(&control).map_err(QuicError::from)?;
                format!("{} runs over QUIC", chosen.name())
            }
            Request::List => choice::list(),
        };
        Ok(program::print(&told))
    })
}

impl From<QuicError> for Failure {
    fn from(error: QuicError) -> Self {
        if error.is_wrong_input() { Self::wrong(&error) } else { Self::failed(&error) }
    }
}

fn request(command: &str, mut parser: lexopt::Parser) -> Result<Request, lexopt::Error> {
    let (mut flows, mut seconds, mut packet) = (1, 60.0, 1500);
    let mut values = Vec::new();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("flows") if command == "run" => flows = parser.value()?.parse()?,
            Long("seconds") if command == "run" => seconds = parser.value()?.parse()?,
            Long("packet") if command == "run" => packet = parser.value()?.parse()?,
            Value(value) if ["run", "check"].contains(&command) => values.push(value.string()?),
            other => return Err(other.unexpected()),
        }
    }
    let one = |values: Vec<String>| match <[String; 1]>::try_from(values) {
        Ok([control]) => Ok(control),
        Err(_) => Err(lexopt::Error::from(format!("{command} takes one controller"))),
    };
    match command {
        "run" => {
            let control = one(values)?;
            let duration = Duration::try_from_secs_f64(seconds)
                .map_err(|_| format!("a transfer cannot last {seconds} s"))?;
            Ok(Request::Run(Transfer { control, flows, duration, packet }))
        }
        "check" => Ok(Request::Check(one(values)?)),
        "list" => Ok(Request::List),
        _ => Err(program::unknown(command)),
    }
}
