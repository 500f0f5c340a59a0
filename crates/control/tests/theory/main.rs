//! The laws checked against the numbers of their papers, driven only by acknowledgments and losses.

mod anti_ecn;
mod bic;
mod compound;
mod constant_rate;
mod cubic;
mod cw_hstcp;
mod dctcp;
mod drive;
mod exp;
mod exp_rtt;
mod fiber;
mod h_tcp;
mod hstcp;
mod hybla;
mod illinois;
mod ltcp;
mod multcp;
mod prague;
mod sized_start;
mod slow_start;
mod stcp;
mod synchronised;
mod westwood;
mod yeah;
