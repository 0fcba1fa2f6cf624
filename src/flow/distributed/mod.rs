//! A run in several processes: which worker owns what, and how what one process has comes to another.

pub mod contractor;
pub mod exchange_all;
pub mod execute;
pub mod gather_bits;
pub mod gather_to_leader;
pub mod remote_candidates;
pub mod send_window;
pub mod settling_rows;
pub mod topology;
