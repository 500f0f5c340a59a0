//! The program `longfat-link`, which `longfat link` runs.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use lexopt::prelude::*;
use longfat_link::command::{self, CommandError};
use longfat_link::state::State;
use longfat_live::{End, program};

const USAGE: &str = "\
longfat-link up [--normal-priority] SCENARIO.toml|-  make a link
longfat-link status [--json]                         what it is, what crossed it
longfat-link shell [--end a|b] [--quiet] -- COMMAND  run a program behind it
longfat-link down                                    remove it
";

/// What was asked.
enum Request {
    Up { file: PathBuf, first: bool },
    Run { first: bool },
    Status { json: bool },
    Shell { end: End, tell: bool, program: OsString, arguments: Vec<OsString> },
    Down,
}

fn main() -> ExitCode {
    program::run(USAGE, request, |request| Ok(answer(request)?))
}

fn answer(request: Request) -> Result<ExitCode, CommandError> {
    let state = State::default();
    let (told, code) = match request {
        Request::Up { file, first } => (command::up(&state, &file, first)?, ExitCode::SUCCESS),
        Request::Down => (command::down(&state)?, ExitCode::SUCCESS),
        Request::Status { json } => command::status(&state, json)?,
        Request::Run { first } => {
            return command::run(&state, first).map(|()| ExitCode::SUCCESS);
        }
        Request::Shell { end, tell, program, arguments } => {
            return command::shell(&state, end, &program, &arguments, tell);
        }
    };
    program::print(&told);
    Ok(code)
}

fn request(command: &str, mut parser: lexopt::Parser) -> Result<Request, lexopt::Error> {
    let (mut first, mut json, mut tell, mut end) = (true, false, true, End::A);
    let mut values = Vec::new();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("normal-priority") if ["up", "run"].contains(&command) => first = false,
            Long("json") if command == "status" => json = true,
            Long("quiet") if command == "shell" => tell = false,
            Long("end") if command == "shell" => {
                let name = parser.value()?.string()?;
                end = End::of(&name)
                    .ok_or_else(|| format!("a link has the ends a and b, and no end {name:?}"))?;
            }
            Value(value) if command == "shell" => {
                values.push(value);
                values.extend(parser.raw_args()?);
            }
            Value(value) if command == "up" => values.push(value),
            other => return Err(other.unexpected()),
        }
    }
    let mut values = values.into_iter();
    match command {
        "up" => match (values.next(), values.next()) {
            (Some(file), None) => Ok(Request::Up { file: file.into(), first }),
            _ => Err("up takes one scenario".into()),
        },
        "run" => Ok(Request::Run { first }),
        "status" => Ok(Request::Status { json }),
        "down" => Ok(Request::Down),
        "shell" => {
            let program = values.next().ok_or("shell takes a command")?;
            Ok(Request::Shell { end, tell, program, arguments: values.collect() })
        }
        _ => Err(program::unknown(command)),
    }
}
