#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| limber_fuzz::checkpoint(bytes));
