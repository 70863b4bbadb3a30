#!/bin/sh
# build.sh TOOLCHAIN_DIR OUT.wasm: builds the JavaScript runner component.
#
# TOOLCHAIN_DIR holds bin/rustc (with a wasm32-wasip2 standard library) and c.env (CC, AR and CFLAGS
# of a C compiler for that target). README.md has the same steps in words.
set -eu
[ $# -eq 2 ] || { echo "usage: $0 TOOLCHAIN_DIR OUT.wasm" >&2; exit 2; }
toolchain=$(cd "$1" && pwd)
mkdir -p "$(dirname "$2")"
out=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
cd "$(dirname "$0")"

set -a
. "$toolchain/c.env"
set +a
# QuickJS switches its stack check off where __wasi__ is defined, and deep recursion then traps
# instead of throwing RangeError. Its other uses of __wasi__ ask for what EMSCRIPTEN (which its crate
# defines for this target) or __ANDROID__ (read only to find malloc_usable_size) give as well.
CFLAGS_wasm32_wasip2="$CFLAGS_wasm32_wasip2 -U__wasi__ -D__ANDROID__=1"
RUSTC=$toolchain/bin/rustc
export CFLAGS_wasm32_wasip2 RUSTC
# These would belong to the cargo that called us.
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER
CARGO_TARGET_DIR=${POSTERN_JS_TARGET_DIR:-$PWD/target}
export CARGO_TARGET_DIR

"${CARGO:-cargo}" build --release --locked --target wasm32-wasip2
cp "$CARGO_TARGET_DIR/wasm32-wasip2/release/postern_js_runner.wasm" "$out.new"
mv "$out.new" "$out"
