//! Files and folders that may or may not be touched.

use super::people::FILE_ENDINGS;
use super::{GLUE, Words, has, negated, only};
use crate::constraints::rule::{Rule, Touch};

fn is_path(word: &str) -> bool {
    let ending = word.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty() && FILE_ENDINGS.contains(&ending.to_lowercase().as_str())
    });
    let plain = word.chars().all(|c| c.is_alphanumeric() || "._-/~\\+@ ".contains(c))
        && word.chars().any(char::is_alphanumeric);
    plain
        && (ending || word.contains(['/', '\\']) || (word.starts_with(['.', '~']) && word.len() > 1))
        && !word.contains("://")
}

pub(super) fn files(words: &Words) -> Option<Rule> {
    const WRITE: &[&str] = &[
        "write",
        "writes",
        "writing",
        "save",
        "create",
        "change",
        "changes",
        "edit",
        "modify",
        "overwrite",
        "make",
        "update",
    ];
    const ANY: &[&str] = &[
        "touch", "read", "reads", "reading", "open", "print", "show", "look", "use", "access", "upload",
        "attach", "share", "work", "stay", "keep", "remain", "see", "view", "list",
    ];
    const AROUND: &[&str] = &[
        "file",
        "files",
        "folder",
        "directory",
        "under",
        "inside",
        "into",
        "within",
        "outside",
        "below",
        "anything",
        "content",
        "contents",
        "nothing",
        "everything",
        "called",
        "named",
        "beneath",
    ];
    let mut paths = Vec::new();
    let mut rest = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let beside = |at: Option<usize>| {
            at.and_then(|at| words.get(at))
                .is_some_and(|(word, _)| matches!(word.as_str(), "folder" | "directory"))
        };
        let known = [WRITE, ANY, AROUND, GLUE].iter().any(|list| list.contains(&word.0.as_str()));
        let named = !known
            && (beside(index.checked_sub(1)) || beside(Some(index + 1)))
            && word.1.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
        if is_path(&word.1) || named {
            paths.push(crate::facts::straight(&word.1));
        } else {
            rest.push(word.clone());
        }
    }
    if paths.is_empty()
        || paths.iter().any(|path| path == "." || path == "/")
        || !only(&rest, &[WRITE, ANY, AROUND, GLUE])
    {
        return None;
    }
    let (writes, any) = (has(&rest, WRITE), has(&rest, ANY));
    if !writes && !any {
        return None;
    }
    let touch = if any { Touch::Any } else { Touch::Write };
    let not = negated(&rest);
    let outside = has(&rest, &["outside"]);
    let only_word = has(&rest, &["only"]);
    let stays = has(&rest, &["stay", "keep", "remain", "work"])
        && has(&rest, &["inside", "under", "within", "in", "below"]);
    if ((only_word || stays) && !not && !outside) || (not && outside && !only_word) {
        // "only read x" forbids writing too, which is another matter.
        return (writes
            || !has(&rest, &["read", "reads"])
            || has(&rest, &["under", "inside", "from", "in", "within", "below"]))
        .then_some(Rule::OnlyUnder { folders: paths, touch });
    }
    (not && !outside && !only_word).then_some(Rule::NotFiles { files: paths, touch })
}
