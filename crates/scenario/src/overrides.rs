//! Overrides: `--set link.bottleneck.rate="1 Gbit/s"` changes one value of the file that was read.

use crate::error::{Place, Problem, did_you_mean, listed, quoted};
use crate::tree::{KeyValue, Node, TomlTable, Value, parse_value};

const EXAMPLE: &str = "write KEY=VALUE, such as link.bottleneck.rate=\"1 Gbit/s\"";

/// Values of a group that are a table with a single key: a new key replaces the old one.
const ALTERNATIVES: &[&str] = &["rtt", "start", "arrivals", "size"];

/// No value of a scenario is nested this deep.
const DEEPEST: usize = 16;

/// In place of the name of a link or a group: all of them.
const EVERY: &str = "*";

/// One name of a dotted path, and its place.
struct KeyPart<'a> {
    name: &'a str,
    place: Place,
}

/// Changes `root` as `text`, the text numbered `source`, asks.
pub(crate) fn apply(root: &mut TomlTable, text: &str, source: usize) -> Result<(), Problem> {
    let Some(equals) = text.find('=') else {
        return Err(Problem::new(
            Place::new(source, 0..text.len()),
            format!("`{}` sets nothing: it has no `=`", quoted(text)),
        )
        .help(EXAMPLE));
    };
    let mut parts = Vec::new();
    let mut start = 0;
    let depth = text[..equals].split('.').count();
    if depth > DEEPEST {
        let place = Place::new(source, 0..equals);
        let reason = format!("the key has {depth} names, but no value lies deeper than {DEEPEST}");
        return Err(Problem::new(place, reason).help(EXAMPLE));
    }
    for piece in text[..equals].split('.') {
        let name = piece.trim();
        let from = start + (piece.len() - piece.trim_start().len());
        let place = Place::new(source, from..from + name.len());
        if name.is_empty() {
            return Err(Problem::new(place, "a name is missing before `=`").help(EXAMPLE));
        }
        parts.push(KeyPart { name, place });
        start += piece.len() + 1;
    }
    let value = value(text, equals + 1, source)?;
    match parts.as_slice() {
        [group, every, rest @ ..] if every.name == EVERY && !rest.is_empty() => {
            set_in_every(root, group, every, rest, &value)
        }
        parts => set(root, Walk::default(), parts, value),
    }
}

/// Changes the value at the end of `parts` in every entry of `group`.
fn set_in_every(
    root: &mut TomlTable,
    group: &KeyPart<'_>,
    every: &KeyPart<'_>,
    parts: &[KeyPart<'_>],
    value: &Node,
) -> Result<(), Problem> {
    let entry = root.0.iter_mut().find(|entry| entry.name == group.name);
    let mut nodes: Vec<&mut Node> = match entry.map(|entry| &mut entry.node.value) {
        Some(Value::Table(table)) if group.name == "link" => {
            table.0.iter_mut().map(|entry| &mut entry.node).collect()
        }
        Some(Value::List(list)) => list.iter_mut().collect(),
        _ => Vec::new(),
    };
    if nodes.is_empty() {
        let reason = format!("there is no `{}` that `*` could stand for", quoted(group.name));
        let help = "`*` is every link, every group of flows or all traffic: flow.*.control=exp";
        return Err(Problem::new(every.place, reason).help(help));
    }
    for node in &mut nodes {
        let mut walk = Walk::default();
        walk.pass(group);
        walk.pass(every);
        let table = walk.as_table(node, every)?;
        set(table, walk, parts, value.clone())?;
    }
    Ok(())
}

/// Changes the value at the end of `parts`, which begin in `table`, where `walk` has come to.
fn set(
    mut table: &mut TomlTable,
    mut walk: Walk,
    parts: &[KeyPart<'_>],
    value: Node,
) -> Result<(), Problem> {
    let (last, way) = parts.split_last().expect("a key has at least one name");
    let mut way = way.iter();
    while let Some(part) = way.next() {
        let entry = walk.enter(table, part)?;
        if entry.list().is_none() {
            table = walk.as_table(entry, part)?;
            continue;
        }
        let list = entry.list_mut().expect("it is a list");
        // The next name picks an element of the list.
        let Some(choice) = way.next() else {
            list[walk.position(list, last)?] = value;
            return Ok(());
        };
        let at = walk.position(list, choice)?;
        table = walk.as_table(&mut list[at], choice)?;
    }
    walk.make_way(table, last);
    table.set(KeyValue { name: last.name.into(), key: last.place, node: value });
    Ok(())
}

/// The value after the `=`: TOML, or else plain text, since the shell strips the quotes.
pub(crate) fn value(text: &str, offset: usize, source: usize) -> Result<Node, Problem> {
    let rest = &text[offset..];
    let start = offset + (rest.len() - rest.trim_start().len());
    let plain = rest.trim();
    let place = Place::new(source, start..start + plain.len());
    if plain.is_empty() {
        return Err(Problem::new(place, "a value is missing after `=`").help(EXAMPLE));
    }
    match parse_value(&text[..start + plain.len()], source, start) {
        Ok(node) if !matches!(node.value, Value::Date) => Ok(node),
        // Whatever opens like a table, a list or a quoted text was meant as one.
        Err(problem) if plain.starts_with(['{', '[', '"', '\'']) => Err(problem),
        _ => Ok(Node { place, value: Value::Text(plain.into()) }),
    }
}

/// The name that an entry of a list gives itself.
fn name_of(node: &Node) -> Option<&str> {
    node.table().and_then(|table| table.node("name")).and_then(Node::text)
}

/// The path through the tree so far, for messages.
#[derive(Default)]
struct Walk {
    path: String,
}

impl Walk {
    /// The value called `part` in `table`, created if absent.
    fn enter<'t>(
        &mut self,
        table: &'t mut TomlTable,
        part: &KeyPart<'_>,
    ) -> Result<&'t mut Node, Problem> {
        self.make_way(table, part);
        let at = table.0.iter().position(|entry| entry.name == part.name);
        // A new link would lack its rate and its delay: a name that does not exist is a mistake.
        if at.is_none() && self.path == "link" {
            let help = did_you_mean(part.name, table.names()).or_else(|| {
                let any = !table.0.is_empty();
                any.then(|| format!("the links are: {}", listed(table.names())))
            });
            let reason = format!("there is no link called `{}`", quoted(part.name));
            return Err(Problem::new(part.place, reason).maybe_help(help));
        }
        if at.is_none() && self.path.is_empty() && matches!(part.name, "flow" | "traffic") {
            let reason = format!("the file has no [[{}]] to change", part.name);
            return Err(Problem::new(part.place, reason));
        }
        self.pass(part);
        let at = at.unwrap_or_else(|| {
            let node = Node { place: part.place, value: Value::Table(TomlTable::default()) };
            table.0.push(KeyValue { name: part.name.into(), key: part.place, node });
            table.0.len() - 1
        });
        Ok(&mut table.0[at].node)
    }

    /// Removes everything but `part` from a table that has a single key.
    fn make_way(&self, table: &mut TomlTable, part: &KeyPart<'_>) {
        let path: Vec<&str> = self.path.split('.').collect();
        if let ["flow" | "traffic", _, key] = path.as_slice()
            && ALTERNATIVES.contains(key)
        {
            table.0.retain(|entry| entry.name == part.name);
        }
    }

    fn pass(&mut self, part: &KeyPart<'_>) {
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(part.name);
    }

    /// The table that `node` is, or is turned into: `control = "exp"` is short for `{ kind = "exp" }`; anything else is
    /// replaced by the new value.
    fn as_table<'t>(
        &self,
        node: &'t mut Node,
        part: &KeyPart<'_>,
    ) -> Result<&'t mut TomlTable, Problem> {
        if node.table().is_none() {
            if !self.path.contains('.') {
                let reason = format!("`{}` is {}, not a table", self.path, node.describe());
                return Err(Problem::new(part.place, reason));
            }
            let mut table = TomlTable::default();
            if node.text().is_some() && matches!(part.name, "control" | "queue") {
                table.set(KeyValue { name: "kind".into(), key: node.place, node: node.clone() });
            }
            node.value = Value::Table(table);
        }
        Ok(node.table_mut().expect("it is a table, or was made one"))
    }

    /// The index in `list` of the table called `part`, or at that number.
    fn position(&mut self, list: &[Node], part: &KeyPart<'_>) -> Result<usize, Problem> {
        let found = list
            .iter()
            .position(|node| name_of(node) == Some(part.name))
            .or_else(|| part.name.parse().ok().filter(|&index| index < list.len()));
        if let Some(index) = found {
            self.pass(part);
            return Ok(index);
        }
        let mut names = list.iter().filter_map(name_of).peekable();
        let reason = if names.peek().is_none() {
            format!("`{}` has {} entries, numbered from 0", self.path, list.len())
        } else {
            format!("there is no {} called `{}`", self.path, quoted(part.name))
        };
        let help = did_you_mean(part.name, names).or_else(|| {
            let names: Vec<&str> = list.iter().filter_map(name_of).collect();
            (!names.is_empty()).then(|| format!("their names are: {}", listed(names.into_iter())))
        });
        Err(Problem::new(part.place, reason).maybe_help(help))
    }
}
