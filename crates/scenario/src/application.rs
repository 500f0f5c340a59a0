//! What writes the data of a flow, where that is not everything at once.

use longfat_units::parameter::shortest;
use longfat_units::{Bytes, Rate, Span};
use serde_json::{Map, Value as Json, json};

use crate::error::{Problem, Problems};
use crate::fields::{Field, Fields, plural};
use crate::interval::{Interval, interval, write_interval};
use crate::keys;
use crate::lengths::UNLIMITED;
use crate::size::{amount, size, write_size};
use crate::tree::Value;
use crate::value::{NONE, count, flag, named, number, quantity, rate, wait};
use crate::written::number as written;
use crate::{ACK, Size};

/// A browser has six connections to a server.
const CONNECTIONS: u64 = 6;
const MOST_CONNECTIONS: u64 = 100;
const MOST_OBJECTS: u64 = 10_000;
/// The largest request: as for transfers, 1 TB.
const LARGEST: Bytes = Bytes(1_000_000_000_000);
const REQUEST: Bytes = Bytes(400);
/// Writes per second, at most.
const MOST_WRITES: f64 = 1e9;
/// A source that turns on and off more often would do nothing else.
const SHORTEST_CYCLE: Span = Span(1_000_000);
/// Huang et al. 2014: chunks of 4 s, a buffer of 240 s, of which 90 s are the reservoir and 126 s the cushion.
const CHUNK: Span = Span::from_seconds(4);
const BUFFER: Span = Span::from_seconds(240);
/// Jiang et al. 2012, section 4.3.
const MARGIN: f64 = 0.85;
const MOST_RUNGS: usize = 100;

/// What writes the data of a flow.
#[derive(Clone, Debug, PartialEq)]
pub enum Application {
    /// Writes at a constant mean rate.
    Constant {
        /// What is written, and how fast.
        writes: Writes,
        /// Are the times between writes exponential, rather than all the same?
        poisson: bool,
    },
    /// Writes at a constant rate while it is on.
    OnOff {
        /// What is written, and how fast, while it is on.
        writes: Writes,
        /// How long it is on; it begins so.
        on: Interval,
        /// How long it is off.
        off: Interval,
    },
    /// A client behind the receiver asks the sender, which responds; after a response and a pause it asks again.
    RequestResponse {
        /// The size of a request.
        request: Bytes,
        /// What the sender responds with.
        response: Size,
        /// From the end of a response to the next request.
        think: Interval,
    },
    /// The same for pages of several objects: the first alone, then the others on all connections.
    Web {
        /// The size of a request: one for each object.
        request: Bytes,
        /// How many objects a page has, the page itself included.
        objects: Objects,
        /// What the sender responds with.
        object: Size,
        /// How many connections a client has; each is a flow.
        connections: u64,
        /// From the end of a page to the next one.
        think: Interval,
    },
    /// A client that plays a video, and asks for it chunk by chunk at bit rates that it chooses.
    Video(Video),
}

/// What a source writes, and how fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Writes {
    /// Mean rate.
    pub rate: Rate,
    /// Size of each write: whole packets.
    pub size: Bytes,
}

/// How many objects a page has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Objects {
    /// Always as many.
    Fixed(u64),
    /// Evenly distributed between two numbers, both included.
    Uniform(u64, u64),
    /// Geometric: one at least, and this many on average.
    Geometric(f64),
}

/// A client that plays a video.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Video {
    /// The size of a request: one for each chunk.
    pub request: Bytes,
    /// The bit rates there are, in increasing order.
    pub ladder: Vec<Rate>,
    /// How long a chunk plays.
    pub chunk: Span,
    /// How much the client holds at most, as time that it plays.
    pub buffer: Span,
    /// How it chooses a bit rate.
    pub rule: BitRateRule,
}

/// How a client chooses a bit rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BitRateRule {
    /// By what it holds: BBA-0 (Huang et al. 2014).
    Buffer {
        /// The lowest rate up to this.
        reservoir: Span,
        /// From there on a straight line to the highest rate, over this.
        cushion: Span,
    },
    /// By how fast the last chunks came (Jiang, Sekar & Zhang 2012).
    Throughput {
        /// The share of the harmonic mean of their throughputs that a bit rate may have.
        margin: f64,
    },
}

impl Objects {
    /// The mean.
    pub fn mean(&self) -> f64 {
        match *self {
            Self::Fixed(count) => count as f64,
            Self::Uniform(low, high) => f64::midpoint(low as f64, high as f64),
            Self::Geometric(mean) => mean,
        }
    }
}

impl Application {
    /// Its name, `kind` in a scenario file.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Constant { .. } => Kind::Constant,
            Self::OnOff { .. } => Kind::OnOff,
            Self::RequestResponse { .. } => Kind::RequestResponse,
            Self::Web { .. } => Kind::Web,
            Self::Video(_) => Kind::Video,
        }
        .name()
    }

    /// How many connections it has, each of which is a flow.
    pub fn connections(&self) -> u64 {
        if let Self::Web { connections, .. } = self { *connections } else { 1 }
    }

    /// The size of its requests, if it makes any.
    pub fn request(&self) -> Option<Bytes> {
        match self {
            Self::Constant { .. } | Self::OnOff { .. } => None,
            Self::RequestResponse { request, .. } | Self::Web { request, .. } => Some(*request),
            Self::Video(video) => Some(video.request),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Constant,
    OnOff,
    RequestResponse,
    Web,
    Video,
}

impl Kind {
    const NAMES: &[(&str, Self)] = &[
        ("constant", Self::Constant),
        ("on-off", Self::OnOff),
        ("request-response", Self::RequestResponse),
        ("web", Self::Web),
        ("video", Self::Video),
    ];

    fn name(self) -> &'static str {
        let (name, _) = Self::NAMES.iter().find(|(_, kind)| *kind == self).expect("each has one");
        name
    }

    /// What messages call one, and its keys.
    fn keys(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Constant => {
                ("an application of the kind \"constant\"", const { &keys::names(&keys::CONSTANT) })
            }
            Self::OnOff => {
                ("an application of the kind \"on-off\"", const { &keys::names(&keys::ON_OFF) })
            }
            Self::RequestResponse => (
                "an application of the kind \"request-response\"",
                const { &keys::names(&keys::REQUEST_RESPONSE) },
            ),
            Self::Web => ("an application of the kind \"web\"", const { &keys::names(&keys::WEB) }),
            Self::Video => {
                ("an application of the kind \"video\"", const { &keys::names(&keys::VIDEO) })
            }
        }
    }
}

/// Reads an application.
pub(crate) fn application(
    field: Field<'_>,
    packet: Option<Bytes>,
    problems: &mut Problems,
) -> Option<Application> {
    let Value::Table(table) = &field.node.value else {
        let wanted = "\"none\", or a table such as { kind = \"constant\", rate = \"1 Mbit/s\" }";
        problems.add(field.wrong(wanted));
        return None;
    };
    let Some(node) = table.node("kind") else {
        let problem = field.problem("`application` does not say which one: it has no `kind`");
        let names: Vec<&str> = Kind::NAMES.iter().map(|(name, _)| *name).collect();
        problems.add(problem.help(format!("the kinds are: {}", names.join(", "))));
        return None;
    };
    let kind = problems.keep(named(Field { name: "kind", node }, Kind::NAMES))?;
    let (class, keys) = kind.keys();
    let owner = format!("this {}", kind.name());
    let fields = Fields { owner, class, home: field.node.place, keys, table };
    fields.refuse_strangers(problems);
    match kind {
        Kind::Constant => constant(&fields, packet, problems),
        Kind::OnOff => on_off(&fields, packet, problems),
        Kind::RequestResponse => request_response(&fields, packet, problems),
        Kind::Web => web(&fields, packet, problems),
        Kind::Video => video(&fields, packet, problems).map(Application::Video),
    }
}

fn constant(
    fields: &Fields<'_>,
    packet: Option<Bytes>,
    problems: &mut Problems,
) -> Option<Application> {
    let writes = writes(fields, packet, problems);
    let poisson = fields.or("poisson", false, problems, flag);
    Some(Application::Constant { writes: writes?, poisson: poisson? })
}

fn on_off(
    fields: &Fields<'_>,
    packet: Option<Bytes>,
    problems: &mut Problems,
) -> Option<Application> {
    let writes = writes(fields, packet, problems);
    let on = fields.required("on", "on = \"1 s\"", problems, interval);
    let off = fields.required("off", "off = \"1 s\"", problems, interval);
    let (writes, on, off) = (writes?, on?, off?);
    let field = fields.find("on")?;
    if on.mean() == Span::ZERO {
        problems.add(field.problem("a source that is never on sends nothing"));
        return None;
    }
    if Span(on.mean().0.saturating_add(off.mean().0)) < SHORTEST_CYCLE {
        let reason = "this source turns on and off more often than once in a microsecond";
        problems.add(field.problem(reason));
        return None;
    }
    Some(Application::OnOff { writes, on, off })
}

/// A rate, and writes of whole packets.
fn writes(fields: &Fields<'_>, packet: Option<Bytes>, problems: &mut Problems) -> Option<Writes> {
    let given = fields.required("rate", "rate = \"1 Mbit/s\"", problems, rate);
    let one = packet.unwrap_or(Bytes(1));
    let size = fields.or("write", one, problems, |field| {
        let bytes = amount(field, packet)?;
        if bytes == Bytes(0) || bytes > LARGEST {
            return Err(field.problem(format!("a write has 1 B to {LARGEST}")));
        }
        if bytes.0 % one.0 != 0 {
            let whole = bytes.0.div_ceil(one.0);
            return Err(field
                .problem(format!("a write of {bytes} is no whole number of packets of {one}"))
                .help(format!(
                    "write \"{}\", or choose another `packet`",
                    plural(whole, "packet")
                )));
        }
        Ok(bytes)
    });
    let (rate, size) = (given?, size?);
    let per_second = rate.0 as f64 / (8 * size.0) as f64;
    if packet.is_some() && per_second > MOST_WRITES {
        let reason = format!(
            "this makes {} writes per second, and at most {} are possible",
            shortest(per_second),
            shortest(MOST_WRITES)
        );
        problems.add(fields.find("rate")?.problem(reason).help("make `write` larger"));
        return None;
    }
    Some(Writes { rate, size })
}

fn request_response(
    fields: &Fields<'_>,
    packet: Option<Bytes>,
    problems: &mut Problems,
) -> Option<Application> {
    let request = request(fields, packet, problems);
    let response = fields
        .need("response", "response = \"10 packets\"", problems)
        .and_then(|field| response(field, packet, problems));
    let think = fields.or("think", Interval::Fixed(Span::ZERO), problems, interval);
    Some(Application::RequestResponse { request: request?, response: response?, think: think? })
}

fn web(fields: &Fields<'_>, packet: Option<Bytes>, problems: &mut Problems) -> Option<Application> {
    let request = request(fields, packet, problems);
    let objects = fields.required("objects", "objects = 20", problems, objects);
    let object = fields
        .need("object", "object = { lognormal = { mean = \"20 kB\", sigma = 1 } }", problems)
        .and_then(|field| response(field, packet, problems));
    let connections =
        fields.or("connections", CONNECTIONS, problems, |field| count(field, 1, MOST_CONNECTIONS));
    let think = fields.or("think", Interval::Fixed(Span::ZERO), problems, interval);
    Some(Application::Web {
        request: request?,
        objects: objects?,
        object: object?,
        connections: connections?,
        think: think?,
    })
}

/// A size, headers included.
fn request(fields: &Fields<'_>, packet: Option<Bytes>, problems: &mut Problems) -> Option<Bytes> {
    fields.or("request", REQUEST, problems, |field| {
        let bytes = amount(field, packet)?;
        if bytes <= ACK || bytes > LARGEST {
            let reason =
                format!("a request has more than its headers, {ACK}, and at most {LARGEST}");
            return Err(field.problem(format!("{reason}, but this one has {bytes}")));
        }
        Ok(bytes)
    })
}

/// What is sent in response.
fn response(field: Field<'_>, packet: Option<Bytes>, problems: &mut Problems) -> Option<Size> {
    if matches!(field.node.text(), Some(UNLIMITED | NONE)) {
        let reason = format!("`{}` ends: what comes next is asked for after it", field.name);
        problems.add(field.problem(reason).help("write a size"));
        return None;
    }
    size(field, packet, problems)
}

fn objects(field: Field<'_>) -> Result<Objects, Problem> {
    let one = |field| count(field, 1, MOST_OBJECTS);
    if !matches!(field.node.value, Value::Table(_)) {
        return one(field).map(Objects::Fixed);
    }
    let inner = field.only("a distribution of numbers", &["uniform", "geometric"])?;
    if inner.name == "geometric" {
        return number(inner, 1.0, MOST_OBJECTS as f64).map(Objects::Geometric);
    }
    let Some([low, high]) = inner.node.list() else {
        return Err(inner.wrong("a list of two numbers").help("write uniform = [1, 20]"));
    };
    let bound = |node| one(Field { name: inner.name, node });
    let (low, high) = (bound(low)?, bound(high)?);
    if low > high {
        return Err(inner.problem(format!("nothing is between {low} and {high}")));
    }
    Ok(Objects::Uniform(low, high))
}

fn video(fields: &Fields<'_>, packet: Option<Bytes>, problems: &mut Problems) -> Option<Video> {
    let request = request(fields, packet, problems);
    let example = "ladder = [\"1 Mbit/s\", \"3 Mbit/s\"]";
    let ladder = fields.required("ladder", example, problems, ladder);
    let chunk = fields.or("chunk", CHUNK, problems, |field| match wait(field)? {
        Span::ZERO => Err(field.problem("a chunk plays longer than no time")),
        chunk => Ok(chunk),
    });
    let buffer = fields.or("buffer", BUFFER, problems, |field| {
        let buffer: Span = quantity(field)?;
        match chunk {
            Some(chunk) if buffer < chunk * 2 => Err(field
                .problem("while one chunk plays there must be room for another")
                .help(format!("write at least \"{}\"", chunk * 2))),
            _ => Ok(buffer),
        }
    });
    let rule = rule(fields, buffer, problems);
    Some(Video { request: request?, ladder: ladder?, chunk: chunk?, buffer: buffer?, rule: rule? })
}

fn ladder(field: Field<'_>) -> Result<Vec<Rate>, Problem> {
    let nodes = field.node.list().filter(|nodes| (1..=MOST_RUNGS).contains(&nodes.len()));
    let Some(nodes) = nodes else {
        return Err(field.wrong(&format!("a list of 1 to {MOST_RUNGS} rates")));
    };
    let mut ladder: Vec<Rate> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let inner = Field { name: field.name, node };
        let next = rate(inner)?;
        if ladder.last().is_some_and(|last| next <= *last) {
            return Err(inner.problem("the rates of a ladder stand in increasing order"));
        }
        ladder.push(next);
    }
    Ok(ladder)
}

const BUFFER_RULE: &str = "buffer";
const THROUGHPUT_RULE: &str = "throughput";

fn rule(fields: &Fields<'_>, buffer: Option<Span>, problems: &mut Problems) -> Option<BitRateRule> {
    let names = &[(BUFFER_RULE, true), (THROUGHPUT_RULE, false)];
    let by_buffer = fields.or("rule", true, problems, |field| named(field, names))?;
    let strange: &[&str] = if by_buffer { &["margin"] } else { &["reservoir", "cushion"] };
    for field in strange.iter().filter_map(|name| fields.find(name)) {
        let name = if by_buffer { BUFFER_RULE } else { THROUGHPUT_RULE };
        problems.add(field.problem(format!("the rule \"{name}\" has no `{}`", field.name)));
    }
    if !by_buffer {
        let margin = fields.or("margin", MARGIN, problems, |field| number(field, 0.01, 10.0))?;
        return Some(BitRateRule::Throughput { margin });
    }
    // 90 s and 126 s of 240 s.
    let whole = buffer.unwrap_or(BUFFER);
    let share = |eightieths: u128| Span((u128::from(whole.0) * eightieths / 80) as u64);
    let reservoir = fields.or("reservoir", share(30), problems, quantity)?;
    let cushion = fields.or("cushion", share(42), problems, quantity)?;
    if reservoir.0.saturating_add(cushion.0) > whole.0 && buffer.is_some() {
        let field = fields.find("cushion").or_else(|| fields.find("reservoir"));
        let reason = format!("reservoir and cushion take {reservoir} and {cushion} of {whole}");
        let place = field.map_or(fields.home, |field| field.node.place);
        problems.add(Problem::new(place, reason).help("make one of them shorter than that"));
        return None;
    }
    Some(BitRateRule::Buffer { reservoir, cushion })
}

/// An application as written in a scenario file.
pub(crate) fn write_application(application: &Application) -> Json {
    let mut pairs = Map::new();
    pairs.insert("kind".into(), application.kind().into());
    let mut put = |key: &str, value: Json| pairs.insert(key.into(), value);
    if let Some(request) = application.request() {
        put("request", request.to_string().into());
    }
    match application {
        Application::Constant { writes, .. } | Application::OnOff { writes, .. } => {
            put("rate", writes.rate.to_string().into());
            put("write", writes.size.to_string().into());
        }
        _ => {}
    }
    match application {
        Application::Constant { poisson, .. } => {
            put("poisson", (*poisson).into());
        }
        Application::OnOff { on, off, .. } => {
            put("on", write_interval(on));
            put("off", write_interval(off));
        }
        Application::RequestResponse { response, think, .. } => {
            put("response", write_size(response));
            put("think", write_interval(think));
        }
        Application::Web { objects, object, connections, think, .. } => {
            put("objects", write_objects(*objects));
            put("object", write_size(object));
            put("connections", (*connections).into());
            put("think", write_interval(think));
        }
        Application::Video(video) => {
            let ladder: Vec<String> = video.ladder.iter().map(Rate::to_string).collect();
            put("ladder", ladder.into());
            put("chunk", video.chunk.to_string().into());
            put("buffer", video.buffer.to_string().into());
            match video.rule {
                BitRateRule::Buffer { reservoir, cushion } => {
                    put("rule", BUFFER_RULE.into());
                    put("reservoir", reservoir.to_string().into());
                    put("cushion", cushion.to_string().into());
                }
                BitRateRule::Throughput { margin } => {
                    put("rule", THROUGHPUT_RULE.into());
                    put("margin", written(margin));
                }
            }
        }
    }
    Json::Object(pairs)
}

fn write_objects(objects: Objects) -> Json {
    match objects {
        Objects::Fixed(count) => count.into(),
        Objects::Uniform(low, high) => json!({ "uniform": [low, high] }),
        Objects::Geometric(mean) => json!({ "geometric": written(mean) }),
    }
}
