//! What is known about the link that is up, in files under `/run`: how its commands find one another.
//!
//! | file | what |
//! |---|---|
//! | `lock` | locked while a link is made or removed, and removed with it |
//! | `alive` | locked by the process of the link for as long as it lives, however it ends; holds its number |
//! | `scenario.toml` | what was asked for |
//! | `status.json` | what happened so far |
//! | `messages` | what the process said |

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::process::Pid;
use serde::{Deserialize, Serialize};

use crate::capture::Captured;
use crate::direction::Counts;
use crate::lateness::{Lateness, Measurement};

/// Where the files are.
const FOLDER: &str = "/run/longfat-link";

/// How often a process tries to become the link, a hundredth of a second apart.
const LOOKS: u32 = 50;

/// The files of a link.
#[derive(Clone, Debug)]
pub struct State(PathBuf);

/// What happened since the link came up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// How long it has been up, in seconds.
    pub seconds: f64,
    /// How its thread is scheduled, in words.
    pub priority: String,
    /// The forward and the reverse direction.
    pub directions: [Counts; 2],
    /// How late packets were: nanoseconds, and number of packets.
    pub lateness: Lateness,
    /// How much was captured, if anything is to be.
    #[serde(default)]
    pub captured: Option<Captured>,
}

impl Status {
    /// The same with packets that the devices dropped before the link saw them.
    pub fn measurement(self, unseen: u64) -> Measurement {
        let Self { directions, lateness, captured, .. } = self;
        Measurement { directions, lateness, unseen, captured }
    }
}

impl Default for State {
    fn default() -> Self {
        Self(FOLDER.into())
    }
}

impl State {
    /// The same in another folder.
    pub fn at(folder: &Path) -> Self {
        Self(folder.into())
    }

    /// One of its files.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Keeps others from making or removing a link until the file is closed.
    ///
    /// # Errors
    /// If another process is just doing so, or the file cannot be made.
    pub fn lock(&self) -> io::Result<File> {
        let path = self.path("lock");
        loop {
            fs::create_dir_all(&self.0)?;
            let file = match open(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                file => file?,
            };
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                // Whoever held it may have removed it meanwhile, as may the folder have gone above.
                Ok(()) if !is_at(&file, &path)? => {}
                Ok(()) => return Ok(file),
                Err(Errno::WOULDBLOCK) => {
                    let message =
                        "another command is making or removing a link: wait for it to end";
                    return Err(io::Error::new(io::ErrorKind::WouldBlock, message));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Removes the lock, and the folder unless somebody keeps a file of their own there, and lets others have them.
    ///
    /// # Errors
    /// If one of them cannot be removed.
    pub fn leave(&self, lock: File) -> io::Result<()> {
        fs::remove_file(self.path("lock"))?;
        let removed = match fs::remove_dir(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
            removed => removed,
        };
        drop(lock);
        removed
    }

    /// Says that this process is the link, for as long as the file is open.
    ///
    /// # Errors
    /// If another one is, or the file cannot be made.
    pub fn claim(&self) -> io::Result<File> {
        let mut file = open(&self.path("alive"))?;
        // Whoever looks whether there is a process holds it for a moment.
        let mut looks = 0;
        while let Err(error) = flock(&file, FlockOperation::NonBlockingLockExclusive) {
            looks += 1;
            if error != Errno::WOULDBLOCK || looks > LOOKS {
                return Err(error.into());
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        file.set_len(0)?;
        write!(file, "{}", std::process::id())?;
        Ok(file)
    }

    /// The process of the link, if it lives.
    pub fn process(&self) -> Option<Pid> {
        let path = self.path("alive");
        let file = OpenOptions::new().read(true).open(&path).ok()?;
        if flock(&file, FlockOperation::NonBlockingLockShared).is_ok() {
            return None;
        }
        Pid::from_raw(fs::read_to_string(&path).ok()?.trim().parse().ok()?)
    }

    /// Writes what happened so far, as a whole.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_status(&self, status: &Status) -> io::Result<()> {
        let new = self.path("status.json.new");
        fs::write(&new, serde_json::to_vec(status)?)?;
        fs::rename(new, self.path("status.json"))
    }

    /// Reads it.
    ///
    /// # Errors
    /// If it is not there or not whole.
    pub fn status(&self) -> io::Result<Status> {
        Ok(serde_json::from_slice(&fs::read(self.path("status.json"))?)?)
    }

    /// Removes all other files. True if there were any.
    ///
    /// # Errors
    /// If a file cannot be removed.
    pub fn clear(&self) -> io::Result<bool> {
        let mut any = false;
        for name in ["alive", "scenario.toml", "status.json", "status.json.new", "messages"] {
            match fs::remove_file(self.path(name)) {
                Ok(()) => any = true,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(any)
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}

/// Is this still the file at `path`?
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let of = |data: fs::Metadata| (data.dev(), data.ino());
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        found => Ok(of(found?) == of(file.metadata()?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(name: &str) -> State {
        let folder = std::env::temp_dir().join(format!("longfat-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder for a test can be made");
        State::at(&folder)
    }

    #[test]
    fn only_one_at_a_time_makes_a_link() {
        let state = state("lock");
        let held = state.lock().expect("nobody holds it");
        let error = state.lock().expect_err("it is held");
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        drop(held);
        assert!(state.lock().is_ok());
    }

    #[test]
    fn nothing_is_left_of_a_link_that_is_removed() {
        let state = state("leave");
        let held = state.lock().expect("nobody holds it");
        // Somebody else came before it was removed, and gets hold of a file that is there no more.
        let late = open(&state.path("lock")).expect("it is there");
        state.leave(held).expect("it can be removed");
        assert!(!state.path("").exists());
        assert!(!is_at(&late, &state.path("lock")).expect("it can be looked for"));
        let again = state.lock().expect("a new one can be made");
        assert!(!is_at(&late, &state.path("lock")).expect("it can be looked for"));
        assert!(is_at(&again, &state.path("lock")).expect("it can be looked for"));
        state.leave(again).expect("it can be removed");
    }

    #[test]
    fn a_process_lives_as_long_as_its_lock() {
        let state = state("alive");
        assert_eq!(state.process(), None);
        let claim = state.claim().expect("nobody else is the link");
        assert_eq!(state.process(), Some(rustix::process::getpid()));
        drop(claim);
        // What a process that was killed leaves is a number without a lock.
        assert_eq!(state.process(), None);
        assert!(state.clear().expect("it can be removed"));
        assert!(!state.clear().expect("nothing is left"));
    }

    #[test]
    fn a_status_reads_back() {
        let state = state("status");
        let status = Status {
            seconds: 1.5,
            priority: "normal".into(),
            directions: [Counts { arrived: 3, ..Counts::default() }, Counts::default()],
            lateness: Lateness(vec![(1000, 3)]),
            captured: Some(Captured { segments: 3, missed: 0 }),
        };
        state.write_status(&status).expect("it can be written");
        assert_eq!(state.status().expect("it is there"), status);
    }
}
