"""What a study may say in SQL: expressions over columns, and nothing that opens a file or the network.

The SQL of polars knows queries in parentheses, and table functions such as `read_csv`, which it calls while it
reads. So a text is looked at before polars sees it. What is not known to be harmless is refused: the characters
outside quotes are few, a quote begins where no other rules for quotes could hold, and the words that begin or
continue a query are none that an expression needs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

POSSIBLE = (
    "an expression has columns in double quotes, texts in single ones, numbers, operators, CASE and functions "
    "of these, and no query, table or file"
)
"""What is told to whoever wrote something else."""

MOST_TOKENS = 500
"""Polars reads a chain of a thousand operators by recursion, which takes seconds or overflows the stack."""

_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\r\n]+)
    | (?P<comment>--|/\*)
    | (?P<text>'(?:[^']|'')*')
    | (?P<name>"(?:[^"]|"")*")
    | (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<sign>[-+*/%<>=!~&|^(),.:\[\]])
    """,
    re.VERBOSE,
)

_QUERIES = frozenset(
    [
        "SELECT",
        "WITH",
        "TABLE",
        "VALUES",
        "JOIN",
        "UNION",
        "INTERSECT",
        "EXCEPT",
        "EXISTS",
        "LATERAL",
        "UNNEST",
        "PIVOT",
        "UNPIVOT",
        "INTO",
        "INSERT",
        "UPDATE",
        "DELETE",
        "MERGE",
        "CREATE",
        "DROP",
        "ALTER",
        "TRUNCATE",
        "COPY",
        "EXPLAIN",
        "DESCRIBE",
        "SHOW",
        "CALL",
        "EXECUTE",
    ]
)
_TAKE_FROM = frozenset({"EXTRACT", "SUBSTRING", "SUBSTR", "TRIM"})
"""Functions whose arguments are written with FROM."""

_FILES = ("READ_", "SCAN_")
"""How the names of all table functions begin."""


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str

    @property
    def word(self) -> str:
        """A word or a sign as it is compared; empty for what stands in quotes."""
        return self.text.upper() if self.kind in {"word", "sign"} else ""

    @property
    def function(self) -> str:
        """What a function of this name would be called."""
        return self.text.strip('"').upper() if self.kind in {"word", "name"} else ""


def fault(expression: str) -> str | None:
    """What in a text is no expression over columns, or `None`: only such a text may reach polars.

    >>> fault('"flow.a.count" > 2')
    >>> fault("1 in (select 1)")
    '`select` belongs to a query'
    """
    tokens: list[_Token] = []
    around: list[str] = []
    at = 0
    while at < len(expression):
        found = _TOKEN.match(expression, at)
        if found is None or found.lastgroup is None:
            return _strange(expression[at])
        if found.lastgroup == "comment":
            return "a comment belongs into the TOML, after #"
        if at and found.lastgroup in {"text", "name", "word"} and _sticks(expression, at):
            return f"a space is missing before `{found.group()}`"
        at = found.end()
        if found.lastgroup == "space":
            continue
        token = _Token(found.lastgroup, found.group())
        if wrong := _wrong(token, tokens, around):
            return wrong
        if token.word == "(":
            around.append(tokens[-1].word if tokens else "")
        elif token.word == ")" and around:
            around.pop()
        tokens.append(token)
        if len(tokens) > MOST_TOKENS:
            return f"it has more than {MOST_TOKENS} names, numbers and operators"
    return None


def _wrong(token: _Token, before: list[_Token], around: list[str]) -> str | None:
    """What is wrong with a token after others, within the parentheses of these functions."""
    last = before[-1].word if before else ""
    if token.word in _QUERIES:
        return f"`{token.text}` belongs to a query"
    if token.word == "FROM":
        compared = last == "DISTINCT" and len(before) > 1 and before[-2].word in {"IS", "NOT"}
        argument = around and around[-1] in _TAKE_FROM and last != "("
        if not compared and not argument:
            return f"`{token.text}` belongs to a query"
    if token.word == "(" and before and before[-1].function.startswith(_FILES):
        return f"`{before[-1].text}` would open a file"
    return None


def _sticks(expression: str, at: int) -> bool:
    """Whether a quote or word follows another at once: `E'…'` and `U&'…'` have other rules for quotes."""
    before = expression[at - 1]
    return before.isalnum() or before == "_" or expression[max(at - 2, 0) : at].upper() == "U&"


def _strange(character: str) -> str:
    return "a quote does not end" if character in "'\"" else f"`{character}` has no meaning in it"
