//! The program `longfat-link`, which `longfat link` runs.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use lexopt::prelude::*;
use longfat_link::command::{self, CommandError, Options};
use longfat_link::state::State;
use longfat_live::{End, program};

const USAGE: &str = "\
longfat-link up [--normal-priority] [--capture FILE] [--capture-bytes N] SCENARIO.toml|-  make a link
longfat-link status [--json]                         what it is, what crossed it
longfat-link shell [--end a|b] [--quiet] -- COMMAND  run a program behind it
longfat-link down                                    remove it
";

/// How many bytes of each packet are captured by default: room for headers with all their options, but for the rarest.
const HEADERS: u16 = 128;

/// What was asked.
enum Request {
    Up { file: PathBuf, options: Options },
    Run { options: Options },
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
        Request::Up { file, options } => (command::up(&state, &file, &options)?, ExitCode::SUCCESS),
        Request::Down => (command::down(&state)?, ExitCode::SUCCESS),
        Request::Status { json } => command::status(&state, json)?,
        Request::Run { options } => {
            return command::run(&state, &options).map(|()| ExitCode::SUCCESS);
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
    let (mut capture, mut most) = (None, HEADERS);
    let mut values = Vec::new();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("normal-priority") if ["up", "run"].contains(&command) => first = false,
            Long("capture") if ["up", "run"].contains(&command) => {
                capture = Some(PathBuf::from(parser.value()?));
            }
            Long("capture-bytes") if ["up", "run"].contains(&command) => {
                most = parser.value()?.parse()?;
            }
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
    let options = Options { first, capture: capture.map(|path| (path, most)) };
    let mut values = values.into_iter();
    match command {
        "up" => match (values.next(), values.next()) {
            (Some(file), None) => Ok(Request::Up { file: file.into(), options }),
            _ => Err("up takes one scenario".into()),
        },
        "run" => Ok(Request::Run { options }),
        "status" => Ok(Request::Status { json }),
        "down" => Ok(Request::Down),
        "shell" => {
            let program = values.next().ok_or("shell takes a command")?;
            Ok(Request::Shell { end, tell, program, arguments: values.collect() })
        }
        _ => Err(program::unknown(command)),
    }
}
