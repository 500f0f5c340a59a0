//! The AntiECN marker of a link, as written in the file.

use longfat_queue::{Capacity, LengthUnit};
use serde_json::Value as Json;

use crate::error::{Place, Problem, Problems};
use crate::fields::{Field, Fields};
use crate::keys;
use crate::lengths::{Ruler, UNLIMITED, length};
use crate::tree::{Node, TomlTable, Value};
use crate::value::{number, word};
use crate::{AntiEcnMarker, AntiEcnMode};

const KEYS: &[&str] = &keys::names(&keys::ANTI_ECN);
const MODES: &[&str] = &["and", "overwrite"];

const THRESHOLD: f64 = 0.5;
const BUFFER: &str = "1 bdp";

/// Where a marker stands: what is needed to convert its lengths into bytes, if known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarkerSite {
    pub(crate) ruler: Option<Ruler>,
    pub(crate) capacity: Option<Capacity>,
}

/// Reads `anti_ecn`: false, true for the defaults, or a table of what differs from them. `None` if it is false, or if
/// there is a problem, which is noted.
pub(crate) fn anti_ecn(
    field: Field<'_>,
    site: MarkerSite,
    problems: &mut Problems,
) -> Option<AntiEcnMarker> {
    let defaults = TomlTable::default();
    let table = match &field.node.value {
        Value::Flag(false) => return None,
        Value::Flag(true) => &defaults,
        Value::Table(table) => table,
        _ => {
            let wanted = "false, true, or a table such as { threshold = 0.5, buffer = \"1 bdp\" }";
            problems.add(field.wrong(wanted));
            return None;
        }
    };
    let home = field.node.place;
    let owner = format!("`{}`", field.name);
    let fields = Fields { owner, class: "an AntiECN marker", home, keys: KEYS, table };
    fields.refuse_strangers(problems);
    let threshold =
        fields.or("threshold", THRESHOLD, problems, |field| number(field, f64::MIN_POSITIVE, 1.0));
    let mode = fields.or("mode", AntiEcnMode::And, problems, |field| {
        word(field, MODES).map(|word| match word {
            "overwrite" => AntiEcnMode::Overwrite,
            _ => AntiEcnMode::And,
        })
    });
    let buffer = problems.keep(buffer(&fields, home, site));
    Some(AntiEcnMarker { threshold: threshold?, buffer: buffer?, mode: mode? })
}

/// The virtual buffer in bytes.
fn buffer(fields: &Fields<'_>, home: Place, site: MarkerSite) -> Result<f64, Problem> {
    let default = Node { place: home, value: Value::Text(BUFFER.into()) };
    let field = fields.find("buffer").unwrap_or(Field { name: "buffer", node: &default });
    if field.node.text() == Some(UNLIMITED) {
        return Ok(f64::INFINITY);
    }
    let length = length(field)?;
    let Some(ruler) = site.ruler else { return Ok(0.0) };
    let bytes = ruler.measure(field, length, LengthUnit::Bytes, site.capacity)?;
    if bytes < ruler.packet.0 as f64 {
        return Err(field.problem(format!(
            "this virtual buffer has no room for a packet of {}, the largest that crosses this link, so every packet \
             would find it empty",
            ruler.packet
        )));
    }
    Ok(bytes)
}

/// A marker as written in a scenario file.
pub(crate) fn write_anti_ecn(marker: Option<AntiEcnMarker>) -> Json {
    let Some(AntiEcnMarker { threshold, buffer, mode }) = marker else { return false.into() };
    let buffer =
        if buffer.is_finite() { LengthUnit::Bytes.show(buffer) } else { UNLIMITED.to_string() };
    let mode = match mode {
        AntiEcnMode::And => "and",
        AntiEcnMode::Overwrite => "overwrite",
    };
    serde_json::json!({ "threshold": threshold, "buffer": buffer, "mode": mode })
}
