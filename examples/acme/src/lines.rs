//! Files of one JSON document a line, which is how this server remembers what it was asked to send.

use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use serde::Serialize;

/// Appends `value` as one line and returns the number of lines the file has then. Makes the file
/// and its folder if need be.
///
/// # Errors
/// If the file cannot be written.
pub(crate) fn append(path: &Path, value: &impl Serialize) -> io::Result<usize> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = OpenOptions::new().create(true).append(true).read(true).open(path)?;
    // Readers and other writers share the file: nobody may see half a line.
    file.lock()?;
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    file.write_all(&line)?;
    let mut lines = 0;
    for line in BufReader::new(fs::File::open(path)?).lines() {
        line?;
        lines += 1;
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn counts_the_lines_it_appends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b.jsonl");
        assert_eq!(append(&path, &"one\ntwo").unwrap(), 1);
        assert_eq!(append(&path, &2).unwrap(), 2);
        assert_eq!(fs::read_to_string(&path).unwrap(), "\"one\\ntwo\"\n2\n");
    }
}
