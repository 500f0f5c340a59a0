//! Random damage to scenarios.

use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Pieces that a mutation inserts.
const PIECES: &[&str] = &[
    "",
    "",
    "",
    "",
    "",
    "",
    "\"",
    "'",
    "=",
    "\n",
    "[",
    "]",
    "{",
    "}",
    "[[",
    "#",
    ".",
    ",",
    "-1",
    "0",
    "1e999",
    "nan",
    "-inf",
    "99999999999999999999999999999999999999999",
    "true",
    "1979-05-27",
    "\"\"",
    "\"0 s\"",
    "\"1 bdp\"",
    "\"none\"",
    "\"unlimited\"",
    "\"1e30 packets\"",
    "\"9 buffer\"",
    "\"1 B\"",
    "\"213 d\"",
    "\u{7f}",
    "\u{1F980}",
    "\r\n",
    "\t",
    "\\",
    "\\u0000",
    "[]",
    "{}",
    "\"\u{202e}x\"",
    "\"99999999 s\"",
    "[[traffic]]\n",
    "profile = \"1995\"\n",
    "\"10 %\"",
    "{ load = \"10 %\" }",
    "{ uniform = [\"1 B\", \"1 kB\"] }",
    "anti_ecn = true\n",
    "[link.a.b.c]\n",
    "\"18446744073709551615 B\"",
    "kind",
];

/// One change: what to insert, where, and how much to remove.
pub(super) type Mutation = (Index, Index, &'static str);

/// A few changes to a text.
pub(super) fn mutations() -> impl Strategy<Value = Vec<Mutation>> {
    prop::collection::vec((any::<Index>(), any::<Index>(), select(PIECES)), 1..4)
}

/// `text` with some values replaced: well-formed, but mostly meaningless.
pub(super) fn replace_values(text: &str, mutations: &[Mutation]) -> String {
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    for (at, from, piece) in mutations {
        let value = |text: &str| text.split_once(" = ").map(|(_, value)| value.to_string());
        // A value from another line, or a piece.
        let other = if piece.is_empty() { value(&lines[from.index(lines.len())]) } else { None };
        let line = &mut lines[at.index(text.lines().count())];
        if let Some((key, _)) = line.split_once(" = ") {
            *line = format!("{key} = {}", other.as_deref().unwrap_or(piece));
        }
    }
    lines.join("\n")
}

/// `text` after the changes, which fall between characters.
pub(super) fn mutate(text: &str, mutations: &[Mutation]) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for (at, length, piece) in mutations {
        let start = at.index(characters.len() + 1);
        let end = (start + length.index(12)).min(characters.len());
        characters.splice(start..end, piece.chars());
    }
    characters.into_iter().collect()
}
