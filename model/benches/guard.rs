//! How long a check takes on the CPU, on one thread and on two. `postern-guard bench` prints p50 and p95 of the
//! same cases, and those of a GPU.

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use postern_guard::bench::{Case, Workload};
use postern_guard::{Device, Guard, default_folder};

fn guard(criterion: &mut Criterion) {
    let folder = default_folder().expect("weights are committed with this package");
    let guard = Guard::load(&folder, Device::Cpu).expect("the committed weights load");
    let mut workload = Workload::new(&guard).expect("the generated checks can be rendered");
    for threads in [1, 2] {
        tch::set_num_threads(threads);
        let mut group = criterion.benchmark_group(format!("guard, threads: {threads}"));
        for case in Case::ALL {
            group.throughput(Throughput::Elements(case.checks() as u64));
            group.bench_function(case.to_string(), |bencher| {
                bencher.iter_custom(|goes| -> Duration {
                    (0..goes).map(|_| workload.go(&guard, case).expect("checks are scored")).sum()
                });
            });
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = guard
}
criterion_main!(benches);
