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

use std::io::{self, Write};
use std::process::ExitCode;

use lexopt::prelude::*;
use longfat_tcp_host::{Choice, catalogue};

const USAGE: &str = "\
longfat-tcp run CONTROL   control every flow whose congestion control is longfat
longfat-tcp check         is everything there that it needs?
longfat-tcp list          which controllers run, and why the others do not
";

enum Request {
    Help,
    Run(String),
    Check,
    List,
}

fn main() -> ExitCode {
    let request = match request(lexopt::Parser::from_env()) {
        Ok(request) => request,
        Err(error) => {
            eprint!("error: {error}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    // Wrong input, unless the kernel is what refuses.
    let (result, failed) = match request {
        Request::Help => return print(USAGE),
        Request::List => return print(&list()),
        Request::Check => (kernel::check().map_err(|error| error.to_string()), 2),
        Request::Run(control) => match Choice::read(&control) {
            Ok(choice) => (run::run(choice).map_err(|error| error.to_string()), 1),
            Err(error) => (Err(error.to_string()), 2),
        },
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(told) => {
            // The messages of scenarios begin with the same word.
            eprintln!("error: {}", told.trim_start_matches("error: "));
            ExitCode::from(failed)
        }
    }
}

fn request(mut parser: lexopt::Parser) -> Result<Request, lexopt::Error> {
    let command = match parser.next()? {
        Some(Value(command)) => command.string()?,
        Some(Long("help") | Short('h')) => return Ok(Request::Help),
        Some(other) => return Err(other.unexpected()),
        None => return Err("no command".into()),
    };
    let request = match &*command {
        "run" => match parser.next()? {
            Some(Value(control)) => Request::Run(control.string()?),
            Some(other) => return Err(other.unexpected()),
            None => return Err("run takes a controller".into()),
        },
        "check" => Request::Check,
        "list" => Request::List,
        _ => return Err(format!("there is no command {command:?}").into()),
    };
    match parser.next()? {
        Some(other) => Err(other.unexpected()),
        None => Ok(request),
    }
}

fn list() -> String {
    let lines = catalogue().into_iter().map(|(name, refusal)| match refusal {
        Some(reason) => format!("{name}: no: {reason}\n"),
        None => format!("{name}: yes\n"),
    });
    lines.collect()
}

/// Whoever has stopped reading does not want to know.
fn print(text: &str) -> ExitCode {
    let _ = io::stdout().write_all(text.as_bytes());
    ExitCode::SUCCESS
}
