#![allow(clippy::unwrap_used)]
use std::collections::HashMap;

use super::*;
use crate::render::{FEATURES, Window};
use crate::train::Dice;
use tch::Device;

/// Random tensors for the whole network, by name; the same for the same seed.
pub(crate) fn random_tensors(seed: i64) -> HashMap<String, Tensor> {
    tch::manual_seed(seed);
    let mut tensors = HashMap::new();
    Net::take(&mut |name, shape| {
        let tensor = Tensor::f_randn(shape, (Kind::Float, Device::Cpu))?.f_mul_scalar(0.05)?;
        let tensor = if name.contains("Norm.weight") { tensor.f_add_scalar(1.0)? } else { tensor };
        tensors.insert(name.to_string(), tensor.shallow_clone());
        Ok::<_, TchError>(tensor)
    })
    .unwrap();
    tensors
}

/// A network of random numbers: what it says means nothing, but it must say it in every way alike.
pub(crate) fn random(seed: i64) -> Net {
    let tensors = random_tensors(seed);
    Net::take(&mut |name, _| Ok::<_, TchError>(tensors[name].shallow_clone())).unwrap()
}

fn ids(dice: &Dice, count: usize) -> Vec<i64> {
    (0..count).map(|n| if n == 0 { 101 } else { 1000 + dice.below(20_000) as i64 }).collect()
}

struct Sample {
    frames: Vec<Vec<i64>>,
    windows: Vec<Window>,
    features: [f32; FEATURES],
}

/// Three frames and nine windows of unlike lengths; the last window has no evidence.
fn sample() -> Sample {
    let dice = Dice::new(5);
    let frames = [9, 30, 4].map(|length| ids(&dice, length)).to_vec();
    let windows =
        (0..9).map(|n| Window { ids: ids(&dice, 12 + 7 * n), action: if n == 8 { 68 } else { 8 + n } });
    Sample { frames, windows: windows.collect(), features: std::array::from_fn(|i| i as f32 * 0.01 - 0.3) }
}

impl Sample {
    fn row(&self, index: usize) -> Row<'_> {
        Row { window: &self.windows[index], features: &self.features, frame: index % 3 }
    }

    fn remember(&self, net: &Ready, frames: &[usize]) -> Memory {
        let rows: Vec<&[i64]> = frames.iter().map(|&frame| self.frames[frame].as_slice()).collect();
        net.remember(Frames::new(&rows, Device::Cpu).unwrap()).unwrap()
    }
}

fn answers(net: &Ready, memory: &Memory, rows: &[Row<'_>]) -> Vec<f32> {
    let windows = Windows::new(rows, Device::Cpu).unwrap();
    let logits = net.judge(memory, &windows, &mut whole).unwrap();
    let both = Tensor::cat(&[&logits.text.0, &logits.facts.0], 1);
    Vec::<f32>::try_from(both.view(-1)).unwrap()
}

fn farthest(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

#[test]
fn remembered_frames_and_company_change_nothing() {
    let _no_grad = tch::no_grad_guard();
    let net = random(1).ready(Kind::Float).unwrap();
    let sample = sample();
    // As in training: all frames and all windows at once, padded.
    let memory = sample.remember(&net, &[0, 1, 2]);
    let rows: Vec<Row<'_>> = (0..9).map(|index| sample.row(index)).collect();
    let together = answers(&net, &memory, &rows);
    // As a guard does it: each frame remembered alone or cut out of several, then put together again.
    let alone: Vec<Memory> = (0..3).map(|frame| sample.remember(&net, &[frame])).collect();
    let cut: Vec<Memory> =
        (0..3).map(|frame| memory.row(frame, sample.frames[frame].len()).unwrap()).collect();
    for memories in [&alone, &cut] {
        let joined = Memory::join(&memories.iter().collect::<Vec<_>>()).unwrap();
        assert!(farthest(&together, &answers(&net, &joined, &rows)) < 1e-4);
        let mut one_by_one = Vec::new();
        for (index, &row) in rows.iter().enumerate() {
            one_by_one.extend(answers(&net, &memories[index % 3], &[Row { frame: 0, ..row }]));
        }
        assert!(farthest(&together, &one_by_one) < 1e-4, "{}", farthest(&together, &one_by_one));
    }
    assert_eq!(together, answers(&net, &memory, &rows));
}

#[test]
fn windows_see_their_frame_and_no_other() {
    let _no_grad = tch::no_grad_guard();
    let net = random(2).ready(Kind::Float).unwrap();
    let sample = sample();
    let row = Row { frame: 0, ..sample.row(4) };
    let with = |frames: &[usize]| answers(&net, &sample.remember(&net, frames), &[row]);
    assert!(farthest(&with(&[0]), &with(&[1])) > 1e-3);
    assert!(farthest(&with(&[0]), &with(&[0, 1])) < 1e-4);
}

#[test]
fn the_first_token_alone_comes_out_as_among_all() {
    let _no_grad = tch::no_grad_guard();
    let net = random(4).ready(Kind::Float).unwrap();
    let layer = &net.layers[LAYERS - 1];
    let x = Tensor::randn([3, 7, HIDDEN], (Kind::Float, Device::Cpu));
    let before = layer.keys_values(&Tensor::randn([3, 5, HIDDEN], (Kind::Float, Device::Cpu))).unwrap();
    let bias = Tensor::zeros([3, 1, 1, 12], (Kind::Float, Device::Cpu));
    let _ = bias.narrow(3, 2, 2).fill_(-1e4);
    let all = layer.apply(&x, Some(&before), Some(&bias)).unwrap().0;
    let first = layer.first(&x, &before, Some(&bias)).unwrap();
    assert_eq!(first.size(), [3, HIDDEN]);
    assert!(first.allclose(&all.select(1, 0), 1e-4, 1e-4, false));
}

#[test]
fn lower_precision_is_near() {
    let _no_grad = tch::no_grad_guard();
    let net = random(3);
    let sample = sample();
    let rows: Vec<Row<'_>> = (0..9).map(|index| sample.row(index)).collect();
    let of = |kind| {
        let net = net.ready(kind).unwrap();
        answers(&net, &sample.remember(&net, &[0, 1, 2]), &rows)
    };
    let far = farthest(&of(Kind::Float), &of(Kind::BFloat16));
    assert!(far > 0.0 && far < 0.05, "{far}");
}
