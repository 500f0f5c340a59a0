//! How a program begins and ends: it reads what it is asked, does it, and says what was wrong.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use lexopt::prelude::*;

/// What a wrong request ends with.
const WRONG_INPUT: u8 = 2;

/// Why a program could not do what it was asked, and what it ends with: 1 for what failed, 2 for wrong input.
#[derive(Debug)]
pub struct Failure {
    told: String,
    code: ExitCode,
}

impl Failure {
    /// What was wrong, in words, and the exit code.
    pub fn new(error: &impl Display, code: ExitCode) -> Self {
        Self { told: error.to_string(), code }
    }

    /// What was asked is wrong.
    pub fn wrong(error: &impl Display) -> Self {
        Self::new(error, ExitCode::from(WRONG_INPUT))
    }

    /// What was asked did not work.
    pub fn failed(error: &impl Display) -> Self {
        Self::new(error, ExitCode::FAILURE)
    }
}

/// Reads the command line and answers it: `read` takes the command and what is left of the line, and `answer` does what
/// was read. What is wrong goes to the standard error, with `usage` where it is the command line.
pub fn run<R>(
    usage: &str,
    read: impl FnOnce(&str, lexopt::Parser) -> Result<R, lexopt::Error>,
    answer: impl FnOnce(R) -> Result<ExitCode, Failure>,
) -> ExitCode {
    let mut parser = lexopt::Parser::from_env();
    let request = command(&mut parser)
        .and_then(|command| command.map(|command| read(&command, parser)).transpose());
    match request.map(|request| request.map(answer)) {
        Ok(None) => print(usage.trim_end()),
        Ok(Some(Ok(code))) => code,
        Ok(Some(Err(Failure { told, code }))) => {
            // The messages of scenarios begin with the same word.
            eprintln!("error: {}", told.trim_start_matches("error: "));
            code
        }
        Err(error) => {
            eprint!("error: {error}\n\n{usage}");
            ExitCode::from(WRONG_INPUT)
        }
    }
}

/// The first word; `None` where help is asked for.
fn command(parser: &mut lexopt::Parser) -> Result<Option<String>, lexopt::Error> {
    match parser.next()? {
        Some(Value(command)) => command.string().map(Some),
        Some(Long("help") | Short('h')) => Ok(None),
        Some(other) => Err(other.unexpected()),
        None => Err("no command".into()),
    }
}

/// There is no such command.
pub fn unknown(command: &str) -> lexopt::Error {
    format!("there is no command {command:?}").into()
}

/// Prints a line at once. Whoever has stopped reading does not want to know.
pub fn print(told: &str) -> ExitCode {
    let mut out = io::stdout();
    let _ = writeln!(out, "{told}").and_then(|()| out.flush());
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(words: &[&str]) -> Result<Option<String>, String> {
        command(&mut lexopt::Parser::from_args(words)).map_err(|error| error.to_string())
    }

    #[test]
    fn the_first_word_is_the_command() {
        assert_eq!(first(&["up", "--help"]), Ok(Some("up".into())));
        assert_eq!(first(&["--help"]), Ok(None));
        assert_eq!(first(&[]), Err("no command".into()));
        assert!(first(&["--up"]).is_err_and(|told| told.contains("--up")));
    }
}
