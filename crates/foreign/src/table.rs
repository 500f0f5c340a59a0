//! Tables of foreign code, read and checked once: what is left afterwards are functions that exist and texts of ours.

use std::any::Any;
use std::ffi::{CStr, c_char};
use std::sync::Arc;

use longfat_units::parameter::{Parameter, Setting, Settings};

use crate::{TableError, abi};

/// What keeps foreign code, and the data that its tables point to, where they are.
pub(crate) type Keep = Arc<dyn Any + Send + Sync>;

/// A state may be no larger: there is one for each flow.
const LARGEST_STATE: u64 = 16_000_000;
const MOST_PARAMETERS: u64 = 64;
const MOST_OBSERVED: u64 = 64;

/// A structure with its own size in front, of which later versions have more.
///
/// # Safety
/// Implemented only for `repr(C)` structures that begin with a `u64`, their size, and for which zeros are a value.
pub(crate) unsafe trait Sized64: Copy {
    /// How much of it version 1 has had from the start.
    const LEAST: usize = size_of::<Self>();
    /// What it is called.
    const NAME: &'static str;
}

// SAFETY: all begin with `size: u64` and hold integers, pointers and optional functions, for which zero is null.
unsafe impl Sized64 for abi::Law {
    const NAME: &'static str = "longfat_law";
}
// SAFETY: as above.
unsafe impl Sized64 for abi::Controller {
    const NAME: &'static str = "longfat_controller";
}
// SAFETY: as above.
unsafe impl Sized64 for abi::Queue {
    const NAME: &'static str = "longfat_queue";
}
// SAFETY: as above.
unsafe impl Sized64 for abi::Plugin {
    const NAME: &'static str = "longfat_plugin_table";
}

/// Reads such a structure: what a newer library has beyond it is left alone, what an older one lacks is zero.
///
/// # Safety
/// `at` is null, or points to as many bytes as the number that it begins with says.
pub(crate) unsafe fn read_sized<T: Sized64>(at: *const T) -> Result<T, TableError> {
    if at.is_null() {
        return Err(TableError::Wrong(format!("a {} is missing: the pointer is null", T::NAME)));
    }
    // SAFETY: the caller promises that there is a structure, and each begins with its size.
    let size = unsafe { at.cast::<u64>().read_unaligned() };
    if size < T::LEAST as u64 {
        return Err(TableError::Wrong(format!(
            "a {} says that it has {size} bytes, and it has at least {}: set `size` to sizeof({0})",
            T::NAME,
            T::LEAST
        )));
    }
    // SAFETY: zeros are a value of T.
    let mut read: T = unsafe { std::mem::zeroed() };
    let most = size_of::<T>().min(size as usize);
    // SAFETY: so many bytes are there, and fit.
    unsafe {
        std::ptr::copy_nonoverlapping(at.cast::<u8>(), std::ptr::from_mut(&mut read).cast(), most);
    }
    Ok(read)
}

/// A text of a table; `None` for null.
///
/// # Safety
/// `at` is null, or points to bytes that end with a zero.
unsafe fn text(at: *const c_char) -> Result<Option<String>, TableError> {
    if at.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller promises a string.
    let found = unsafe { CStr::from_ptr(at) };
    match found.to_str() {
        Ok(text) => Ok(Some(text.to_owned())),
        Err(_) => {
            Err(TableError::Wrong(format!("`{}` is not UTF-8 text", found.to_string_lossy())))
        }
    }
}

/// What tables of all kinds begin with.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) source: String,
    pub(crate) parameters: Vec<Parameter>,
}

/// Reads what tables begin with. Controllers have no lengths.
///
/// # Safety
/// The texts are null or end with a zero, and there are as many parameters as it says.
pub(crate) unsafe fn read_head(raw: &abi::Head, lengths: bool) -> Result<Head, TableError> {
    // SAFETY: the caller's promise.
    let (name, title, source) = unsafe { (text(raw.name)?, text(raw.title)?, text(raw.source)?) };
    let name =
        name.ok_or_else(|| TableError::Wrong("an entry has no name: `name` is null".into()))?;
    let wrong = |what: String| TableError::Wrong(format!("`{name}`: {what}"));
    if raw.parameter_count > MOST_PARAMETERS
        || (raw.parameter_count > 0 && raw.parameters.is_null())
    {
        return Err(wrong(format!(
            "it says that it has {} parameters: {MOST_PARAMETERS} are the most, and they are a list",
            raw.parameter_count
        )));
    }
    let mut parameters = Vec::new();
    for index in 0..raw.parameter_count as usize {
        // SAFETY: the caller promises so many of them.
        let (given, key, about, written) = unsafe {
            let given = raw.parameters.add(index).read();
            (given, text(given.name)?, text(given.about)?, text(given.text)?)
        };
        let key = key.ok_or_else(|| wrong(format!("parameter {index} has no name")))?;
        let read = parameter(&given, key.clone(), about.unwrap_or_default(), written, lengths);
        parameters.push(read.map_err(|what| wrong(format!("parameter `{key}`: {what}")))?);
    }
    let (title, source) = (title.unwrap_or_default(), source.unwrap_or_default());
    Ok(Head { name, title, source, parameters })
}

fn parameter(
    given: &abi::Parameter,
    name: String,
    about: String,
    text: Option<String>,
    lengths: bool,
) -> Result<Parameter, String> {
    let least = if given.least.is_nan() { f64::MIN } else { given.least };
    let most = if given.most.is_nan() { f64::MAX } else { given.most };
    let required = given.value.is_nan();
    let number = if required { least.max(0.0).min(most) } else { given.value };
    let made = match given.kind {
        abi::kind::NUMBER => Parameter::number(name, number, least, most, about),
        abi::kind::COUNT => {
            let (least, most) = (least.max(0.0), most.min(u64::MAX as f64));
            if !required && (number < 0.0 || number.fract() != 0.0) {
                return Err(format!("its default is {number}, which is no count"));
            }
            Parameter::count(name, number as u64, least as u64, most as u64, about)
        }
        abi::kind::FLAG => return Ok(Parameter::flag(name, number != 0.0, about)),
        abi::kind::TIME | abi::kind::LENGTH => {
            let text = text.ok_or("the default of a time or a length is its `text`")?;
            return match given.kind {
                abi::kind::TIME => Ok(Parameter::span(name, text, about)),
                _ if lengths => Ok(Parameter::length(name, text, about)),
                _ => Err("only queues have lengths".into()),
            };
        }
        other => return Err(format!("there is no kind {other}")),
    };
    Ok(if required { made.required() } else { made })
}

/// The values of the parameters as foreign code gets them.
pub(crate) fn values(parameters: &[Parameter], settings: &Settings) -> Arc<[f64]> {
    let value = |parameter: &Parameter| match settings.get(&parameter.name) {
        Some(Setting::Flag(flag)) => f64::from(u8::from(*flag)),
        Some(Setting::Span(span)) => span.seconds(),
        _ => settings.number(&parameter.name),
    };
    // One more, so that there is always something to point to.
    parameters.iter().map(value).chain([f64::NAN]).collect()
}

/// The names of variables worth plotting. They live as long as the process, as names in a probe do.
///
/// # Safety
/// There are as many texts as it says.
pub(crate) unsafe fn observed(
    at: *const *const c_char,
    count: u64,
) -> Result<Vec<&'static str>, TableError> {
    if count > MOST_OBSERVED || (count > 0 && at.is_null()) {
        let what = format!("it names {count} variables to observe: {MOST_OBSERVED} are the most");
        return Err(TableError::Wrong(what));
    }
    let mut names = Vec::new();
    for index in 0..count as usize {
        // SAFETY: the caller promises so many.
        let name = unsafe { text(at.add(index).read())? };
        let name = name
            .ok_or_else(|| TableError::Wrong(format!("variable {index} to observe has no name")))?;
        names.push(&*Box::leak(name.into_boxed_str()));
    }
    Ok(names)
}

pub(crate) fn check_state(name: &str, size: u64) -> Result<usize, TableError> {
    if size > LARGEST_STATE {
        return Err(TableError::Wrong(format!(
            "`{name}`: a state of {size} bytes for each flow is too much: {LARGEST_STATE} are the most"
        )));
    }
    Ok(size as usize)
}

pub(crate) fn check_bits(name: &str, key: &str, given: u64, known: u64) -> Result<(), TableError> {
    if given & !known == 0 {
        return Ok(());
    }
    let what = format!("`{name}`: `{key}` has bits that mean nothing here: {:#x}", given & !known);
    Err(TableError::Wrong(what))
}

pub(crate) fn there<T>(name: &str, key: &str, function: Option<T>) -> Result<T, TableError> {
    function.ok_or_else(|| TableError::Wrong(format!("`{name}` has no function `{key}`")))
}

/// Sixteen bytes: states are made of these, so that they are aligned to that.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug)]
struct Block([u8; 16]);

/// The memory of one flow or queue, for foreign code.
#[derive(Clone)]
pub(crate) struct Memory(Box<[Block]>);

impl Memory {
    pub(crate) fn new(bytes: usize) -> Self {
        // Never none, so that there is always something to point to.
        Self(vec![Block([0; 16]); bytes.div_ceil(16).max(1)].into())
    }

    #[inline]
    pub(crate) fn get(&self) -> abi::Seen {
        self.0.as_ptr().cast()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self) -> abi::State {
        self.0.as_mut_ptr().cast()
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", 16 * self.0.len())
    }
}
