//! The shape of the repository: which crate may depend on which, what the laws may see, how long a file may be.
//!
//! ```text
//!     units ← control, queue ← scenario ← sim, fluid ← gym        everything ← py, bench
//!             control, queue ← foreign                  sim ← session ← wasm      sim, pcapng ← trace
//!             scenario ← quinn                            pages ← sim
//! ```

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Each crate of the workspace, with the crates of the workspace that it may depend on.
const ARROWS: &[(&str, &[&str])] = &[
    ("longfat-units", &[]),
    ("longfat-pages", &[]),
    ("longfat-control", &["longfat-units"]),
    ("longfat-queue", &["longfat-units"]),
    ("longfat-scenario", INNER),
    ("longfat-sim", BELOW_A_MODEL),
    ("longfat-fluid", BELOW_A_MODEL),
    ("longfat-gym", BELOW_AN_ENVIRONMENT),
    // Its tests run what they load.
    ("longfat-foreign", MODELS),
    ("longfat-session", MODELS),
    ("longfat-pcapng", &[]),
    ("longfat-trace", BELOW_A_TRACE),
    // Its tests compare it with simulations.
    ("longfat-quinn", MODELS),
    ("longfat-wasm", &["longfat-session"]),
    ("longfat-py", EVERYTHING),
    ("longfat-bench", EVERYTHING),
];
/// From the bottom up.
const EVERYTHING: &[&str] = &[
    "longfat-units",
    "longfat-control",
    "longfat-queue",
    "longfat-scenario",
    "longfat-pages",
    "longfat-sim",
    "longfat-fluid",
    "longfat-gym",
    "longfat-foreign",
    "longfat-session",
    "longfat-trace",
];
const BELOW_A_TRACE: &[&str] =
    &["longfat-units", "longfat-scenario", "longfat-sim", "longfat-pcapng"];
const INNER: &[&str] = EVERYTHING.split_at(3).0;
const BELOW_A_MODEL: &[&str] = EVERYTHING.split_at(5).0;
const MODELS: &[&str] = EVERYTHING.split_at(6).0;
const BELOW_AN_ENVIRONMENT: &[&str] = EVERYTHING.split_at(7).0;

/// What quantities, laws and policies may take from outside: arithmetic and text, and for their tests randomness.
const HARMLESS: &[&str] = &["dyn-clone", "libm", "rand_core", "thiserror"];
const HARMLESS_IN_TESTS: &[&str] = &["proptest", "rand_core", "rand_pcg"];

/// Crates whose code uses no clock, files, network or processes.
const PURE: &[&str] =
    &["units", "control", "queue", "scenario", "sim", "fluid", "gym", "session", "pcapng", "trace"];
const OUTSIDE: &[&str] = &["env", "fs", "io", "net", "os", "process", "thread", "time"];

/// A file longer than this holds two ideas.
const LONGEST: usize = 900;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("crates/sim lies in the workspace")
        .into()
}

/// The packages of the workspace, as cargo knows them.
fn packages() -> Vec<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs this test, so it can be run");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    metadata["packages"].as_array().expect("a list of packages").clone()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// A name, and the names and kinds (`""`, `"dev"`, `"build"`) of what it depends on.
fn dependencies(package: &Value) -> (&str, Vec<(&str, &str)>) {
    let listed = package["dependencies"].as_array().expect("a list of dependencies");
    let pairs = listed.iter().map(|each| (text(each, "name"), text(each, "kind"))).collect();
    (text(package, "name"), pairs)
}

#[test]
fn arrows_point_inwards() {
    let packages = packages();
    let ours: BTreeSet<&str> = packages.iter().map(|package| dependencies(package).0).collect();
    let mut wrong = Vec::new();
    for package in &packages {
        let (name, dependencies) = dependencies(package);
        let Some((_, allowed)) = ARROWS.iter().find(|(crate_name, _)| *crate_name == name) else {
            wrong.push(format!(
                "{name} is not in the map. Give it a row in ARROWS (crates/sim/tests/arrows.rs) and in \
                 ARCHITECTURE.md, or make it a module of the crate that it belongs to."
            ));
            continue;
        };
        for (target, _) in dependencies {
            if ours.contains(target) && !allowed.contains(&target) {
                wrong.push(format!(
                    "{name} -> {target} points the wrong way: {name} may depend on {}. Move what is shared \
                     inwards, to a crate that both may depend on, or hand it over as an argument.",
                    if allowed.is_empty() { "no crate of the workspace".into() } else { allowed.join(", ") }
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn laws_and_policies_depend_on_nothing_that_sees_the_world() {
    let mut wrong = Vec::new();
    for package in &packages() {
        let (name, dependencies) = dependencies(package);
        if !INNER.contains(&name) {
            continue;
        }
        for (target, kind) in dependencies {
            let allowed = if kind == "dev" { HARMLESS_IN_TESTS } else { HARMLESS };
            if !target.starts_with("longfat-") && !allowed.contains(&target) {
                wrong.push(format!(
                    "{name} -> {target}: quantities, laws and policies have no clock, no files, no network. If \
                     `{target}` has none either, add it to the list in crates/sim/tests/arrows.rs; else use it \
                     in the host and hand over what it finds."
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn only_borders_are_unsafe() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for path in files(&root().join("crates"), &["rs"]) {
        let shown = shown(&path);
        let borders = ["crates/pages/src/lib.rs", "crates/py/src/own.rs", "crates/wasm/src/lib.rs"];
        if shown.starts_with("crates/foreign/") || borders.contains(&shown.as_str()) {
            continue;
        }
        seen += 1;
        let text = fs::read_to_string(&path).expect("source files are text");
        let code = |line: &str| {
            let code = line.split("//").next().unwrap_or_default().to_owned();
            code.contains("unsafe ") || code.contains("(unsafe_code")
        };
        // This test names what it looks for.
        if !shown.ends_with("tests/arrows.rs") && text.lines().any(code) {
            wrong.push(format!(
                "{shown} has `unsafe`: only the borders to code that is not ours do, crates/foreign, \
                 crates/pages, crates/py/src/own.rs and crates/wasm"
            ));
        }
    }
    assert!(seen > 150, "{seen} files were looked at");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_inside_has_no_clock_and_no_files() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for name in PURE {
        for path in files(&root().join("crates").join(name).join("src"), &["rs"]) {
            seen += 1;
            let text = fs::read_to_string(&path).expect("source files are text");
            for (index, line) in text.lines().enumerate() {
                let code = line.trim_start();
                if code.starts_with("//") {
                    continue;
                }
                for module in
                    modules_of_std(code).into_iter().filter(|module| OUTSIDE.contains(module))
                {
                    wrong.push(format!(
                        "{}:{}: `std::{module}` is outside. Take what it tells as an argument, and use it at \
                         the rim: crates/py, python/longfat, bench.",
                        shown(&path),
                        index + 1
                    ));
                }
            }
        }
    }
    assert!(
        seen > 20,
        "only {seen} source files were found: is the test looking in the right place?"
    );
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The modules of `std` that a line of code names: `std::fmt`, `std::{cmp, io::Write}`.
fn modules_of_std(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("std::") {
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &code[at + "std::".len()..];
        let list =
            rest.strip_prefix('{').map_or(rest, |list| list.split('}').next().unwrap_or(list));
        let parts = if rest.starts_with('{') { list.split(',').collect() } else { vec![list] };
        found.extend(parts.into_iter().map(|part| {
            let part = part.trim_start();
            part.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
        }));
    }
    found
}

#[test]
fn modules_of_std_are_found() {
    assert_eq!(modules_of_std("use std::fmt;"), ["fmt"]);
    assert_eq!(modules_of_std("use std::{cmp, io::Write};"), ["cmp", "io"]);
    assert_eq!(modules_of_std("let now = std::time::Instant::now();"), ["time"]);
    assert_eq!(modules_of_std("use my_std::time;"), [""; 0]);
}

/// With `autotests = false` cargo runs only what is named: a file that nobody names would pass for ever.
#[test]
fn every_file_of_tests_is_run() {
    let mut forgotten = Vec::new();
    for package in &packages() {
        let manifest = Path::new(text(package, "manifest_path"));
        let tests = manifest.with_file_name("tests");
        let Ok(listed) = fs::read_to_string(tests.join("main.rs")) else {
            continue;
        };
        let programs: Vec<&str> = package["targets"]
            .as_array()
            .expect("a list of targets")
            .iter()
            .map(|target| text(target, "src_path"))
            .collect();
        for entry in fs::read_dir(&tests).expect("tests can be listed") {
            let path = entry.expect("an entry").path();
            let is_rust = path.extension().is_some_and(|ending| ending == "rs");
            let module = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let named = listed.lines().any(|line| line == format!("mod {module};"))
                || programs.iter().any(|program| Path::new(program) == path);
            if is_rust && !named {
                forgotten
                    .push(format!("{}: add `mod {module};` to main.rs beside it", shown(&path)));
            }
        }
    }
    assert!(forgotten.is_empty(), "\n{}", forgotten.join("\n"));
}

#[test]
fn no_file_is_too_long() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for path in files(&root(), &["rs", "py", "pyi"]) {
        seen += 1;
        let lines = fs::read_to_string(&path).expect("source files are text").lines().count();
        if lines > LONGEST {
            wrong.push(format!(
                "{} has {lines} lines, more than {LONGEST}: it holds two ideas. Give each its own file.",
                shown(&path)
            ));
        }
    }
    assert!(
        seen > 40,
        "only {seen} source files were found: is the test looking in the right place?"
    );
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Every file below `folder` with one of these extensions, except in hidden folders and build output.
fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let entry = entry.expect("a folder that was opened can be listed");
            let name = entry.file_name().to_string_lossy().into_owned();
            let kind = entry.file_type().expect("an entry has a type");
            if kind.is_dir() && !name.starts_with('.') && name != "target" {
                folders.push(entry.path());
            }
            let ending = Path::new(&name).extension().and_then(|ending| ending.to_str());
            if kind.is_file() && ending.is_some_and(|ending| endings.contains(&ending)) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}
