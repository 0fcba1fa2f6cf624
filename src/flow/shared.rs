//! What the workers of a process share while they need it.

use std::sync::{Arc, Mutex, Weak};

use crate::flow::status::lock;

/// What the workers of a process make once and use together, until the last of them is done with it.
pub fn shared<T>(place: &Mutex<Weak<T>>, make: impl FnOnce() -> T) -> Arc<T> {
    let mut place = lock(place);
    place.upgrade().unwrap_or_else(|| {
        let made = Arc::new(make());
        *place = Arc::downgrade(&made);
        made
    })
}
