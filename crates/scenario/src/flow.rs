//! Long flows: how many, when they start and stop, and how much they send.

use longfat_control::{Sending, Start};
use longfat_units::{Bytes, Span};

use crate::application::application;
use crate::error::{Problem, Problems};
use crate::fields::Field;
use crate::group::{Common, Draft, GroupContext, Sort, refuse_late_start};
use crate::keys;
use crate::lengths::UNLIMITED;
use crate::size::amount;
use crate::spans::spans;
use crate::tree::Node;
use crate::value::{NONE, count, quantity, unless_none, wait};
use crate::{FlowGroup, Spans};

pub(crate) const FLOW: Sort = Sort {
    key: "flow",
    class: "a flow",
    another: "another flow",
    example: "forward",
    keys: &keys::names(&keys::FLOW),
};

const MOST_FLOWS: u64 = 1_000_000;

/// Reads one `[[flow]]`.
pub(crate) fn flow(
    node: &Node,
    context: GroupContext<'_>,
    problems: &mut Problems,
) -> Option<FlowGroup> {
    let draft = Draft::new(FLOW, node, problems)?;
    let fields = draft.fields(problems);
    let common = Common::read(&fields, FLOW, context, problems);
    let count = fields.or("count", 1, problems, |field| count(field, 1, MOST_FLOWS));
    let rtt = common.round_trips(&fields, context, problems, |field| spans(field, count, wait));
    let start = fields
        .or("start", Spans::Same(Span::ZERO), problems, |field| spans(field, count, quantity));
    if let Some(start) = &start {
        refuse_late_start(&fields, start, context, problems);
    }
    let stop = fields.or("stop", None, problems, |field| stop(field, start.as_ref()));
    let packet = common.transport.as_ref().map(|transport| transport.packet);
    let size = fields.or("size", None, problems, |field| size(field, packet));
    let written = fields.find("application").filter(|field| field.node.text() != Some(NONE));
    let application = match written {
        Some(field) => application(field, packet, problems).map(Some),
        None => Some(None),
    };
    if let (Some(Some(application)), Some(field)) = (&application, written) {
        let bursts = common.control.as_ref().filter(|control| {
            let sending = (control.entry.build)(&control.settings, &Start::default());
            matches!(sending, Sending::Bursts(_))
        });
        if let Some(control) = bursts {
            let reason = format!("`{}` must have all its data from the start", control.kind());
            problems.add(field.problem(reason).help("choose a controller with a window"));
        }
        if let (Some(Some(_)), Some(field)) = (size, fields.find("size")) {
            let reason = "the application decides how much is sent, so there is no `size`";
            problems.add(field.problem(reason));
        }
        let flows = count.unwrap_or(1) * application.connections();
        if flows > MOST_FLOWS {
            let reason = format!("this makes {flows} connections, and {MOST_FLOWS} are the most");
            problems.add(field.problem(reason).help("lower `count` or `connections`"));
        }
    }
    Some(FlowGroup {
        path: common.travel()?,
        name: common.name?,
        control: common.control?,
        count: count?,
        reverse: common.reverse?,
        rtt: rtt?,
        start: start?,
        stop: stop?,
        size: size?,
        application: application?,
        transport: common.transport?,
    })
}

/// When to stop: after every possible start.
fn stop(field: Field<'_>, start: Option<&Spans>) -> Result<Option<Span>, Problem> {
    let stop: Option<Span> = unless_none(field, quantity)?;
    if let (Some(stop), Some(start)) = (stop, start)
        && stop <= start.greatest()
    {
        let last = start.greatest();
        return Err(field
            .problem(format!("a flow cannot stop at {stop} when it may start as late as {last}")));
    }
    Ok(stop)
}

/// How much to send, if there is an end to it.
fn size(field: Field<'_>, packet: Option<Bytes>) -> Result<Option<Bytes>, Problem> {
    if matches!(field.node.text(), Some(UNLIMITED | NONE)) {
        return Ok(None);
    }
    let size = amount(field, packet)?;
    if size == Bytes(0) {
        return Err(field
            .problem("a flow with nothing to send does nothing")
            .help(format!("write a size, or \"{UNLIMITED}\"")));
    }
    Ok(Some(size))
}
