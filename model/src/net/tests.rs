#![allow(clippy::unwrap_used)]
use super::*;
use crate::render::{FEATURES, Window};
use crate::train::Dice;
use tch::{Device, Kind};

fn cpu() -> f64 {
    let t = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    t.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e6
}

/// A network of random numbers, the same for the same seed.
pub(crate) fn random(seed: i64, grad: bool) -> Net {
    tch::manual_seed(seed);
    Net::take(&mut |name, shape| {
        let x = Tensor::randn(shape, (Kind::Float, Device::Cpu)) * 0.05;
        let x = if name.contains("Norm.weight") { x + 1.0 } else { x };
        Ok::<_, TchError>(x.set_requires_grad(
            grad && name.starts_with("encoder") && !name.contains(".0.") && !name.contains(".1."),
        ))
    })
    .unwrap()
}

#[test]
#[ignore = "profile"]
fn profile() {
    tch::set_num_threads(1);
    for kind in [Kind::Float, Kind::BFloat16] {
        let net = random(1, false).ready(kind).unwrap();
        let _g = tch::no_grad_guard();
        let m = net.remember(Frames::new(&[&[500; 60]], Device::Cpu).unwrap()).unwrap();
        for (b, l) in [(1, 64), (16, 64), (64, 64), (1, 100), (16, 100)] {
            let window = Window { ids: vec![1000; l], action: 40 };
            let rows: Vec<Row> =
                (0..b).map(|_| Row { window: &window, features: &[0.1; FEATURES], frame: 0 }).collect();
            let w = Windows::new(&rows, Device::Cpu).unwrap();
            let mut best = f64::MAX;
            for _ in 0..8 {
                let t = cpu();
                net.judge(&m, &w, &mut whole).unwrap();
                best = best.min(cpu() - t);
            }
            println!("{kind:?} batch {b} of {l}: {best:.1} ms cpu, {:.2} each", best / b as f64);
        }
    }
    let net = random(1, true);
    let dice = Dice::new(3);
    let mut ids = |n: usize| (0..n).map(|_| 1000 + dice.below(20000) as i64).collect::<Vec<i64>>();
    let frames: Vec<Vec<i64>> = (0..16).map(|_| ids(37)).collect();
    let windows: Vec<Window> = (0..32).map(|_| Window { ids: ids(88), action: 40 }).collect();
    let features = [0.1; FEATURES];
    let lowest = net.ready_lowest(2, Kind::BFloat16).unwrap();
    for _ in 0..3 {
        let t0 = cpu();
        let ready = net.ready_above(&lowest, Kind::BFloat16).unwrap();
        let rows: Vec<Row> = windows
            .iter()
            .enumerate()
            .map(|(i, window)| Row { window, features: &features, frame: i / 2 })
            .collect();
        let f = Frames::new(&frames.iter().map(|f| f.as_slice()).collect::<Vec<_>>(), Device::Cpu).unwrap();
        let w = Windows::new(&rows, Device::Cpu).unwrap();
        let t1 = cpu();
        let m = ready.remember(f).unwrap();
        let t2 = cpu();
        let l = ready.judge(&m, &w, &mut whole).unwrap();
        let t3 = cpu();
        l.fused().unwrap().0.sum(Kind::Float).backward();
        let t4 = cpu();
        println!(
            "ready {:.0} frames {:.0} windows {:.0} backward {:.0} ms; {:.1} checks/s",
            t1 - t0,
            t2 - t1,
            t3 - t2,
            t4 - t3,
            32e3 / (t4 - t0)
        );
    }
}
