//! What an ELF file says of itself, where loaders end the process or say something else instead of refusing it.

/// A field of the header of 64-bit files, or of a program header: where it begins, and how many bytes it has. From the
/// System V ABI, chapter 4, "ELF Header", and chapter 5, "Program Header".
type Place = (usize, usize);

const CLASS: usize = 4;
const DATA: usize = 5;
const MACHINE: Place = (18, 2);
const HEADERS_AT: Place = (32, 8);
const HEADER_SIZE: Place = (54, 2);
const HEADERS: Place = (56, 2);
const KIND: Place = (0, 4);
const BEGINS: Place = (8, 8);
const BYTES: Place = (32, 8);

const CLASS_64: u8 = 2;
const LITTLE_ENDIAN: u8 = 1;
const LOADED: u64 = 1;

/// What the machine that this is compiled for is called in such a file; `None` if it is not known here.
const HERE: Option<u64> = if cfg!(all(target_arch = "x86_64", target_pointer_width = "64")) {
    Some(62)
} else if cfg!(all(target_arch = "aarch64", target_endian = "little")) {
    Some(183)
} else {
    None
};

/// Why a file must not be loaded, in words. Whatever else is wrong with it the system tells.
///
/// Of a file that is cut off the system maps what is missing all the same, and looking at it ends the process (SIGBUS).
/// A file for another processor it passes over as if there were none.
pub(crate) fn refusal(content: &[u8]) -> Option<String> {
    let elf = content.starts_with(b"\x7fELF");
    let plain = content.get(CLASS) == Some(&CLASS_64) && content.get(DATA) == Some(&LITTLE_ENDIAN);
    if !(elf && plain) {
        return None;
    }
    if HERE.is_some_and(|here| number(content, 0, MACHINE).is_some_and(|other| other != here)) {
        return Some("it is made for another kind of processor".into());
    }
    let (at, size) = (number(content, 0, HEADERS_AT)?, number(content, 0, HEADER_SIZE)?);
    let mut end = 0;
    for index in 0..number(content, 0, HEADERS)? {
        let header = usize::try_from(at.checked_add(index * size)?).ok()?;
        if number(content, header, KIND)? == LOADED {
            let (begins, bytes) =
                (number(content, header, BEGINS)?, number(content, header, BYTES)?);
            end = end.max(begins.saturating_add(bytes));
        }
    }
    let has = content.len();
    (end > has as u64)
        .then(|| format!("it is cut off: it has {has} bytes of at least {end}; compile it again"))
}

/// A number of a structure that begins at `base`; `None` where the file ends before it.
fn number(content: &[u8], base: usize, (at, bytes): Place) -> Option<u64> {
    let begins = base.checked_add(at)?;
    let field = content.get(begins..begins.checked_add(bytes)?)?;
    Some(field.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}
