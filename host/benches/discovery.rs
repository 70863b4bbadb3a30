//! What finding a tool among 5,000 costs: `cargo bench --bench discovery`.
//!
//! - `index`: the first search, which makes the index of 25 servers with 200 tools each
//! - `search`: one search after that

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark may fail loudly")]

#[path = "../tests/fixtures/many_tools.rs"]
mod many_tools;

use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use many_tools::five_thousand;
use postern::gate::{Grants, Pattern, Tools};
use tokio::runtime::Runtime;

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

fn tools() -> Tools {
    Tools::new(five_thousand(), Grants::new(vec![Pattern::parse("*/*").unwrap()]))
}

fn index(c: &mut Criterion) {
    let runtime = runtime();
    let mut group = c.benchmark_group("discovery");
    group.sample_size(10);
    group.bench_function("index of 5,000 tools", |b| {
        b.iter_custom(|rounds| {
            let mut total = Duration::ZERO;
            for _ in 0..rounds {
                let tools = tools();
                let began = Instant::now();
                let found = runtime.block_on(tools.search("send mail", 20));
                total += began.elapsed();
                assert_eq!(found.tools.len(), 20);
            }
            total
        });
    });
    group.finish();
}

fn search(c: &mut Criterion) {
    let (runtime, tools) = (runtime(), tools());
    let mut group = c.benchmark_group("discovery");
    for (name, query) in [
        ("search, two words", "send mail"),
        ("search, a sentence", "find all unpaid invoices of a customer and who owns them"),
        ("search, misspelt", "exprot custmer"),
        ("search, nothing there", "quantum chromodynamics"),
    ] {
        group.bench_function(name, |b| b.to_async(&runtime).iter(|| tools.search(query, 20)));
    }
    group.finish();
}

criterion_group!(benches, index, search);
criterion_main!(benches);
