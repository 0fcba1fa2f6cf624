//! How much memory the process holds and the machine has, as the system says.

/// The most memory this process has held at once, in bytes; `None` where the system does not say (it is read from
/// `/proc/self/status`).
pub fn peak_memory() -> Option<u64> {
    memory("VmHWM:")
}

/// The memory this process holds, in bytes; `None` where the system does not say.
pub fn resident_memory() -> Option<u64> {
    memory("VmRSS:")
}

/// The addresses that this process has taken, in bytes, whether memory stands behind them or not; `None` where the system does
/// not say.
#[cfg(all(target_os = "linux", feature = "pdf"))]
pub fn address_space() -> Option<u64> {
    memory("VmSize:")
}

/// The memory of the machine, in bytes; `None` where the system does not say (it is read from `/proc/meminfo`).
pub fn total_memory() -> Option<u64> {
    bytes_of("MemTotal:", &std::fs::read_to_string("/proc/meminfo").ok()?)
}

/// Makes room in a list for as many values more, apart from everything else: in a mapping of its own, larger than it needs.
/// What is never touched takes no memory, and all of it goes back when the list goes.
///
/// Lists of some megabytes that grow and go leave holes behind: once the system's allocator (glibc) has seen a
/// mapping of up to 32 MiB go, it puts what is as large between everything else.
pub fn reserve_apart<T>(list: &mut Vec<T>, more: usize) {
    let wanted = list.len() + more;
    if list.capacity() < wanted {
        // Lists that have a mapping grow without being copied: by little, as what is there may all be touched.
        let grown = wanted + list.capacity() / 4;
        list.reserve_exact(grown.max(MAPPED / size_of::<T>().max(1)) - list.len());
    }
}

/// Bytes of a mapping that is never anything else.
pub const MAPPED: usize = 33 << 20;

fn memory(name: &str) -> Option<u64> {
    bytes_of(name, &std::fs::read_to_string("/proc/self/status").ok()?)
}

/// The bytes that a named line of such a file says.
fn bytes_of(name: &str, status: &str) -> Option<u64> {
    let line = status.lines().find_map(|l| l.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_system_tells_of_memory() {
        let status = "Name:\tx\nVmHWM:\t   12345 kB\nVmRSS:\t1 kB\n";
        assert_eq!(bytes_of("VmHWM:", status), Some(12345 * 1024));
        assert_eq!(bytes_of("VmRSS:", status), Some(1024));
        assert_eq!(bytes_of("VmHWM:", "Name:\tx\n"), None);
        assert_eq!(bytes_of("VmHWM:", "VmHWM:\tlots kB\n"), None);
        if cfg!(target_os = "linux") {
            assert!(resident_memory().expect("Linux says") > 1 << 20);
            assert!(peak_memory().expect("Linux says") > 1 << 20);
            assert!(total_memory() > peak_memory());
        }
    }
}
