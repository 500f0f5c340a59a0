//! What is wrong with a scenario, and where.

use std::borrow::Cow;
use std::fmt;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

/// How many problems are shown at once: the rest often follow from the first ones.
const SHOWN: usize = 5;
/// A file with more problems than this is not a scenario at all, and listing more helps nobody.
const KEPT: usize = 100;
/// Longer texts are cut when a message repeats them.
const QUOTED: usize = 40;
/// Longer lines, in bytes, are not shown: a trace within a scenario is a single line.
const LONGEST_SHOWN: usize = 100_000;
/// Longer names, in bytes, are not compared with others.
const LONGEST_NAME: usize = 200;
/// A name is compared with no more than this many others, and a list in a message names no more than [`LISTED`].
const COMPARED: usize = 1_000;
const LISTED: usize = 20;

/// Why a scenario cannot be simulated: every independent problem and its place, ready to be shown.
///
/// As text it shows the first few with their lines; [`ScenarioError::diagnostics`] gives programs all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    rendered: String,
    diagnostics: Vec<Diagnostic>,
}

impl ScenarioError {
    /// What is wrong, in the order of the text: the file first, then the overrides. Never empty; a hundred at most.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}

/// One thing that is wrong with a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// What was expected and what was found.
    pub message: String,
    /// What to do, if known.
    pub help: Option<String>,
    /// The name of the text at fault: that of the file, or `--set` for an override.
    pub file: String,
    /// Which override that is, from 0; `None` for the file.
    pub override_index: Option<usize>,
    /// The part of the text at fault; `None` where something is missing from the whole of it.
    pub location: Option<Location>,
}

/// A part of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Location {
    /// The line, from 1.
    pub line: usize,
    /// The first character in it, from 1.
    pub column: usize,
    /// How many characters; 0 is the place before `column`.
    pub length: usize,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.rendered)
    }
}

impl std::error::Error for ScenarioError {}

/// A piece of one of the texts that make a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// Which text: 0 is the file, the overrides follow.
    source: usize,
    /// First byte and the byte after the last; `None` is the text as a whole.
    span: Option<(usize, usize)>,
}

impl Place {
    /// The bytes of `span` in text `source`.
    pub(crate) fn new(source: usize, span: std::ops::Range<usize>) -> Self {
        Self { source, span: Some((span.start, span.end)) }
    }

    /// The bytes of `span` counted from where this place begins.
    pub(crate) fn within(self, span: std::ops::Range<usize>) -> Self {
        let first = self.span.map_or(0, |(first, _)| first);
        Self::new(self.source, first + span.start..first + span.end)
    }

    /// All of text `source`.
    pub(crate) fn whole(source: usize) -> Self {
        Self { source, span: None }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    place: Place,
    reason: String,
    help: Option<String>,
}

impl Problem {
    /// `reason` says what was expected and what was found.
    pub(crate) fn new(place: Place, reason: impl Into<String>) -> Self {
        Self { place, reason: reason.into(), help: None }
    }

    /// What was expected and what was found.
    pub(crate) fn reason(&self) -> &str {
        &self.reason
    }

    /// Adds what to do.
    pub(crate) fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// Adds what to do, if known.
    pub(crate) fn maybe_help(self, help: Option<String>) -> Self {
        Self { help, ..self }
    }
}

/// Collects problems, so that one reading of a file shows them all.
#[derive(Debug, Default)]
pub(crate) struct Problems(Vec<Problem>);

impl Problems {
    /// Notes a problem. An identical one comes from reading the same value twice, and is not repeated.
    pub(crate) fn add(&mut self, problem: Problem) {
        if !self.is_full() && !self.0.contains(&problem) {
            self.0.push(problem);
        }
    }

    /// The value of `result`, or `None` after noting its problem.
    pub(crate) fn keep<T>(&mut self, result: Result<T, Problem>) -> Option<T> {
        result.map_err(|problem| self.add(problem)).ok()
    }

    /// Are there so many that no more are kept? Whatever is read after that says nothing new.
    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= KEPT
    }

    /// Is everything right so far?
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The error to show, in the order of the text.
    pub(crate) fn into_error(mut self, sources: &Sources) -> ScenarioError {
        self.0.sort_by_key(|problem| problem.place);
        let diagnostics: Vec<_> =
            self.0.iter().map(|problem| sources.diagnostic(problem)).collect();
        let mut messages: Vec<String> =
            self.0.iter().take(SHOWN).map(|problem| sources.render(problem)).collect();
        match diagnostics.len().saturating_sub(SHOWN) {
            0 => {}
            1 => messages.push("1 more problem is not shown.".into()),
            more => messages.push(format!("{more} more problems are not shown.")),
        }
        ScenarioError { rendered: messages.join("\n\n"), diagnostics }
    }
}

/// The texts that make a scenario, each with its name.
#[derive(Debug)]
pub(crate) struct Sources<'a> {
    pub(crate) texts: Vec<(&'a str, &'a str)>,
    /// How many of them come from whoever asks. The others are files that those name: a message gives a line of them by
    /// its number and never shows it.
    pub(crate) own: usize,
}

impl Sources<'_> {
    fn diagnostic(&self, problem: &Problem) -> Diagnostic {
        let Problem { place, reason, help } = problem;
        let (origin, text) = self.texts[place.source];
        Diagnostic {
            message: reason.clone(),
            help: help.clone(),
            file: origin.into(),
            override_index: place.source.checked_sub(1).filter(|_| place.source < self.own),
            location: place
                .span
                .map(|(start, end)| ExcerptLine::around(text, start, end).location()),
        }
    }

    fn render(&self, problem: &Problem) -> String {
        let (origin, text) = self.texts[problem.place.source];
        let is_own = problem.place.source < self.own;
        let mut group = Group::with_title(Level::ERROR.primary_title(problem.reason.as_str()));
        group = match problem.place.span {
            Some((start, end)) => {
                let line = ExcerptLine::around(text, start, end);
                if !is_own || line.text.len() > LONGEST_SHOWN {
                    let place = Origin::path(origin).line(line.number);
                    group.element(if !is_own && line.start > 0 {
                        place.char_column(line.location().column)
                    } else {
                        place
                    })
                } else {
                    group.element(
                        Snippet::source(line.text)
                            .path(origin)
                            .line_start(line.number)
                            .annotation(AnnotationKind::Primary.span(line.start..line.end)),
                    )
                }
            }
            None => group.element(Origin::path(origin)),
        };
        if let Some(help) = &problem.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        let rendered = Renderer::plain().render(&[group]);
        // The renderer pads its lines; an error that is compared or pasted should not carry trailing blanks.
        shown(&rendered.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")).into_owned()
    }
}

/// One line of a text, and the part of it to underline.
struct ExcerptLine<'a> {
    text: &'a str,
    number: usize,
    start: usize,
    end: usize,
}

impl<'a> ExcerptLine<'a> {
    /// The line on which `start` lies; anything beyond its end is cut off.
    fn around(text: &'a str, start: usize, end: usize) -> Self {
        let start = boundary(text, start);
        let from = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let number = text[..from].matches('\n').count() + 1;
        let line = text[from..].lines().next().unwrap_or_default();
        let start = (start - from).min(line.len());
        let end = boundary(line, end.saturating_sub(from)).max(start);
        Self { text: line, number, start, end }
    }

    /// The same in characters.
    fn location(&self) -> Location {
        let characters = |text: &str| text.chars().count();
        Location {
            line: self.number,
            column: characters(&self.text[..self.start]) + 1,
            length: characters(&self.text[self.start..self.end]),
        }
    }
}

/// The last position at or before byte `at` where a character begins or the text ends.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// `text` with everything escaped that a terminal would obey or that nobody would see.
///
/// Messages repeat names, lines and whole paths that others wrote. All of it passes through here.
fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(unsafe_to_show) {
        return Cow::Borrowed(text);
    }
    let spelled = |c| {
        if unsafe_to_show(c) { c.escape_unicode().to_string() } else { String::from(c) }
    };
    Cow::Owned(text.chars().map(spelled).collect())
}

/// Control characters, and those that are invisible or reverse the direction of the line.
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
pub(crate) fn quoted(text: &str) -> String {
    let mut shown: String = text.chars().take(QUOTED).flat_map(char::escape_debug).collect();
    if text.chars().nth(QUOTED).is_some() {
        shown.push_str("...");
    }
    shown.replace("\\\"", "\"").replace("\\'", "'")
}

/// The candidate that `name` was probably meant to be.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    // Nobody mistypes a name that long, and comparing takes time in proportion to both lengths.
    if name.len() > LONGEST_NAME {
        return None;
    }
    // A third of the letters may be wrong: `dealy` is `delay`, but `rtt` is not `rate`.
    let length = name.chars().count();
    let allowed = (length / 3).max(1);
    let plain = |text: &str| text.to_lowercase().replace('_', "-");
    let name = plain(name);
    candidates
        .into_iter()
        .take(COMPARED)
        .filter(|candidate| candidate.len() <= LONGEST_NAME)
        .map(|candidate| (strsim::damerau_levenshtein(&name, &plain(candidate)), candidate))
        .filter(|(distance, candidate)| {
            *distance <= allowed && *distance < candidate.chars().count()
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Some names for a message: all of them, or the first ones and how many more there are.
pub(crate) fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names = names.map(quoted);
    let shown: Vec<String> = names.by_ref().take(LISTED).collect();
    match names.count() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// "did you mean", if there is something to suggest.
pub(crate) fn did_you_mean<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    nearest(name, candidates).map(|candidate| format!("did you mean `{candidate}`?"))
}
