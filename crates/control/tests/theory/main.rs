//! The laws checked against the numbers of their papers, driven only by acknowledgments and losses.

mod anti_ecn;
mod constant_rate;
mod copa;
mod cubic;
mod cw_hstcp;
mod dctcp;
mod drive;
mod exp;
mod exp_rtt;
mod fast;
mod fiber;
mod hstcp;
mod ledbat;
mod ledbat_plus_plus;
mod prague;
mod sized_start;
mod slow_start;
mod stcp;
mod synchronised;
mod vegas;
