//! The program in the kernel that goes by tables: loaded, told its law, and registered.

use libbpf_rs::{
    ErrorKind, Link, MapCore, MapFlags, MapMut, Object, ObjectBuilder, OpenMapMut, OpenObject,
};
use longfat_tcp_tables::{Image, LawImage, Piece};

use crate::kernel::{self, KernelError};

const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/law.o"));

/// The longest name of a congestion control: `TCP_CA_NAME_MAX` with the zero at its end is 16.
const LONGEST: usize = 15;
/// Where the name is in the operations: behind five pointers.
const NAME_AT: usize = 5 * 8;
const FIRST: [u8; 4] = 0_u32.to_ne_bytes();

/// The maps of the program, and the one of its programs that sees each acknowledgment.
pub(crate) const PIECES: &str = "pieces";
pub(crate) const ABOUT: &str = "about";
pub(crate) const CONNECTIONS: &str = "connections";
pub(crate) const CONTROL: &str = "law_cong_control";
/// The program that only tests run.
const TRIAL: &str = "law_trial";
const OPERATIONS: &str = "operations";
const CONSTANTS: &str = ".rodata";

/// What Linux calls the law of this controller: `longfat_` and its name, cut to 15 letters.
pub(crate) fn congestion(control: &str) -> String {
    let name = format!("longfat_{}", control.replace('-', "_"));
    name.chars().take(LONGEST).collect()
}

/// The program, in the kernel but not yet registered.
#[derive(Debug)]
pub(crate) struct LawProgram {
    pub(crate) object: Object,
}

impl LawProgram {
    /// Loads the program with this law, to be registered as `congestion`, and with a text about it.
    ///
    /// # Errors
    /// What is missing, or what the kernel says.
    pub(crate) fn load(image: &Image, congestion: &str, about: &str) -> Result<Self, KernelError> {
        kernel::check()?;
        kernel::quiet();
        let mut open = ObjectBuilder::default().open_memory(PROGRAM)?;
        let count = u32::try_from(image.pieces.len()).map_err(|_| KernelError::Unfit)?;
        named(&mut open, PIECES)?.set_max_entries(count)?;
        let mut constants = named(&mut open, CONSTANTS)?;
        let place = constants.initial_value_mut().and_then(|all| all.get_mut(..LawImage::SIZE));
        place.ok_or(KernelError::Unfit)?.copy_from_slice(&image.law.bytes());
        let mut operations = named(&mut open, OPERATIONS)?;
        let named =
            operations.initial_value_mut().and_then(|all| all.get_mut(NAME_AT..NAME_AT + 16));
        let named = named.ok_or(KernelError::Unfit)?;
        named.fill(0);
        named[..congestion.len()].copy_from_slice(congestion.as_bytes());
        let trial = open.progs_mut().find(|program| program.name() == TRIAL);
        trial.ok_or(KernelError::Unfit)?.set_autoload(cfg!(test));
        let program = Self { object: open.load()? };
        let pieces = program.map(PIECES)?;
        if pieces.value_size() as usize != Piece::SIZE {
            return Err(KernelError::Unfit);
        }
        for (number, piece) in (0_u32..).zip(&image.pieces) {
            pieces.update(&number.to_ne_bytes(), &piece.bytes(), MapFlags::ANY)?;
        }
        let told = program.map(ABOUT)?;
        let mut text = about.as_bytes().to_vec();
        text.resize(told.value_size() as usize, 0);
        told.update(&FIRST, &text, MapFlags::ANY)?;
        Ok(program)
    }

    /// Registers it as a congestion control, for as long as the link is held or pinned.
    ///
    /// # Errors
    /// If another one has its name, or the kernel refuses.
    pub(crate) fn register(&mut self, congestion: &str) -> Result<Link, KernelError> {
        let link = self.map_mut(OPERATIONS)?.attach_struct_ops();
        link.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => KernelError::Taken(congestion.into()),
            _ => error.into(),
        })
    }

    fn map(&self, name: &str) -> Result<libbpf_rs::Map<'_>, KernelError> {
        self.object.maps().find(|map| map.name() == name).ok_or(KernelError::Unfit)
    }

    /// One of its maps, to be pinned.
    ///
    /// # Errors
    /// If it has no such map.
    pub(crate) fn map_mut(&mut self, name: &str) -> Result<MapMut<'_>, KernelError> {
        self.object.maps_mut().find(|map| map.name() == name).ok_or(KernelError::Unfit)
    }
}

fn named<'a>(open: &'a mut OpenObject, name: &str) -> Result<OpenMapMut<'a>, KernelError> {
    // That of constants begins with the name of the file.
    let found = open.maps_mut().find(|map| {
        map.name()
            .to_str()
            .is_some_and(|own| own == name || name == CONSTANTS && own.ends_with(name))
    });
    found.ok_or(KernelError::Unfit)
}

/// How many connections have the law whose counter this is.
///
/// # Errors
/// If the kernel refuses.
pub(crate) fn connections(counter: &impl MapCore) -> Result<u64, KernelError> {
    let bytes = counter.lookup(&FIRST, MapFlags::ANY)?;
    let bytes = bytes.and_then(|bytes| <[u8; 8]>::try_from(bytes).ok());
    bytes.map(u64::from_ne_bytes).ok_or(KernelError::Unfit)
}

/// The text of a law that is there.
///
/// # Errors
/// If the kernel refuses, or it is none.
pub(crate) fn about(map: &impl MapCore) -> Result<String, KernelError> {
    let bytes = map.lookup(&FIRST, MapFlags::ANY)?.ok_or(KernelError::Unfit)?;
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8(text.to_vec()).map_err(|_| KernelError::Unfit)
}

#[cfg(test)]
mod tests;
