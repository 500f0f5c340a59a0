//! The traces and the lists of flows that a scenario file names.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

use longfat_scenario::Replay;
use pyo3::prelude::*;

/// The text of the file called `name` in `folder`, as [`open_trace`] finds it. Of a Parquet file `table` makes the text: a
/// function of Python that takes the path, and raises `ValueError` with a reason.
pub(crate) fn open(folder: &Path, name: &str, table: Option<&Py<PyAny>>) -> Result<String, String> {
    match table.filter(|_| Path::new(name).extension().is_some_and(|end| end == "parquet")) {
        None => open_trace(folder, name),
        Some(table) => {
            let path = find(folder, name)?;
            Python::attach(|py| {
                let text = table.call1(py, (path,)).and_then(|text| text.extract::<String>(py));
                text.map_err(|error| error.value(py).to_string())
            })
        }
    }
}

/// The text of the file called `name` in `folder`, or why there is none, in words that show nothing of it.
///
/// Nothing is read that is longer than a list of flows can be.
fn open_trace(folder: &Path, name: &str) -> Result<String, String> {
    let path = find(folder, name)?;
    let mut content = Vec::new();
    let most = Replay::LONGEST as u64;
    File::open(path)
        .and_then(|file| file.take(most + 1).read_to_end(&mut content))
        .map_err(|error| found(&error))?;
    if content.len() > Replay::LONGEST {
        return Err(format!("it is longer than {} MB", most / 1_000_000));
    }
    String::from_utf8(content).map_err(|_| "it is not text".to_string())
}

/// Why a file is not to be had.
fn found(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file beside the scenario file".to_string(),
        ErrorKind::PermissionDenied => "this file may not be read".to_string(),
        _ => "this file cannot be opened".to_string(),
    }
}

/// Where the file called `name` in `folder` is.
///
/// A scenario may come from somebody else. It can name regular files in its own folder and below, wherever links lead.
fn find(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    let inside = "a file is named by its path in the folder of the scenario file";
    if name.is_empty() || !Path::new(name).components().all(plain) {
        return Err(format!("{inside}, without `..`"));
    }
    // An empty path means the working directory everywhere but here.
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let home = fs::canonicalize(folder).map_err(|error| found(&error))?;
    let path = fs::canonicalize(home.join(name)).map_err(|error| found(&error))?;
    if !path.starts_with(&home) {
        return Err(format!("{inside}, and this one is a link that leads out of it"));
    }
    // Opening a pipe would wait for whoever writes to it.
    if !fs::metadata(&path).map_err(|error| found(&error))?.is_file() {
        return Err("this is not a file".into());
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_in_the_folder() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(open_trace(folder, "Cargo.toml").is_ok_and(|text| text.contains("longfat-py")));
        assert!(
            open_trace(folder, "./src/../Cargo.toml").is_err_and(|reason| reason.contains("`..`"))
        );
        for name in ["", "..", "../../Cargo.toml", "/etc/hostname"] {
            let refused = open_trace(folder, name);
            assert!(refused.is_err_and(|reason| reason.contains("in the folder")), "{name}");
        }
        assert_eq!(open_trace(folder, "src"), Err("this is not a file".into()));
        assert!(open_trace(folder, "missing").is_err_and(|reason| reason.contains("no such file")));
    }
}
