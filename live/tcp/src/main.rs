//! The program `longfat-tcp`: any controller of longfat in Linux TCP, unchanged.
//!
//! ```text
//!     socket ── cong_control ──▶ ring buffer ──▶ controller ──▶ mapped array ──▶ next acknowledgment
//!               in the kernel                    here
//! ```
//!
//! Flows ask for it with `setsockopt(TCP_CONGESTION, "longfat")`. Where it ends, they go on under Reno.
//!
//! `kernel` puts window laws into the kernel as tables, where they need no program: [`law`].

mod decisions;
mod kernel;
mod law;
mod run;
mod spare;

use std::process::ExitCode;

use lexopt::prelude::*;
use longfat_live::program::{self, Failure};
use longfat_tcp_host::{Choice, catalogue};

const USAGE: &str = "\
longfat-tcp run CONTROL   control every flow whose congestion control is longfat
longfat-tcp check         is everything there that it needs?
longfat-tcp list          which controllers run, and why the others do not

Window laws as tables in the kernel, without this program:

longfat-tcp kernel install CONTROL   until it is removed
longfat-tcp kernel list [--json]     what is installed
longfat-tcp kernel remove NAME       remove it; --all instead of a name: all of them
longfat-tcp kernel run CONTROL       until this program ends
longfat-tcp kernel laws              which controllers have a table, and why the others do not
";

enum Request {
    Run(String),
    Check,
    List,
    Kernel(KernelRequest),
}

enum KernelRequest {
    Install(String),
    List {
        as_json: bool,
    },
    /// Without a name: all.
    Remove(Option<String>),
    Run(String),
    Laws,
}

fn main() -> ExitCode {
    program::run(USAGE, request, |request| {
        match request {
            Request::List => return Ok(program::print(&list())),
            Request::Kernel(request) => return kernel_command(request),
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

fn kernel_command(request: KernelRequest) -> Result<ExitCode, Failure> {
    let told = match request {
        KernelRequest::Install(control) => law::install(&control),
        KernelRequest::List { as_json } => law::list(as_json),
        KernelRequest::Remove(name) => law::remove(name.as_deref()),
        KernelRequest::Run(control) => law::run(&control).map(|()| String::new()),
        KernelRequest::Laws => Ok(law::laws()),
    };
    match told {
        Ok(text) if text.is_empty() => Ok(ExitCode::SUCCESS),
        Ok(text) => Ok(program::print(text.trim_end())),
        Err(error) if error.is_input() => Err(Failure::wrong(&error)),
        Err(error) => Err(Failure::failed(&error)),
    }
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
        "kernel" => Request::Kernel(kernel_request(&mut parser)?),
        _ => return Err(program::unknown(command)),
    };
    match parser.next()? {
        Some(other) => Err(other.unexpected()),
        None => Ok(request),
    }
}

fn kernel_request(parser: &mut lexopt::Parser) -> Result<KernelRequest, lexopt::Error> {
    let command = parser.value()?.string()?;
    Ok(match &*command {
        "install" => KernelRequest::Install(parser.value()?.string()?),
        "run" => KernelRequest::Run(parser.value()?.string()?),
        "laws" => KernelRequest::Laws,
        "list" => match parser.next()? {
            None => KernelRequest::List { as_json: false },
            Some(Long("json")) => KernelRequest::List { as_json: true },
            Some(other) => return Err(other.unexpected()),
        },
        "remove" => match parser.next()? {
            Some(Long("all")) => KernelRequest::Remove(None),
            Some(Value(name)) => KernelRequest::Remove(Some(name.string()?)),
            Some(other) => return Err(other.unexpected()),
            None => return Err("remove takes a name, or --all".into()),
        },
        _ => return Err(format!("there is no command {command:?} of kernel").into()),
    })
}

fn list() -> String {
    let lines = catalogue().into_iter().map(|(name, refusal)| match refusal {
        Some(reason) => format!("{name}: no: {reason}"),
        None => format!("{name}: yes"),
    });
    lines.collect::<Vec<_>>().join("\n")
}
