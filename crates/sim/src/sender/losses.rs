//! Whom to tell of each segment that is found lost.

use longfat_control::CongestionControl;
use longfat_units::Time;

use super::delivery::DeliveryRate;
use super::timer::RetransmissionTimer;
use super::traced::Noted;
use super::{Extras, Sender};

/// What keeps count of losses, and the controller if it wants to hear of each one. None of it has to do with how losses
/// are found.
pub(super) struct Losses<'a> {
    now: Time,
    rate: Option<&'a mut DeliveryRate>,
    control: Option<&'a mut dyn CongestionControl>,
    noted: Option<&'a mut Noted>,
    timer: &'a RetransmissionTimer,
}

/// Who wants to know: what measures the delivery rate, whether the controller does, and who traces the flow.
pub(super) type Whom<'a> = (Option<&'a mut DeliveryRate>, bool, Option<&'a mut Noted>);

impl<'a> Losses<'a> {
    pub(super) fn new(
        now: Time,
        (rate, wanted, noted): Whom<'a>,
        control: &'a mut dyn CongestionControl,
        timer: &'a RetransmissionTimer,
    ) -> Self {
        Self { now, rate, control: wanted.then_some(control), noted, timer }
    }

    /// This segment is lost.
    pub(super) fn tell(&mut self, segment: u64) {
        if let Some(noted) = &mut self.noted {
            noted.lost.push(segment);
        }
        let Some(rate) = &mut self.rate else { return };
        let lost = rate.on_lost(self.now, segment);
        if let Some(control) = &mut self.control {
            control.on_lost(&lost, self.timer.path());
        }
    }
}

impl Sender {
    /// This segment is lost.
    pub(super) fn tell_loss(&mut self, now: Time, segment: u64) {
        let Some(extras) = self.extras.as_deref_mut() else { return };
        let Extras { delivery_rate, wants, noted, .. } = extras;
        let whom = (delivery_rate.as_mut(), wants.losses, noted.as_mut());
        Losses::new(now, whom, &mut *self.control, &self.timer).tell(segment);
    }

    /// The retransmission timer expired: everything in flight is lost.
    pub(super) fn lose_all(&mut self, now: Time) {
        let (unacknowledged, next) = (self.unacknowledged, self.next);
        if let Some(Extras { delivery_rate, wants, noted, .. }) = self.extras.as_deref_mut()
            && (delivery_rate.is_some() || noted.is_some())
        {
            let whom = (delivery_rate.as_mut(), wants.losses, noted.as_mut());
            let mut losses = Losses::new(now, whom, &mut *self.control, &self.timer);
            (unacknowledged..next)
                .filter(|&segment| self.scoreboard.is_in_flight(unacknowledged, segment))
                .for_each(|segment| losses.tell(segment));
        }
        self.scoreboard.all_lost(unacknowledged, next);
    }
}
