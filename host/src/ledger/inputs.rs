//! The texts of what the user handed to the run, for comparing values with. What is too large, or no
//! text, is left out: its values are then known from nowhere, which is the strict side.

use std::fs;
use std::path::Path;

use crate::sandbox::Input;

/// The largest file that is read.
const LARGEST: u64 = 1 << 20;
/// Most bytes in all.
const MOST: usize = 2 << 20;
/// Most files of a folder, and how deep it is looked into.
const FILES: usize = 200;
const DEPTH: usize = 6;

/// Each text with its place under /input.
pub(crate) fn read(inputs: &[Input]) -> Vec<(String, String)> {
    let mut out = Texts::default();
    for input in inputs {
        out.walk(&input.path, &format!("input/{}", input.name), DEPTH);
    }
    out.texts
}

#[derive(Default)]
struct Texts {
    texts: Vec<(String, String)>,
    bytes: usize,
    files: usize,
}

impl Texts {
    fn walk(&mut self, path: &Path, place: &str, depth: usize) {
        // Links are not followed, as in the sandbox.
        let Ok(found) = fs::symlink_metadata(path) else { return };
        if found.is_dir() && depth > 0 {
            let Ok(entries) = fs::read_dir(path) else { return };
            let mut entries: Vec<_> = entries.flatten().collect();
            entries.sort_by_key(fs::DirEntry::file_name);
            for entry in entries {
                self.walk(
                    &entry.path(),
                    &format!("{place}/{}", entry.file_name().to_string_lossy()),
                    depth - 1,
                );
            }
        } else if found.is_file() && found.len() <= LARGEST && self.files < FILES {
            self.files += 1;
            let Ok(text) = fs::read_to_string(path) else { return };
            if self.bytes + text.len() <= MOST {
                self.bytes += text.len();
                self.texts.push((place.to_owned(), text));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_and_the_rest_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("in")).unwrap();
        fs::write(folder.path().join("in/a.csv"), "name,mail").unwrap();
        fs::write(folder.path().join("in/b.bin"), [0xff, 0xfe]).unwrap();
        fs::write(folder.path().join("in/c.txt"), "x".repeat(LARGEST as usize + 1)).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", folder.path().join("in/link")).unwrap();
        let input = Input::new(&folder.path().join("in")).unwrap();
        assert_eq!(read(&[input]), [("input/in/a.csv".to_owned(), "name,mail".to_owned())]);
    }
}
