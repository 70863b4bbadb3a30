//! Training and measuring the guard: the steps that they need, then `postern-guard` with the caller's
//! arguments and, where the caller said nothing, with the clone's own places.

use std::fs;
use std::time::Instant;

use crate::binaries::Binaries;
use crate::context::Context;
use crate::encoder::ENCODER;
use crate::failure::{Because, Result};
use crate::libtorch::Libtorch;
use crate::process;
use crate::sources::SOURCES;
use crate::step::{self, Step};

/// What `--smoke` means where the caller does not say otherwise. On two cores the whole command then takes
/// under four minutes: two for learning, the rest for rendering, the baseline and the figures.
const SMOKE: [(&str, &str); 2] = [("--generated", "4000"), ("--minutes", "2")];
/// Counterfactual checks made from the public data.
const COUNTERFACTUALS: &str = "6000";

/// Training starts from the base encoder; the program and its options are postern-guard's.
pub(crate) fn train(cx: &Context, args: &[String]) -> Result<()> {
    let smoke = args.iter().any(|arg| arg == "--smoke");
    let sources = !smoke && !is_given(args, "--data");
    let mut steps: Vec<&dyn Step> = vec![&Libtorch, &Binaries, &ENCODER];
    if sources {
        steps.push(&SOURCES);
    }
    prepare(cx, &steps)?;
    let data = cx.local("data");
    if sources {
        // made anew: a file of an older run must not be read along
        let _ = fs::remove_dir_all(&data);
        fs::create_dir_all(&data).because(|| format!("making {}", data.display()))?;
        let from = cx.local("data-sources");
        let mut run = cx.run("postern-guard")?;
        run.arg("data").arg("--bfcl").arg(from.join("bfcl")).arg("--tau").arg(from.join("tau2"));
        run.arg("--suites").arg(cx.root.join("model/suites"));
        run.arg("--out").arg(&data).args(["--counterfactuals", COUNTERFACTUALS]);
        process::show_running(&mut run)?;
    }
    let mut run = cx.run("postern-guard")?;
    run.arg("train").args(args);
    if sources {
        run.arg("--data").arg(&data);
    }
    // the caller may start from another encoder
    if !is_given(args, "--base") {
        run.arg("--base").arg(cx.local("encoder"));
    }
    if !is_given(args, "--out") {
        run.arg("--out").arg(cx.local(if smoke { "smoke" } else { "weights" }));
    }
    for (option, value) in SMOKE {
        if smoke && !is_given(args, option) {
            run.args([option, value]);
        }
    }
    process::show_running(&mut run)
}

/// Measures the weights of the clone, unless the caller names others.
pub(crate) fn eval(cx: &Context, args: &[String]) -> Result<()> {
    prepare(cx, &[&Libtorch, &Binaries])?;
    let mut run = cx.run("postern-guard")?;
    run.arg("eval").args(args);
    if !is_given(args, "--weights") && std::env::var_os("POSTERN_WEIGHTS").is_none() {
        run.arg("--weights").arg(cx.root.join("model/weights"));
    }
    process::show_running(&mut run)
}

fn prepare(cx: &Context, steps: &[&dyn Step]) -> Result<()> {
    let started = Instant::now();
    let rows = step::run(cx, steps)?;
    eprintln!("{}", step::summary(&rows, started.elapsed()));
    Ok(())
}

/// Whether an option is among the arguments, as `--name value` or `--name=value`.
fn is_given(args: &[String], option: &str) -> bool {
    args.iter()
        .any(|arg| arg.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('=')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_seen_in_both_spellings_and_not_in_another() {
        let args = ["--data-more", "--out=x", "--seed", "3"].map(String::from);
        assert!(is_given(&args, "--out") && is_given(&args, "--seed"));
        assert!(!is_given(&args, "--data") && !is_given(&args, "--minutes"));
    }
}
