//! The program `longfat-tcp`: any controller of longfat in Linux TCP, unchanged.
//!
//! ```text
//!     socket ── cong_control ──▶ ring buffer ──▶ controller ──▶ mapped array ──▶ next acknowledgment
//!               in the kernel                    here
//! ```
//!
//! Flows ask for it with `setsockopt(TCP_CONGESTION, "longfat")`. Where it ends, they go on under Reno.

mod decisions;
mod kernel;
mod run;

use std::process::ExitCode;

use lexopt::prelude::*;
use longfat_live::program::{self, Failure};
use longfat_tcp_host::{Choice, catalogue};

const USAGE: &str = "\
longfat-tcp run CONTROL   control every flow whose congestion control is longfat
longfat-tcp check         is everything there that it needs?
longfat-tcp list          which controllers run, and why the others do not
";

enum Request {
    Run(String),
    Check,
    List,
}

fn main() -> ExitCode {
    program::run(USAGE, request, |request| {
        match request {
            Request::List => return Ok(program::print(&list())),
            Request::Check => kernel::check().map_err(|error| Failure::wrong(&error))?,
            Request::Run(control) => {
                let choice = Choice::read(&control).map_err(|error| Failure::wrong(&error))?;
                // What was asked is right, and the kernel is what refuses.
                run::run(choice).map_err(|error| Failure::failed(&error))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

fn request(command: &str, mut parser: lexopt::Parser) -> Result<Request, lexopt::Error> {
    let request = match command {
        "run" => match parser.next()? {
            Some(Value(control)) => Request::Run(control.string()?),
            Some(other) => return Err(other.unexpected()),
            None => return Err("run takes a controller".into()),
        },
        "check" => Request::Check,
        "list" => Request::List,
        _ => return Err(program::unknown(command)),
    };
    match parser.next()? {
        Some(other) => Err(other.unexpected()),
        None => Ok(request),
    }
}

fn list() -> String {
    let lines = catalogue().into_iter().map(|(name, refusal)| match refusal {
        Some(reason) => format!("{name}: no: {reason}"),
        None => format!("{name}: yes"),
    });
    lines.collect::<Vec<_>>().join("\n")
}
