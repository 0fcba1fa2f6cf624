//! The operators of a run, each a function from streams to a stream.

pub mod broadcast_rows;
pub mod bucket_feed;
pub mod collide;
pub mod count;
pub mod exact_duplicates;
pub mod first_halves;
pub mod last_write_wins;
pub mod own_copies;
pub mod recall;
pub mod verify;
