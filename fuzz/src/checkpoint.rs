//! Checkpoints: whatever one says, the load goes on, or begins anew, or says what is wrong with it.

use std::sync::Arc;

use crate::collection::{Bench, ask, folder, interrupted, put, write};
use crate::json::{body, change, sealed};
use crate::storage::Storage;
use crate::take;

const START: &str = "alike checkpoint, format ";

thread_local! {
    /// Reused from input to input.
    static BENCH: Bench = Bench::new();
}

/// The first byte says how the rest becomes the newest checkpoint of an interrupted load: as it is; as JSON behind a good
/// first line; or as changes of the good one. Of two checkpoints the second byte says whether the older one is there.
pub fn checkpoint(mut data: &[u8]) {
    let [how, older] = take(&mut data);
    let simulated = folder(interrupted());
    let mut names: Vec<String> = simulated.names().expect("names");
    names.retain(|name| name.starts_with("checkpoint-"));
    let name = names.pop().expect("a checkpoint");
    let bytes = match how % 3 {
        0 => data.to_vec(),
        1 => sealed(START, data),
        _ => {
            let mut value = body(&simulated.contents(&name).expect("a file"));
            change(&mut value, &mut data);
            sealed(START, value.to_string().as_bytes())
        }
    };
    put(&simulated, &name, &bytes);
    if older & 1 != 0 {
        put(&simulated, "checkpoint-00000003-0009", &bytes);
    }
    let storage: Arc<dyn Storage> = Arc::new(simulated);
    let whole = ask(&storage);
    BENCH.with(|bench| write(&storage, bench, whole));
}
