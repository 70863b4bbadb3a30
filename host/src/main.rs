//! The `postern` program. Everything is in the library.

fn main() -> std::process::ExitCode {
    postern::cli::main()
}
