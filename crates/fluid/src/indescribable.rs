//! What no equation describes, whatever the controller.

use longfat_scenario::{FlowGroup, Scenario};

use crate::network::FluidError;

/// Refuses flows that no equation describes, whatever their controller.
pub(crate) fn refuse_indescribable(
    scenario: &Scenario,
    group: &FlowGroup,
) -> Result<(), FluidError> {
    refuse_finite(group)?;
    if group.transport.careful_resume.is_some() {
        return Err(FluidError::CarefulResume { flow: group.name.clone() });
    }
    refuse_slow_access(scenario, group)
}

/// Refuses flows that end, or pause, by what they have to send.
fn refuse_finite(group: &FlowGroup) -> Result<(), FluidError> {
    if group.size.is_some() {
        return Err(FluidError::Sized { flow: group.name.clone() });
    }
    if let Some(application) = &group.application {
        let (flow, kind) = (group.name.clone(), application.kind());
        return Err(FluidError::Application { flow, kind });
    }
    Ok(())
}

/// Refuses senders whose own link would be the bottleneck. A faster one only spaces packets, and the fluid has none.
fn refuse_slow_access(scenario: &Scenario, group: &FlowGroup) -> Result<(), FluidError> {
    let Some(access) = group.transport.access else { return Ok(()) };
    let links = group.path.iter().map(|hop| {
        let link = &scenario.links[hop.link];
        (link.direction(hop.reverse).rate, link)
    });
    match links.min_by_key(|&(rate, _)| rate).filter(|&(rate, _)| access <= rate) {
        Some((_, link)) => {
            let (flow, link) = (group.name.clone(), link.name.clone());
            Err(FluidError::Access { flow, access, link })
        }
        None => Ok(()),
    }
}
