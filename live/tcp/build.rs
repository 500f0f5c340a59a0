//! Compiles the programs for the kernel, with clang and the headers of libbpf.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One asks a program outside of the kernel, the other one goes by tables.
const PROGRAMS: [&str; 2] = ["control", "law"];
const HEADERS: [&str; 4] = ["bpf/kernel.h", "bpf/shared.h", "bpf/spare.h", "bpf/law.h"];

fn main() {
    for file in HEADERS.into_iter().chain(["build.rs"]) {
        println!("cargo:rerun-if-changed={file}");
    }
    println!("cargo:rerun-if-env-changed=CLANG");
    for program in PROGRAMS {
        println!("cargo:rerun-if-changed=bpf/{program}.bpf.c");
        compile(program);
    }
}

fn compile(program: &str) {
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".into());
    let headers = env::var("DEP_BPF_INCLUDE").expect("cargo says where the headers of libbpf are");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let architecture = env::var("CARGO_CFG_TARGET_ARCH").expect("cargo sets it");
    let mut command = Command::new(&clang);
    // Atomic operations that return something came with the third version of the instructions, with Linux 5.12.
    command.args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Wextra", "-Werror"]);
    command.args(["-Wno-unused-parameter", "-Wno-missing-field-initializers", "-I", &headers]);
    // Debian keeps some of the kernel's headers by architecture.
    let own = format!("/usr/include/{architecture}-linux-gnu");
    if Path::new(&own).is_dir() {
        command.args(["-idirafter", &own]);
    }
    command
        .args(["-c", &format!("bpf/{program}.bpf.c"), "-o"])
        .arg(out.join(program).with_extension("o"));
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => {
            panic!("{clang} ended with {status}: clang 14 or later is needed, and linux-libc-dev")
        }
        Err(error) => panic!(
            "{clang}: {error}. The programs for the kernel are compiled by clang: install clang, libelf-dev, zlib1g-dev and \
             pkg-config"
        ),
    }
}
