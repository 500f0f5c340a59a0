//! What is wrong with a scenario, and where.

use std::borrow::Cow;
use std::fmt;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

/// How many problems are shown at once: the rest often follow from the first ones.
const SHOWN: usize = 5;
/// Beyond this many, a file is not a scenario at all, and counting on serves nobody.
const KEPT: usize = 100;
/// Longer texts are cut where a message repeats them.
const QUOTED: usize = 40;
/// Longer names, in bytes, are not compared with others.
const LONGEST_NAME: usize = 200;

/// Why a scenario cannot be simulated: every independent problem with its place, ready to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    rendered: String,
    count: usize,
}

impl ScenarioError {
    /// How many problems were found; only the first few are shown.
    pub fn count(&self) -> usize {
        self.count
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.rendered)
    }
}

impl std::error::Error for ScenarioError {}

/// A piece of one of the texts that make a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// Which text: the file is 0, the overrides follow.
    source: usize,
    /// First byte and the byte after the last; `None` is the text as a whole.
    span: Option<(usize, usize)>,
}

impl Place {
    /// The bytes of `span` in text `source`.
    pub(super) fn new(source: usize, span: std::ops::Range<usize>) -> Self {
        Self { source, span: Some((span.start, span.end)) }
    }

    /// All of text `source`.
    pub(super) fn whole(source: usize) -> Self {
        Self { source, span: None }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    place: Place,
    reason: String,
    help: Option<String>,
}

impl Problem {
    /// `reason` says what was asked and what was found.
    pub(super) fn new(place: Place, reason: impl Into<String>) -> Self {
        Self { place, reason: reason.into(), help: None }
    }

    /// Adds what to do.
    pub(super) fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// Adds what to do, where that is known.
    pub(super) fn maybe_help(self, help: Option<String>) -> Self {
        Self { help, ..self }
    }
}

/// Collects problems, so that one reading of a file shows them all.
#[derive(Debug, Default)]
pub(super) struct Problems(Vec<Problem>);

impl Problems {
    /// Notes a problem. The same one again is the same value read twice, and is not repeated.
    pub(super) fn add(&mut self, problem: Problem) {
        if self.0.len() < KEPT && !self.0.contains(&problem) {
            self.0.push(problem);
        }
    }

    /// The value of `result`, or nothing and a noted problem.
    pub(super) fn keep<T>(&mut self, result: Result<T, Problem>) -> Option<T> {
        result.map_err(|problem| self.add(problem)).ok()
    }

    /// Is everything right so far?
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The error to show, in the order of the text.
    pub(super) fn into_error(mut self, sources: &Sources) -> ScenarioError {
        self.0.sort_by_key(|problem| problem.place);
        let count = self.0.len();
        let mut messages: Vec<String> =
            self.0.iter().take(SHOWN).map(|problem| sources.render(problem)).collect();
        match count.saturating_sub(SHOWN) {
            0 => {}
            1 => messages.push("1 more problem is not shown.".into()),
            more => messages.push(format!("{more} more problems are not shown.")),
        }
        ScenarioError { rendered: messages.join("\n\n"), count }
    }
}

/// The texts that make a scenario, each with its name.
#[derive(Debug)]
pub(super) struct Sources<'a>(pub(super) Vec<(&'a str, &'a str)>);

impl Sources<'_> {
    fn render(&self, problem: &Problem) -> String {
        let (origin, text) = self.0[problem.place.source];
        let mut group = Group::with_title(Level::ERROR.primary_title(problem.reason.as_str()));
        group = match problem.place.span {
            Some((start, end)) => {
                let line = Line::around(text, start, end);
                group.element(
                    Snippet::source(line.text)
                        .path(origin)
                        .line_start(line.number)
                        .annotation(AnnotationKind::Primary.span(line.start..line.end)),
                )
            }
            None => group.element(Origin::path(origin)),
        };
        if let Some(help) = &problem.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        let rendered = Renderer::plain().render(&[group]);
        // The renderer pads its lines; an error that is compared or pasted should not carry blanks.
        shown(&rendered.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")).into_owned()
    }
}

/// One line of a text, and the part of it to underline.
struct Line<'a> {
    text: &'a str,
    number: usize,
    start: usize,
    end: usize,
}

impl<'a> Line<'a> {
    /// The line on which `start` lies; what reaches beyond its end is cut off.
    fn around(text: &'a str, start: usize, end: usize) -> Self {
        let start = boundary(text, start);
        let from = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let number = text[..from].matches('\n').count() + 1;
        let line = text[from..].lines().next().unwrap_or_default();
        let start = (start - from).min(line.len());
        let end = boundary(line, end.saturating_sub(from)).max(start);
        Self { text: line, number, start, end }
    }
}

/// The last place at or before byte `at` where a character begins or the text ends.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// `text` with everything spelled out that a terminal would obey, or that nobody would see.
///
/// A message repeats names, lines and whole paths that others wrote. All of it passes through here.
fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(unsafe_to_show) {
        return Cow::Borrowed(text);
    }
    let spelled = |c| {
        if unsafe_to_show(c) { c.escape_unicode().to_string() } else { String::from(c) }
    };
    Cow::Owned(text.chars().map(spelled).collect())
}

/// Control characters, and what is invisible or turns the direction of the line.
fn unsafe_to_show(c: char) -> bool {
    let invisible = matches!(
        c,
        '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}'
    );
    invisible || (c.is_control() && !matches!(c, '\n' | '\t'))
}

/// `text` as a message repeats it: on one line, and not too long.
pub(super) fn quoted(text: &str) -> String {
    let mut shown: String = text.chars().take(QUOTED).flat_map(char::escape_debug).collect();
    if text.chars().nth(QUOTED).is_some() {
        shown.push_str("...");
    }
    shown.replace("\\\"", "\"").replace("\\'", "'")
}

/// The candidate that `name` was probably meant to be.
pub(super) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    // Nobody mistypes so long a name, and comparing takes time in proportion to both lengths.
    if name.len() > LONGEST_NAME {
        return None;
    }
    // A third of the letters may be wrong: `dealy` is `delay`, but `rtt` is not `rate`.
    let allowed = (name.chars().count() / 3).max(1);
    let plain = |text: &str| text.to_lowercase().replace('_', "-");
    let name = plain(name);
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= LONGEST_NAME)
        .map(|candidate| (strsim::damerau_levenshtein(&name, &plain(candidate)), candidate))
        .filter(|(distance, candidate)| {
            *distance <= allowed && *distance < candidate.chars().count()
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// "did you mean", where there is something to mean.
pub(super) fn did_you_mean<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    nearest(name, candidates).map(|candidate| format!("did you mean `{candidate}`?"))
}
