//! The engine as WebAssembly: functions of numbers, and two buffers in memory.
//!
//! ```text
//!     longfat_input(length)    → where to write a request of that length
//!     longfat_read, _start, _advance(events), _progress, _series, _finish, _catalogue, _resolved
//!     longfat_output, longfat_output_length    where the last answer lies, until the next call that answers
//! ```
//!
//! The module has no imports, so nothing outside can change a result, and an ABI of numbers, so nothing has to be
//! generated for it. An instance holds one conversation ([`Session`]); a page that wants two has two instances. One
//! instance has one thread, and JavaScript calls nothing while another call is under way.
//!
//! The only thing here that the compiler cannot check is that no other symbol of the program has the same name. Whatever
//! JavaScript writes, it writes into the memory of the instance, where it harms nobody but itself: bytes of a request
//! are bytes, whatever they say.

use std::cell::RefCell;
use std::sync::Once;

use longfat_session::Session;

thread_local! {
    static CONVERSATION: RefCell<Conversation> = RefCell::default();
}

#[derive(Debug, Default)]
struct Conversation {
    session: Session,
    input: Vec<u8>,
    output: Vec<u8>,
}

/// Does something with the conversation, and keeps what a panic says where an answer would be: on this platform nothing
/// runs after one.
fn with<T>(work: impl FnOnce(&mut Conversation) -> T) -> T {
    static KEEP_PANICS: Once = Once::new();
    if cfg!(target_family = "wasm") {
        KEEP_PANICS.call_once(|| std::panic::set_hook(Box::new(|panic| keep(&panic.to_string()))));
    }
    CONVERSATION.with_borrow_mut(|conversation| work(conversation))
}

thread_local! {
    static SAID: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
}

fn keep(message: &str) {
    SAID.set(Some(message.as_bytes().to_vec()));
}

/// Makes room for a request of `length` bytes, and tells where. What was there before is gone.
#[expect(unsafe_code, reason = "nothing else in the program is called this")]
#[unsafe(no_mangle)]
pub extern "C" fn longfat_input(length: usize) -> *mut u8 {
    with(|conversation| {
        conversation.input.clear();
        conversation.input.resize(length, 0);
        conversation.input.as_mut_ptr()
    })
}

/// Where the last answer lies; after a trap, what the panic said.
#[expect(unsafe_code, reason = "nothing else in the program is called this")]
#[unsafe(no_mangle)]
pub extern "C" fn longfat_output() -> *const u8 {
    let said = SAID.with_borrow(|said| said.as_ref().map(Vec::as_slice).map(<[u8]>::as_ptr));
    said.unwrap_or_else(|| with(|conversation| conversation.output.as_ptr()))
}

/// How many bytes it has.
#[expect(unsafe_code, reason = "nothing else in the program is called this")]
#[unsafe(no_mangle)]
pub extern "C" fn longfat_output_length() -> usize {
    let said = SAID.with_borrow(|said| said.as_ref().map(Vec::len));
    said.unwrap_or_else(|| with(|conversation| conversation.output.len()))
}

/// Answers with what a scenario can choose from: [`longfat_session::catalogue`].
#[expect(unsafe_code, reason = "nothing else in the program is called this")]
#[unsafe(no_mangle)]
pub extern "C" fn longfat_catalogue() {
    with(|conversation| conversation.output = longfat_session::catalogue().into_bytes());
}

/// Reads the request in the input, and answers: [`Session::read`].
#[expect(unsafe_code, reason = "nothing else in the program is called this")]
#[unsafe(no_mangle)]
pub extern "C" fn longfat_read() {
    let mut none = |_: &str| Err("this page can open no files".to_owned());
    with(|Conversation { session, input, output }| {
        *output = session.read(input, &mut none).into_bytes();
    });
}

/// Answers with the scenario as it was understood: [`Session::resolved`].
#[expect(unsafe_code, reason = "nothing else in the program is called this")]
#[unsafe(no_mangle)]
pub extern "C" fn longfat_resolved() {
    with(|conversation| conversation.output = conversation.session.resolved().into_bytes());
}

/// Begins a run: [`Session::start`].
#[expect(unsafe_code, reason = "nothing else in the program is called this")]
#[unsafe(no_mangle)]
pub extern "C" fn longfat_start() {
    with(|conversation| conversation.session.start());
}

/// Handles `events` events or somewhat more, and tells whether more remain: [`Session::advance`].
#[expect(unsafe_code, reason = "nothing else in the program is called this")]
#[unsafe(no_mangle)]
pub extern "C" fn longfat_advance(events: u32) -> bool {
    with(|conversation| conversation.session.advance(events.into()))
}

/// The share of the simulated time that has elapsed: [`Session::progress`].
#[expect(unsafe_code, reason = "nothing else in the program is called this")]
#[unsafe(no_mangle)]
pub extern "C" fn longfat_progress() -> f64 {
    with(|conversation| conversation.session.progress())
}

/// Answers with the time series so far: [`Session::series`].
#[expect(unsafe_code, reason = "nothing else in the program is called this")]
#[unsafe(no_mangle)]
pub extern "C" fn longfat_series() {
    with(|conversation| conversation.output = conversation.session.series());
}

/// Answers with the summary and the tables: [`Session::finish`].
#[expect(unsafe_code, reason = "nothing else in the program is called this")]
#[unsafe(no_mangle)]
pub extern "C" fn longfat_finish() {
    with(|conversation| conversation.output = conversation.session.finish());
}
