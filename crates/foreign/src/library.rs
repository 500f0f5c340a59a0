//! Shared libraries: what is in them, loaded once for each content.

use std::collections::BTreeMap;
use std::hash::Hasher;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use libloading::Library;
use longfat_units::Origin;
use siphasher::sip128::{Hasher128, SipHasher13};
use thiserror::Error;

use crate::table::{Keep, read_sized};
use crate::{Entry, TableError, abi, elf};

/// Why a library is of no use.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LibraryError {
    /// It cannot be read.
    #[error("{path}: {error}", path = path.display())]
    Unreadable {
        /// Where.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The system does not take it for a library.
    #[error("{path} is not a shared library for this machine: {reason}", path = path.display())]
    NotLoaded {
        /// Where.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// It is a library, but not for longfat.
    #[error(
        "{path} has no function `longfat_plugin`: it does not use longfat.h, or hides its functions",
        path = path.display()
    )]
    NoEntry {
        /// Where.
        path: PathBuf,
    },
    /// It speaks another version of the interface.
    #[error("{path} is made for {theirs} of longfat.h, and this is version {}: compile it again", abi::VERSION,
        path = path.display())]
    OtherVersion {
        /// Where.
        path: PathBuf,
        /// What it says.
        theirs: String,
    },
    /// What it says about itself is wrong.
    #[error("{path}: {error}", path = path.display())]
    Table {
        /// Where.
        path: PathBuf,
        /// What is wrong.
        error: TableError,
    },
}

/// The entries of the libraries that have been loaded, by their digests.
type Loaded = BTreeMap<String, Arc<Vec<Entry>>>;

/// The entries in a shared library, in its order: laws, controllers, queues.
///
/// The file is read once and loaded from a private copy, so that it may be compiled again while this process runs: then
/// the next call finds the new one beside the old, which whoever has it goes on using. Nothing is ever unloaded. What a
/// library needs beside it must be found by the system, not in its own folder.
///
/// Loading a library runs its code: whoever calls this trusts it.
///
/// # Errors
/// If it cannot be read or loaded, is not made for this version of the interface, or describes itself wrongly.
pub fn load(path: &Path) -> Result<Arc<Vec<Entry>>, LibraryError> {
    static LOADED: OnceLock<Mutex<Loaded>> = OnceLock::new();
    let unreadable = |error| LibraryError::Unreadable { path: path.into(), error };
    let content = std::fs::read(path).map_err(unreadable)?;
    let digest = digest(&content);
    let mut loaded = LOADED
        .get_or_init(Mutex::default)
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(entries) = loaded.get(&digest) {
        return Ok(Arc::clone(entries));
    }
    if let Some(reason) = elf::refusal(&content) {
        return Err(LibraryError::NotLoaded { path: path.into(), reason });
    }
    let folder = tempfile::tempdir().map_err(unreadable)?;
    let copy = folder.path().join(path.file_name().unwrap_or("library".as_ref()));
    std::fs::write(&copy, &content).map_err(unreadable)?;
    let entries = open(&copy, &digest).map_err(|wrong| wrong.at(path, &copy))?;
    let entries = Arc::new(entries);
    loaded.insert(digest, Arc::clone(&entries));
    Ok(entries)
}

/// What is wrong with a library, wherever it is.
enum Wrong {
    NotLoaded(String),
    NoEntry,
    OtherVersion(String),
    Table(TableError),
}

impl Wrong {
    fn at(self, path: &Path, copy: &Path) -> LibraryError {
        let (shown, path) = (copy.display().to_string(), path.to_owned());
        match self {
            Self::NotLoaded(reason) => {
                let reason = reason.replace(&format!("{shown}: "), "").replace(&shown, "the file");
                LibraryError::NotLoaded { path, reason }
            }
            Self::NoEntry => LibraryError::NoEntry { path },
            Self::OtherVersion(theirs) => LibraryError::OtherVersion { path, theirs },
            Self::Table(error) => LibraryError::Table { path, error },
        }
    }
}

fn open(path: &Path, digest: &str) -> Result<Vec<Entry>, Wrong> {
    let library = opened(path).map_err(|error| Wrong::NotLoaded(words(&error)))?;
    // SAFETY: the header gives the function this type.
    let plugin = unsafe { library.get::<abi::PluginFunction>(abi::ENTRY) };
    let plugin = *plugin.map_err(|_| Wrong::NoEntry)?;
    // Entries, and names in them, are used as long as the process lives.
    std::mem::forget(library);
    // SAFETY: the header promises a function that may be called at any time.
    let table = unsafe { plugin(abi::VERSION) };
    if table.is_null() {
        return Err(Wrong::OtherVersion("another version".into()));
    }
    // SAFETY: size and version are the first two numbers in every version.
    let version = unsafe { (&raw const (*table).version).read() };
    if version != u64::from(abi::VERSION) {
        return Err(Wrong::OtherVersion(format!("version {version}")));
    }
    // SAFETY: the header promises that all tables stay where they are as long as the process lives.
    unsafe { entries(table, digest) }.map_err(Wrong::Table)
}

/// Loads a library, with all that it uses: a function that is nowhere would otherwise end the process at its first call.
fn opened(path: &Path) -> Result<Library, libloading::Error> {
    // SAFETY: loading runs the initialisers of the library, and whoever calls `load` trusts it.
    #[cfg(unix)]
    let library = unsafe {
        use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
        Library::open(Some(path), RTLD_NOW | RTLD_LOCAL)?.into()
    };
    // SAFETY: as above.
    #[cfg(not(unix))]
    let library = unsafe { Library::new(path)? };
    Ok(library)
}

/// What the system says, with its reason.
fn words(error: &libloading::Error) -> String {
    let source = std::error::Error::source(error);
    source.map_or_else(|| error.to_string(), ToString::to_string)
}

/// # Safety
/// `table` and all that it points to keeps the rules of the header as long as the process lives.
unsafe fn entries(table: *const abi::Plugin, digest: &str) -> Result<Vec<Entry>, TableError> {
    // SAFETY: the caller's promise.
    let plugin = unsafe { read_sized(table)? };
    let keep: Keep = Arc::new(());
    let origin = || Origin::new(digest);
    let mut entries = Vec::new();
    // SAFETY: the caller promises lists of tables.
    unsafe {
        for law in list(plugin.laws, plugin.law_count, "law")? {
            entries.push(Entry::Controller(crate::law::entry(law, Arc::clone(&keep), origin())?));
        }
        for controller in list(plugin.controllers, plugin.controller_count, "controller")? {
            let entry = crate::controller::entry(controller, Arc::clone(&keep), origin())?;
            entries.push(Entry::Controller(entry));
        }
        for queue in list(plugin.queues, plugin.queue_count, "queue")? {
            let entry = crate::queue::entry(queue, Arc::clone(&keep), origin())?;
            entries.push(Entry::Discipline(entry));
        }
    }
    if entries.is_empty() {
        return Err(TableError::Wrong("there is nothing in it: all counts are 0".into()));
    }
    Ok(entries)
}

/// # Safety
/// There are as many pointers at `at`.
unsafe fn list<T>(
    at: *const *const T,
    count: u64,
    what: &str,
) -> Result<Vec<*const T>, TableError> {
    const MOST: u64 = 1000;
    if count > MOST || (count > 0 && at.is_null()) {
        let what =
            format!("it says that it has {count} entries of kind {what}: {MOST} are the most");
        return Err(TableError::Wrong(what));
    }
    // SAFETY: the caller's promise.
    Ok((0..count as usize).map(|index| unsafe { at.add(index).read() }).collect())
}

/// A digest of a library: another one for another content.
fn digest(content: &[u8]) -> String {
    let mut hasher = SipHasher13::new_with_keys(0x6c6f_6e67_6661_7400, u64::from(abi::VERSION));
    hasher.write(content);
    let hash = hasher.finish128();
    format!("{:016x}{:016x}", hash.h1, hash.h2)
}
