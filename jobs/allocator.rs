//! How the system's allocator gives memory back.

/// Bytes of a block that is always a mapping of its own.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const APART: libc::c_int = 4 << 20;

/// Has large blocks be mappings of their own, so that all of their memory goes back. Left to itself, glibc puts blocks of up to 32 MiB
/// between all others as soon as it has seen one go, and what lies between others stays: epoch by epoch a load of long records
/// held more.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the allocator is told by a function of the system's library alone")]
pub(crate) fn keep_large_blocks_apart() {
    // SAFETY: `mallopt` takes two numbers, and changes nothing but where blocks are put that are asked for later. No other thread is
    // there yet.
    unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, APART) };
}

/// Other allocators give memory back as they do.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn keep_large_blocks_apart() {}
