//! The two ends of a link: their network namespaces and addresses.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// What `ip netns` keeps namespaces in.
const NAMESPACES: &str = "/run/netns";

/// One end of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Where the forward direction begins.
    A,
    /// Where it ends.
    B,
}

/// A namespace that could not be entered.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {error}")]
pub struct EndError {
    /// The file that stands for it.
    path: String,
    /// Why.
    error: io::Error,
}

impl End {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::A, Self::B];

    /// The end called `name`.
    pub fn of(name: &str) -> Option<Self> {
        match name {
            "a" => Some(Self::A),
            "b" => Some(Self::B),
            _ => None,
        }
    }

    /// The namespace.
    pub fn namespace(self) -> &'static str {
        match self {
            Self::A => "longfat-a",
            Self::B => "longfat-b",
        }
    }

    /// The address of IPv4, from those that are for measurements (RFC 2544, appendix C.2.2).
    pub fn v4(self) -> &'static str {
        match self {
            Self::A => "198.18.0.1",
            Self::B => "198.18.0.2",
        }
    }

    /// The address of IPv6, from those that are for measurements (RFC 5180, section 8).
    pub fn v6(self) -> &'static str {
        match self {
            Self::A => "2001:2::1",
            Self::B => "2001:2::2",
        }
    }

    /// The file that stands for the namespace.
    fn file(self) -> PathBuf {
        PathBuf::from(NAMESPACES).join(self.namespace())
    }

    /// Is there such a namespace?
    pub fn exists(self) -> bool {
        self.file().exists()
    }

    /// Moves this thread into the namespace.
    ///
    /// # Errors
    /// If there is no such namespace, or the kernel refuses: the capability `CAP_SYS_ADMIN` is missing.
    pub fn enter(self) -> Result<(), EndError> {
        let path = self.file();
        let told = |error: io::Error| EndError { path: path.display().to_string(), error };
        let file = File::open(&path).map_err(told)?;
        let kind = Some(LinkNameSpaceType::Network);
        move_into_link_name_space(file.as_fd(), kind).map_err(|error| told(error.into()))
    }

    /// Does something in the namespace, on a thread of its own.
    ///
    /// # Errors
    /// If there is no such namespace, or what is done fails.
    pub fn inside<T: Send, E: From<EndError> + Send>(
        self,
        work: impl FnOnce() -> Result<T, E> + Send,
    ) -> Result<T, E> {
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                self.enter()?;
                work()
            });
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}
