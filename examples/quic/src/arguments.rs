//! The command line.

use std::net::SocketAddr;

const USAGE: &str =
    "usage: longfat-quic-example [--serve ADDRESS:PORT | --to ADDRESS:PORT] [--control NAME]
                            [--set PARAMETER=VALUE ...] [--seconds N]";

/// Which ends run here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Serve(SocketAddr),
    Send(SocketAddr),
    Both,
}

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
pub struct Arguments {
    pub role: Role,
    pub control: String,
    pub settings: Vec<(String, String)>,
    pub seconds: u64,
}

impl Arguments {
    /// Reads the arguments after the name of the program.
    pub fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut read =
            Self { role: Role::Both, control: "reno".into(), settings: Vec::new(), seconds: 10 };
        while let Some(option) = words.next() {
            let value = words.next().ok_or_else(|| USAGE.to_owned())?;
            let wrong = |wanted: &str| format!("{option} needs {wanted}, not `{value}`\n{USAGE}");
            let address = || value.parse().map_err(|_| wrong("an address such as 192.0.2.1:4433"));
            match option.as_str() {
                "--serve" => read.role = Role::Serve(address()?),
                "--to" => read.role = Role::Send(address()?),
                "--control" => read.control = value,
                "--set" => {
                    let pair = value.split_once('=').ok_or_else(|| wrong("PARAMETER=VALUE"))?;
                    read.settings.push((pair.0.into(), pair.1.into()));
                }
                "--seconds" => {
                    let seconds = value.parse().ok().filter(|seconds| *seconds > 0);
                    read.seconds = seconds.ok_or_else(|| wrong("a whole number of seconds"))?;
                }
                _ => return Err(USAGE.into()),
            }
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Arguments, String> {
        Arguments::read(line.split_whitespace().map(String::from))
    }

    #[test]
    fn options_are_read() {
        let read = read("--to 192.0.2.1:4433 --control aimd --set b=0.3 --seconds 5");
        let expected = Arguments {
            role: Role::Send("192.0.2.1:4433".parse().expect("an address")),
            control: "aimd".into(),
            settings: vec![("b".into(), "0.3".into())],
            seconds: 5,
        };
        assert_eq!(read, Ok(expected));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for line in ["--seconds 0", "--to there", "--set b", "--control", "--speed 3"] {
            assert!(read(line).is_err_and(|reason| reason.contains("usage")), "{line}");
        }
    }
}
