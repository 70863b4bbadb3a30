//! Which device the model runs on.
//!
//! libtorch_cuda is not linked (the linker drops it, since nothing here names a symbol of it), so
//! that a machine without a GPU never pays for loading it. Where a driver is there, it is opened at
//! run time; libtorch then finds CUDA by itself.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::OnceLock;

use crate::Error;

/// What the user asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// The first GPU if there is a usable one, else the CPU.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// The GPU of this index; an error where it is not there.
    Cuda(usize),
}

impl FromStr for Device {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || format!("{text:?} is no device; write auto, cpu, cuda or cuda:N");
        match text {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda(0)),
            _ => {
                let index = text.strip_prefix("cuda:").ok_or_else(unknown)?;
                index.parse().map(Self::Cuda).map_err(|_| unknown())
            }
        }
    }
}

impl std::fmt::Display for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(index) => write!(f, "cuda:{index}"),
        }
    }
}

impl Device {
    /// The libtorch device to use.
    ///
    /// # Errors
    /// [`Error::Device`] if CUDA was asked for and cannot be used, with the reason.
    pub fn resolve(self) -> Result<tch::Device, Error> {
        let unavailable = |why: String| Error::Device { asked: self.to_string(), why };
        match self {
            Self::Cpu => Ok(tch::Device::Cpu),
            Self::Auto => Ok(if load_cuda().is_ok() { tch::Device::Cuda(0) } else { tch::Device::Cpu }),
            Self::Cuda(index) => {
                let count = load_cuda().map_err(unavailable)?;
                if index >= count {
                    return Err(unavailable(format!(
                        "this machine has {count} usable GPU(s), counted from 0"
                    )));
                }
                Ok(tch::Device::Cuda(index))
            }
        }
    }
}

/// The numbers that the encoder multiplies. Sums, norms and heads are always f32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// What gives the same scores everywhere: f32.
    #[default]
    Auto,
    /// 32 bits.
    F32,
    /// 16 bits with the range of 32: faster where the processor has them, and a little less exact.
    Bf16,
}

impl FromStr for Precision {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "f32" => Ok(Self::F32),
            "bf16" => Ok(Self::Bf16),
            _ => Err(format!("{text:?} is no precision; write auto, f32 or bf16")),
        }
    }
}

impl std::fmt::Display for Precision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
        })
    }
}

impl Precision {
    /// The type to multiply in on this device.
    ///
    /// # Errors
    /// [`Error::Device`] if bf16 was asked for and the processor would have to imitate it.
    pub(crate) fn resolve(self, device: tch::Device) -> Result<tch::Kind, Error> {
        match self {
            Self::Auto | Self::F32 => Ok(tch::Kind::Float),
            Self::Bf16 if device != tch::Device::Cpu || cpu_has_bf16() => Ok(tch::Kind::BFloat16),
            Self::Bf16 => Err(Error::Device {
                asked: name(device),
                why: "this processor has no bf16 (avx512_bf16); use --precision f32".into(),
            }),
        }
    }
}

/// Whether the processor multiplies bf16 itself. Those with AMX have AVX-512 BF16 too.
pub(crate) fn cpu_has_bf16() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx512bf16");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

/// `cpu` or `cuda:N`.
pub(crate) fn name(device: tch::Device) -> String {
    match device {
        tch::Device::Cuda(index) => format!("cuda:{index}"),
        _ => "cpu".into(),
    }
}

/// Makes CUDA usable and counts the GPUs; once per process.
fn load_cuda() -> Result<usize, String> {
    static LOADED: OnceLock<Result<usize, String>> = OnceLock::new();
    LOADED.get_or_init(open_cuda).clone()
}

fn open_cuda() -> Result<usize, String> {
    if !Path::new("/proc/driver/nvidia").exists() && dynamic::open(Path::new("libcuda.so.1")).is_err() {
        return Err("there is no NVIDIA driver here".into());
    }
    let library = dynamic::folder_of_libtorch()
        .map(|folder| folder.join("libtorch_cuda.so"))
        .ok_or("libtorch_cpu is not loaded from a file")?;
    if !library.exists() {
        return Err(format!("{} is not there: this libtorch is for CPUs", library.display()));
    }
    dynamic::open(&library)?;
    if !tch::Cuda::is_available() {
        return Err("libtorch finds no usable GPU".into());
    }
    usize::try_from(tch::Cuda::device_count()).map_err(|_| "libtorch cannot count the GPUs".into())
}

/// The few calls to the dynamic loader.
#[allow(unsafe_code)]
mod dynamic {
    use super::{Path, PathBuf};
    use std::ffi::{CStr, CString, OsStr};
    use std::os::unix::ffi::OsStrExt;

    /// Opens a shared library for the rest of the process's life.
    pub(super) fn open(library: &Path) -> Result<(), String> {
        let name =
            CString::new(library.as_os_str().as_bytes()).map_err(|_| "a path with a NUL byte".to_string())?;
        // SAFETY: `name` is a valid C string. Opening runs the library's initialisers; the libraries
        // asked for here are the driver's and libtorch's own. The handle is never closed.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
        if !handle.is_null() {
            return Ok(());
        }
        // SAFETY: dlerror returns null or a C string that stays valid until the thread's next call.
        let message = unsafe {
            let text = libc::dlerror();
            if text.is_null() { None } else { Some(CStr::from_ptr(text).to_string_lossy().into_owned()) }
        };
        Err(message.unwrap_or_else(|| format!("{} cannot be loaded", library.display())))
    }

    /// The folder that libtorch_cpu was loaded from.
    pub(super) fn folder_of_libtorch() -> Option<PathBuf> {
        // SAFETY: the handle RTLD_DEFAULT and a valid C string; looking a symbol up has no effects.
        let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"aoti_torch_device_type_cpu".as_ptr()) };
        if symbol.is_null() {
            return None;
        }
        let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: `symbol` is an address inside a loaded library and `info` is writable; a result
        // other than 0 means that `info` was filled in, and dli_fname then is a C string that lives as
        // long as the library, which is never unloaded.
        let path = unsafe {
            if libc::dladdr(symbol, info.as_mut_ptr()) == 0 {
                return None;
            }
            let name = (*info.as_ptr()).dli_fname;
            if name.is_null() {
                return None;
            }
            CStr::from_ptr(name)
        };
        Path::new(OsStr::from_bytes(path.to_bytes())).parent().map(Path::to_path_buf)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn devices_are_read_and_written_alike() {
        for (text, device) in [("auto", Device::Auto), ("cpu", Device::Cpu), ("cuda:1", Device::Cuda(1))] {
            assert_eq!(text.parse::<Device>().unwrap(), device);
            assert_eq!(device.to_string(), text);
        }
        assert_eq!("cuda".parse(), Ok(Device::Cuda(0)));
        for bad in ["", "gpu", "cuda:", "cuda:x", "cuda:-1", "CPU"] {
            assert!(bad.parse::<Device>().is_err(), "{bad}");
        }
    }

    #[test]
    fn precisions_are_read_and_written_alike() {
        for precision in [Precision::Auto, Precision::F32, Precision::Bf16] {
            assert_eq!(precision.to_string().parse(), Ok(precision));
        }
        assert!("fp16".parse::<Precision>().is_err());
        assert_eq!(Precision::Auto.resolve(tch::Device::Cpu).unwrap(), tch::Kind::Float);
        let low = Precision::Bf16.resolve(tch::Device::Cpu);
        assert_eq!(low.is_ok(), cpu_has_bf16());
    }

    #[test]
    fn libtorch_is_found() {
        // Any tensor makes sure that libtorch is loaded.
        let _ = tch::Tensor::from(1.0);
        assert!(dynamic::folder_of_libtorch().unwrap().join("libtorch_cpu.so").exists());
    }

    #[test]
    fn a_gpu_that_is_not_there_is_an_error() {
        let error = Device::Cuda(4096).resolve().unwrap_err();
        assert_eq!(error.code(), postern_check::FailureCode::DeviceUnavailable);
    }
}
