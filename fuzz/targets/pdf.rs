#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| alike_fuzz::pdf(data));
