//! Makes the binaries and tests of this package find libtorch where they were built, without
//! LD_LIBRARY_PATH.

use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=LIBTORCH");
    let Some(root) = std::env::var_os("LIBTORCH") else {
        // torch-sys says what is missing, and it says it better.
        return;
    };
    let lib = PathBuf::from(root).join("lib");
    // `.postern/libtorch` is a link that a later set-up may turn elsewhere.
    let lib = lib.canonicalize().unwrap_or(lib);
    if std::env::var("CARGO_CFG_TARGET_FAMILY").as_deref() == Ok("unix") {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{}", lib.display());
    }
}
