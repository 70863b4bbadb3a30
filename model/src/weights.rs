//! The model's files: `guard.safetensors` (tensors in f16 and what belongs to them), `tokenizer.json`,
//! and `MANIFEST.json` with the digests of both.
//!
//! A file is used only if its digest is the manifest's and every tensor has the name and shape the
//! network wants. Whatever is wrong is an error that names the file.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use safetensors::{Dtype, SafeTensors, View};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tch::{Kind, Tensor};

use crate::Error;
use crate::net::Net;
use crate::render::{FEATURES, RENDER_VERSION, feature_names};
use crate::trees::{self, Trees};

pub(crate) const WEIGHTS: &str = "guard.safetensors";
pub(crate) const TOKENIZER: &str = "tokenizer.json";
pub(crate) const MANIFEST: &str = "MANIFEST.json";
/// Layout of the weights file, and how the network reads it: 3 takes the means before the last layer.
const FORMAT: u32 = 3;
/// The key of [`Meta`] in the safetensors header.
const META: &str = "postern-guard";

/// What belongs to the tensors.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Meta {
    pub(crate) format: u32,
    /// The renderer these weights were trained with.
    pub(crate) render: u32,
    pub(crate) version: String,
    /// Where the encoder's training started: package, version, SHA-256 of its weights.
    pub(crate) base: String,
    pub(crate) feature_names: Vec<String>,
    pub(crate) feature_mean: Vec<f32>,
    pub(crate) feature_deviation: Vec<f32>,
    pub(crate) calibration: Calibration,
    /// Seed, checks, steps and the like, for the record.
    pub(crate) training: BTreeMap<String, String>,
}

/// How the raw answers of both parts of the network become scores; fitted on groups that were held out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Calibration {
    /// Weight of the text's unsafe logit; not negative, so that the window with the highest one is the worst.
    pub(crate) text: f32,
    /// Weight of the features' unsafe logit; not negative.
    pub(crate) facts: f32,
    /// Weight of the trees' unsafe logit; not negative.
    pub(crate) trees: f32,
    /// Added to the unsafe logit.
    pub(crate) bias: f32,
    /// Added to the policy logit of require_human.
    pub(crate) require_human: f32,
    /// Added to the policy logit of reject.
    pub(crate) reject: f32,
}

impl Calibration {
    /// Both parts as they were trained: their sum.
    pub(crate) const NONE: Self =
        Self { text: 1.0, facts: 1.0, trees: 0.0, bias: 0.0, require_human: 0.0, reject: 0.0 };

    fn is_sound(&self) -> bool {
        let all = [self.text, self.facts, self.trees, self.bias, self.require_human, self.reject];
        all.iter().all(|x| x.is_finite())
            && [self.text, self.facts, self.trees].iter().all(|&weight| weight >= 0.0)
    }
}

/// How features are brought to about mean 0 and deviation 1.
#[derive(Clone, Debug)]
pub(crate) struct Normalisation {
    pub(crate) mean: [f32; FEATURES],
    pub(crate) deviation: [f32; FEATURES],
}

impl Normalisation {
    pub(crate) fn apply(&self, features: &[f32; FEATURES]) -> [f32; FEATURES] {
        std::array::from_fn(|i| ((features[i] - self.mean[i]) / self.deviation[i]).clamp(-5.0, 5.0))
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    version: String,
    files: BTreeMap<String, Listed>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    sha256: String,
    bytes: usize,
}

/// A model read from its folder.
pub(crate) struct Loaded {
    pub(crate) net: Net,
    pub(crate) trees: Trees,
    pub(crate) meta: Meta,
    pub(crate) normalisation: Normalisation,
    pub(crate) sha256: String,
    /// The bytes of `tokenizer.json` and where they were read from.
    pub(crate) tokenizer: (Vec<u8>, PathBuf),
}

/// The folder of weights to use when none was named: `weights` beside the program, else the one this
/// package was built with.
pub fn default_folder() -> Option<PathBuf> {
    let beside = std::env::current_exe().ok().and_then(|exe| Some(exe.parent()?.join("weights")));
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("weights");
    beside.into_iter().chain([built]).find(|folder| folder.is_dir())
}

/// Reads and checks the model in `folder`.
pub(crate) fn load(folder: &Path, device: tch::Device) -> Result<Loaded, Error> {
    let manifest_path = folder.join(MANIFEST);
    let manifest: Manifest =
        serde_json::from_slice(&read(&manifest_path)?).map_err(|e| Error::invalid(&manifest_path, e))?;
    let (tokenizer, _) = listed(folder, TOKENIZER, &manifest)?;
    let (bytes, sha256) = listed(folder, WEIGHTS, &manifest)?;
    let path = folder.join(WEIGHTS);
    let (net, trees, meta) = parse(&bytes, &path, device)?;
    if meta.version != manifest.version {
        let why = format!("version {} where the manifest says {}", meta.version, manifest.version);
        return Err(Error::invalid(path, why));
    }
    let normalisation = check(&meta).map_err(|why| Error::invalid(&path, why))?;
    Ok(Loaded { net, trees, meta, normalisation, sha256, tokenizer: (tokenizer, folder.join(TOKENIZER)) })
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
            Error::Missing(path.to_path_buf())
        }
        _ => Error::Io { path: path.to_path_buf(), source },
    })
}

/// Reads a file of the manifest and compares its digest.
fn listed(folder: &Path, name: &str, manifest: &Manifest) -> Result<(Vec<u8>, String), Error> {
    let path = folder.join(name);
    let listed = manifest
        .files
        .get(name)
        .ok_or_else(|| Error::invalid(folder.join(MANIFEST), format!("{name} is not listed")))?;
    let bytes = read(&path)?;
    if bytes.len() != listed.bytes {
        let why = format!("{} bytes where the manifest says {}", bytes.len(), listed.bytes);
        return Err(Error::invalid(path, why));
    }
    let digest = sha256(&bytes);
    if digest != listed.sha256 {
        return Err(Error::invalid(
            path,
            format!("SHA-256 {digest} where the manifest says {}", listed.sha256),
        ));
    }
    Ok((bytes, digest))
}

/// SHA-256 in hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// What learning starts from.
pub(crate) struct ToLearn {
    pub(crate) tensors: HashMap<String, Tensor>,
    /// The model's, if it is one's.
    pub(crate) normalisation: Option<Normalisation>,
    /// The same of its digest.
    pub(crate) sha256: Option<String>,
}

/// Reads a model to go on learning from, of this layout or an older one: their tensors are the same.
pub(crate) fn read_to_learn(folder: &Path) -> Result<ToLearn, Error> {
    let path = folder.join(WEIGHTS);
    let bytes = read(&path)?;
    let normalisation = normalisation(&header(&bytes, &path)?).map_err(|why| Error::invalid(&path, why))?;
    let tensors = read_tensors(&bytes).map_err(|why| Error::invalid(&path, why))?;
    Ok(ToLearn { tensors, normalisation: Some(normalisation), sha256: Some(sha256(&bytes)) })
}

/// The header of a weights file.
fn header(bytes: &[u8], path: &Path) -> Result<Meta, Error> {
    let invalid = |why: String| Error::invalid(path, why);
    let (_, header) =
        SafeTensors::read_metadata(bytes).map_err(|e| invalid(format!("no safetensors: {e}")))?;
    let meta = header
        .metadata()
        .as_ref()
        .and_then(|all| all.get(META))
        .ok_or_else(|| invalid(format!("no {META} header")))?;
    serde_json::from_str(meta).map_err(|e| invalid(format!("header {META}: {e}")))
}

/// Builds the network from the bytes of a weights file.
fn parse(bytes: &[u8], path: &Path, device: tch::Device) -> Result<(Net, Trees, Meta), Error> {
    let invalid = |why: String| Error::invalid(path, why);
    let meta = header(bytes, path)?;
    let mut tensors = read_tensors(bytes).map_err(invalid)?;
    let mut take = |name: &str, shape: &[i64]| {
        let tensor = tensors.remove(name).ok_or_else(|| invalid(format!("tensor {name} is missing")))?;
        if tensor.size() != shape {
            return Err(invalid(format!(
                "tensor {name} has the shape {:?} and not {shape:?}",
                tensor.size()
            )));
        }
        Ok::<_, Error>(tensor.f_to_kind(Kind::Float)?.f_to_device(device)?)
    };
    let net = Net::take(&mut take)?;
    let mut tree = |index: usize| take(trees::TENSORS[index].0, &trees::TENSORS[index].1);
    let parts = [tree(0)?, tree(1)?, tree(2)?];
    let trees = Trees::from_tensors(parts.each_ref())
        .ok_or_else(|| invalid("a number in the trees makes no sense".into()))?;
    match tensors.keys().next() {
        Some(name) => Err(invalid(format!("tensor {name} is unknown"))),
        None => Ok((net, trees, meta)),
    }
}

/// All tensors of a safetensors file, in the types they are stored in.
pub(crate) fn read_tensors(bytes: &[u8]) -> Result<HashMap<String, Tensor>, String> {
    let file = SafeTensors::deserialize(bytes).map_err(|e| format!("no safetensors: {e}"))?;
    let mut out = HashMap::new();
    for (name, view) in file.iter() {
        let kind = match view.dtype() {
            Dtype::F16 => Kind::Half,
            Dtype::F32 => Kind::Float,
            Dtype::I64 => Kind::Int64,
            other => return Err(format!("tensor {name} is of type {other:?}")),
        };
        let shape: Vec<i64> = view.shape().iter().map(|&size| size as i64).collect();
        let tensor =
            Tensor::f_from_data_size(view.data(), &shape, kind).map_err(|e| format!("tensor {name}: {e}"))?;
        out.insert(name.to_string(), tensor);
    }
    Ok(out)
}

/// Whether the header fits this program; gives the features' normalisation.
fn check(meta: &Meta) -> Result<Normalisation, String> {
    if meta.format != FORMAT {
        return Err(format!(
            "format {}; this program reads {FORMAT}: take the weights that came with it",
            meta.format
        ));
    }
    normalisation(meta)
}

fn normalisation(meta: &Meta) -> Result<Normalisation, String> {
    if meta.render != RENDER_VERSION {
        return Err(format!("trained for render {}; this program renders {RENDER_VERSION}", meta.render));
    }
    if meta.feature_names != feature_names() {
        return Err("trained with other features than this program computes".into());
    }
    let array = |values: &[f32]| {
        <[f32; FEATURES]>::try_from(values).map_err(|_| "a list of the wrong length".to_string())
    };
    let normalisation =
        Normalisation { mean: array(&meta.feature_mean)?, deviation: array(&meta.feature_deviation)? };
    let finite = normalisation.mean.iter().all(|x| x.is_finite());
    let positive = normalisation.deviation.iter().all(|&x| x.is_finite() && x > 0.0);
    if finite && positive && meta.calibration.is_sound() {
        Ok(normalisation)
    } else {
        Err("a number in the header makes no sense".into())
    }
}

/// A tensor's bytes as safetensors wants them.
pub(crate) struct Stored {
    kind: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Stored {
    /// Copies a tensor out in this type: `Half`, `Float` or `Int64`.
    pub(crate) fn new(tensor: &Tensor, kind: Kind) -> Result<Self, Error> {
        let tensor = tensor.f_detach()?.f_to_device(tch::Device::Cpu)?.f_to_kind(kind)?.f_contiguous()?;
        let dtype = match kind {
            Kind::Half => Dtype::F16,
            Kind::Int64 => Dtype::I64,
            _ => Dtype::F32,
        };
        let count = tensor.numel();
        let mut bytes = vec![0; count * kind.elt_size_in_bytes()];
        tensor.f_copy_data_u8(&mut bytes, count)?;
        Ok(Self { kind: dtype, shape: tensor.size().iter().map(|&size| size as usize).collect(), bytes })
    }
}

impl View for &Stored {
    fn dtype(&self) -> Dtype {
        self.kind
    }
    fn shape(&self) -> &[usize] {
        &self.shape
    }
    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }
    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

/// Writes a model into `folder`: weights in f16, tokenizer, manifest.
pub(crate) fn save(
    folder: &Path,
    tensors: &BTreeMap<String, Tensor>,
    meta: &Meta,
    tokenizer: &[u8],
) -> Result<(), Error> {
    std::fs::create_dir_all(folder).map_err(Error::io(folder))?;
    let header = serde_json::to_string(meta).map_err(|e| Error::Data(e.to_string()))?;
    let bytes = write_tensors(tensors, Kind::Half, (META, header))?;
    let list = |bytes: &[u8]| Listed { sha256: sha256(bytes), bytes: bytes.len() };
    let files = [(WEIGHTS.to_string(), list(&bytes)), (TOKENIZER.to_string(), list(tokenizer))].into();
    let manifest = Manifest { version: meta.version.clone(), files };
    let mut manifest = serde_json::to_vec_pretty(&manifest).map_err(|e| Error::Data(e.to_string()))?;
    manifest.push(b'\n');
    for (name, bytes) in [(WEIGHTS, bytes.as_slice()), (TOKENIZER, tokenizer), (MANIFEST, &manifest)] {
        write_whole(&folder.join(name), bytes)?;
    }
    Ok(())
}

/// A safetensors file of these tensors with one header entry.
pub(crate) fn write_tensors(
    tensors: &BTreeMap<String, Tensor>,
    kind: Kind,
    (key, header): (&str, String),
) -> Result<Vec<u8>, Error> {
    let stored: Vec<(&String, Stored)> = tensors
        .iter()
        .map(|(name, tensor)| Ok((name, Stored::new(tensor, kind)?)))
        .collect::<Result<_, Error>>()?;
    let views = stored.iter().map(|(name, stored)| (name.as_str(), stored));
    // One entry only: several would be written in an order that changes from run to run.
    let header = HashMap::from([(key.to_string(), header)]);
    safetensors::serialize(views, Some(header)).map_err(|e| Error::Data(e.to_string()))
}

/// Writes a file so that it is never seen half written.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let beside = path.with_extension("new");
    std::fs::write(&beside, bytes).map_err(Error::io(&beside))?;
    std::fs::rename(&beside, path).map_err(Error::io(path))
}

#[cfg(test)]
mod tests;

impl Meta {
    /// A header for weights made by this program.
    pub(crate) fn new(
        version: String,
        base: String,
        normalisation: &Normalisation,
        calibration: Calibration,
    ) -> Self {
        Self {
            format: FORMAT,
            render: RENDER_VERSION,
            version,
            base,
            feature_names: feature_names(),
            feature_mean: normalisation.mean.to_vec(),
            feature_deviation: normalisation.deviation.to_vec(),
            calibration,
            training: BTreeMap::new(),
        }
    }
}
