//! Lets the module say whether it was compiled with a profile of what it does most (`make fast`).

fn main() {
    println!("cargo::rerun-if-env-changed=CARGO_ENCODED_RUSTFLAGS");
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    println!("cargo::rustc-env=LONGFAT_PROFILED={}", flags.contains("profile-use"));
}
