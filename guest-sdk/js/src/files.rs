//! The functions behind `fs`: std's file system over what the host has opened for the run, with
//! errors as Node names them.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::time::UNIX_EPOCH;

use rquickjs::convert::List;
use rquickjs::{Ctx, Function, Object, Result, TypedArray, Value};

use crate::engine::{throw_coded, with_bytes};

/// Where relative paths begin.
const HOME: &str = "/workspace";
/// The folders that a host may open for a run.
const ROOTS: [&str; 3] = ["/input", "/out", "/workspace"];

/// Puts these functions into the prelude's `host`.
pub(crate) fn register<'js>(ctx: &Ctx<'js>, host: &Object<'js>) -> Result<()> {
    let files = Object::new(ctx.clone())?;
    files.set("path", Function::new(ctx.clone(), |path: String| absolute(&path))?)?;
    files.set("readText", Function::new(ctx.clone(), read_text)?)?;
    files.set("readBytes", Function::new(ctx.clone(), read_bytes)?)?;
    files.set("write", Function::new(ctx.clone(), write)?)?;
    files.set("list", Function::new(ctx.clone(), list)?)?;
    files.set("stat", Function::new(ctx.clone(), stat)?)?;
    files.set("mkdir", Function::new(ctx.clone(), mkdir)?)?;
    files.set("remove", Function::new(ctx.clone(), remove)?)?;
    files.set("rename", Function::new(ctx.clone(), rename)?)?;
    files.set("copy", Function::new(ctx.clone(), copy)?)?;
    host.set("files", files)?;
    Ok(())
}

/// A path from the root, without `.` and `..`.
fn absolute(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let home = if path.starts_with('/') { "" } else { HOME };
    for part in home.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// Does one thing with a file, and turns what goes wrong into the script's error.
fn attempt<T>(ctx: &Ctx<'_>, doing: &str, path: &str, job: impl FnOnce(&str) -> io::Result<T>) -> Result<T> {
    let path = absolute(path);
    let known = path == "/"
        || ROOTS
            .iter()
            .any(|root| path.strip_prefix(root).is_some_and(|r| r.is_empty() || r.starts_with('/')));
    if !known || path.contains('\0') {
        let message = format!(
            "EACCES: permission denied, {doing} '{}': a script's files are under /input (read only), /workspace and /out",
            path.replace('\0', "\\0")
        );
        return Err(throw_coded(ctx, None, "EACCES", &message));
    }
    job(&path).map_err(|error| {
        let (code, text) = explain(&error);
        let error = throw_coded(ctx, None, code, &format!("{code}: {text}, {doing} '{path}'"));
        error
    })
}

/// Node's code and words for an error.
fn explain(error: &io::Error) -> (&'static str, String) {
    let (code, text) = match error.kind() {
        ErrorKind::NotFound => ("ENOENT", "no such file or directory"),
        ErrorKind::PermissionDenied => ("EACCES", "permission denied"),
        ErrorKind::AlreadyExists => ("EEXIST", "file already exists"),
        ErrorKind::NotADirectory => ("ENOTDIR", "not a directory"),
        ErrorKind::IsADirectory => ("EISDIR", "illegal operation on a directory"),
        ErrorKind::DirectoryNotEmpty => ("ENOTEMPTY", "directory not empty"),
        ErrorKind::ReadOnlyFilesystem => ("EROFS", "read-only file system"),
        ErrorKind::StorageFull => ("ENOSPC", "no space left on device"),
        ErrorKind::QuotaExceeded => ("EDQUOT", "the workspace is full"),
        ErrorKind::FileTooLarge => ("EFBIG", "file too large"),
        ErrorKind::InvalidInput => ("EINVAL", "invalid argument"),
        ErrorKind::CrossesDevices => ("EXDEV", "cross-device link not permitted"),
        ErrorKind::InvalidFilename => ("ENAMETOOLONG", "name too long"),
        ErrorKind::TooManyLinks => ("EMLINK", "too many links"),
        ErrorKind::OutOfMemory => ("ENOMEM", "out of memory"),
        // wasi-libc's ENOTCAPABLE: outside what the host has opened.
        _ if error.raw_os_error() == Some(76) => ("EACCES", "permission denied"),
        _ => return ("EIO", format!("i/o error ({error})")),
    };
    (code, text.to_owned())
}

/// A file's bytes. A file larger than memory is an error, not the end of the run.
fn bytes(path: &str) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    let mut bytes = Vec::new();
    let size = usize::try_from(metadata.len()).map_err(|_| ErrorKind::OutOfMemory)?;
    bytes.try_reserve_exact(size.saturating_add(1)).map_err(|_| ErrorKind::OutOfMemory)?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn read_text(ctx: Ctx<'_>, path: String) -> Result<String> {
    let bytes = attempt(&ctx, "open", &path, bytes)?;
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

fn read_bytes<'js>(ctx: Ctx<'js>, path: String) -> Result<TypedArray<'js, u8>> {
    let bytes = attempt(&ctx, "open", &path, bytes)?;
    TypedArray::new(ctx, bytes)
}

/// Writes text or bytes. `mode` is `w` (replace), `a` (append), or either with `x` (must be new).
fn write<'js>(ctx: Ctx<'js>, path: String, data: Value<'js>, mode: String) -> Result<()> {
    let save = |data: &[u8]| {
        attempt(&ctx, "open", &path, |path| {
            let append = mode.starts_with('a');
            let mut file = OpenOptions::new()
                .write(true)
                .append(append)
                .truncate(!append)
                .create(true)
                .create_new(mode.ends_with('x'))
                .open(path)?;
            file.write_all(data)
        })
    };
    match data.as_string() {
        Some(text) => save(text.to_string()?.as_bytes()),
        None => with_bytes(&TypedArray::from_value(data)?, save),
    }
}

/// `f`, `d`, `l` or `o` (other).
fn kind(of: fs::FileType) -> &'static str {
    match of {
        of if of.is_file() => "f",
        of if of.is_dir() => "d",
        of if of.is_symlink() => "l",
        _ => "o",
    }
}

/// Names and kinds in turn, sorted by name.
fn list(ctx: Ctx<'_>, path: String) -> Result<Vec<String>> {
    let mut entries = attempt(&ctx, "scandir", &path, |path| {
        if path == "/" {
            let open = ROOTS.iter().filter(|root| fs::metadata(root).is_ok());
            return Ok(open.map(|root| (root[1..].to_owned(), "d")).collect::<Vec<_>>());
        }
        fs::read_dir(path)?
            .map(|entry| {
                let entry = entry?;
                Ok((entry.file_name().to_string_lossy().into_owned(), kind(entry.file_type()?)))
            })
            .collect()
    })?;
    entries.sort();
    Ok(entries.into_iter().flat_map(|(name, kind)| [name, kind.to_owned()]).collect())
}

/// Size in bytes, time of the last change in ms since 1970, kind.
fn stat(ctx: Ctx<'_>, path: String, follow: bool) -> Result<List<(f64, f64, &'static str)>> {
    attempt(&ctx, "stat", &path, |path| {
        if path == "/" {
            return Ok(List((0.0, 0.0, "d")));
        }
        let metadata = if follow { fs::metadata(path)? } else { fs::symlink_metadata(path)? };
        let changed = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let ms = changed.map_or(0.0, |since| since.as_secs_f64() * 1e3);
        Ok(List((metadata.len() as f64, ms, kind(metadata.file_type()))))
    })
}

fn mkdir(ctx: Ctx<'_>, path: String, recursive: bool) -> Result<()> {
    attempt(&ctx, "mkdir", &path, |path| match recursive {
        // The folders that the host has opened have no parent that could be asked.
        true => {
            let root = ROOTS.iter().find(|root| path.starts_with(**root)).map_or("", |root| *root);
            let mut at = root.to_owned();
            for part in path[root.len()..].split('/').filter(|part| !part.is_empty()) {
                at.push('/');
                at.push_str(part);
                match fs::create_dir(&at) {
                    Err(error)
                        if error.kind() != ErrorKind::AlreadyExists
                            && !fs::metadata(&at).is_ok_and(|m| m.is_dir()) =>
                    {
                        return Err(error);
                    }
                    _ => {}
                }
            }
            match fs::metadata(path)?.is_dir() {
                true => Ok(()),
                false => Err(ErrorKind::AlreadyExists.into()),
            }
        }
        false => fs::create_dir(path),
    })
}

/// Removes a file, or with `recursive` a folder and what is in it, or with `folder` an empty folder.
fn remove(ctx: Ctx<'_>, path: String, recursive: bool, folder: bool) -> Result<()> {
    attempt(&ctx, "rm", &path, |path| {
        if folder {
            return fs::remove_dir(path);
        }
        let metadata = fs::symlink_metadata(path)?;
        match (metadata.is_dir(), recursive) {
            (false, _) => fs::remove_file(path),
            (true, true) => remove_tree(path),
            (true, false) => Err(ErrorKind::IsADirectory.into()),
        }
    })
}

/// Deep trees are walked with a list, not with the stack.
fn remove_tree(path: &str) -> io::Result<()> {
    let mut folders = vec![path.to_owned()];
    let mut at = 0;
    while let Some(folder) = folders.get(at).cloned() {
        at += 1;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let inner = format!("{folder}/{}", entry.file_name().to_string_lossy());
            match entry.file_type()?.is_dir() {
                true => folders.push(inner),
                false => fs::remove_file(inner)?,
            }
        }
    }
    folders.iter().rev().try_for_each(fs::remove_dir)
}

fn rename(ctx: Ctx<'_>, from: String, to: String) -> Result<()> {
    let to = attempt(&ctx, "rename", &to, |to| Ok(to.to_owned()))?;
    attempt(&ctx, "rename", &from, |from| match fs::rename(from, &to) {
        // /workspace, /input and /out are different folders of the host; a file can still be moved.
        Err(error) if error.kind() == ErrorKind::CrossesDevices && fs::metadata(from)?.is_file() => {
            fs::copy(from, &to)?;
            fs::remove_file(from)
        }
        result => result,
    })
}

fn copy(ctx: Ctx<'_>, from: String, to: String) -> Result<()> {
    let to = attempt(&ctx, "copyfile", &to, |to| Ok(to.to_owned()))?;
    attempt(&ctx, "copyfile", &from, |from| {
        if fs::metadata(from)?.is_dir() {
            return Err(ErrorKind::IsADirectory.into());
        }
        fs::copy(from, &to).map(drop)
    })
}
