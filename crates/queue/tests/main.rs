//! All tests from outside, in one program: they link once, and run side by side.

mod anti_ecn;
mod avq;
mod cake;
mod codel;
mod conformance;
mod decbit;
mod drr;
mod dualpi2;
mod fifo;
mod fq_codel;
mod longest;
mod pi;
mod pie;
mod plain;
mod pushout;
mod red;
mod rem;
mod sfq;
mod step;
mod support;
mod vcp;
mod xcp;
