#[test]
fn tmp() {
    let Ok(path) = std::env::var("SCRIPT") else { return };
    for source in std::fs::read_to_string(path).unwrap().split("\n----\n") {
        let ran = crate::host::run_for(source, std::time::Duration::from_secs(5));
        println!("=== {source}\n{:?} {:?}\n{}{}", ran.took, ran.end, ran.stdout, ran.stderr);
    }
    crate::host::bench();
}
