//! `wasi:filesystem` with quotas: wasmtime-wasi does the work, and before anything grows this asks
//! the folder's [`Quota`]. Links are refused: an artifact must never point elsewhere.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use wasmtime::component::{HasData, Resource, ResourceTable};
use wasmtime_wasi::WasiCtx;
use wasmtime_wasi::filesystem::{Descriptor, WasiFilesystemCtxView};
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::bindings::filesystem::{preopens, types};
use wasmtime_wasi::p2::{
    DynInputStream, DynOutputStream, FsError, FsResult, OutputStream, Pollable, StreamError, StreamResult,
};

use super::workspace::{Quota, Workspace};

/// Which quota each open descriptor belongs to. Descriptors under /input and /packages belong to none.
#[derive(Debug, Default)]
pub(crate) struct Quotas {
    by_mount: HashMap<&'static str, Arc<Quota>>,
    by_descriptor: HashMap<u32, Arc<Quota>>,
}

impl Quotas {
    pub(crate) fn new(workspace: &Workspace) -> Self {
        let by_mount = HashMap::from([
            ("/workspace", Arc::clone(&workspace.workspace_quota)),
            ("/out", Arc::clone(&workspace.out_quota)),
        ]);
        Self { by_mount, by_descriptor: HashMap::new() }
    }
}

/// Names the view that the linker asks for.
pub(crate) struct GuestFiles;

impl HasData for GuestFiles {
    type Data<'a> = FilesView<'a>;
}

/// The filesystem of one guest.
pub(crate) struct FilesView<'a> {
    pub(crate) wasi: &'a mut WasiCtx,
    pub(crate) table: &'a mut ResourceTable,
    pub(crate) quotas: &'a mut Quotas,
}

type Fd = Resource<types::Descriptor>;

impl FilesView<'_> {
    fn inner(&mut self) -> WasiFilesystemCtxView<'_> {
        WasiFilesystemCtxView { ctx: self.wasi.filesystem(), table: self.table }
    }

    fn quota(&self, fd: &Fd) -> Option<&Arc<Quota>> {
        self.quotas.by_descriptor.get(&fd.rep())
    }

    /// Takes room in the folder that `fd` belongs to.
    fn take(&self, fd: &Fd, bytes: u64, files: u64) -> FsResult<()> {
        match self.quota(fd) {
            Some(quota) if !quota.take(bytes, files) => Err(ErrorCode::InsufficientSpace.into()),
            _ => Ok(()),
        }
    }

    fn file(&self, fd: &Fd) -> FsResult<Arc<std::fs::File>> {
        match self.table.get(fd).map_err(FsError::trap)? {
            Descriptor::File(file) => Ok(Arc::clone(&file.file)),
            Descriptor::Dir(_) => Err(ErrorCode::IsDirectory.into()),
        }
    }

    /// Wraps a stream to a file of a folder with a quota.
    fn limited(
        &mut self,
        fd: &Fd,
        file: Arc<std::fs::File>,
        position: Option<u64>,
        stream: Resource<DynOutputStream>,
    ) -> FsResult<Resource<DynOutputStream>> {
        let Some(quota) = self.quota(fd).cloned() else { return Ok(stream) };
        let inner = self.table.delete(stream).map_err(FsError::trap)?;
        let limited: DynOutputStream = Box::new(LimitedStream { inner, quota, file, position });
        self.table.push(limited).map_err(FsError::trap)
    }
}

/// By how much a file grows when it is written up to `end`.
fn growth(file: &std::fs::File, end: Option<u64>) -> io::Result<u64> {
    let end = end.ok_or(io::ErrorKind::FileTooLarge)?;
    Ok(end.saturating_sub(file.metadata()?.len()))
}

/// A file stream that asks the quota before each write.
struct LimitedStream {
    inner: DynOutputStream,
    quota: Arc<Quota>,
    file: Arc<std::fs::File>,
    /// None: at the end.
    position: Option<u64>,
}

#[wasmtime_wasi::async_trait]
impl Pollable for LimitedStream {
    async fn ready(&mut self) {
        self.inner.ready().await;
    }
}

#[wasmtime_wasi::async_trait]
impl OutputStream for LimitedStream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        let length = bytes.len() as u64;
        let grows = match self.position {
            Some(position) => growth(&self.file, position.checked_add(length)),
            None => Ok(length),
        };
        let room = grows.is_ok_and(|grows| self.quota.take(grows, 0));
        if !room {
            let full = io::Error::from(rustix::io::Errno::NOSPC);
            return Err(StreamError::LastOperationFailed(full.into()));
        }
        if let Some(position) = &mut self.position {
            *position += length;
        }
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> StreamResult<()> {
        self.inner.flush()
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        self.inner.check_write()
    }

    async fn cancel(&mut self) {
        self.inner.cancel().await;
    }
}

impl preopens::Host for FilesView<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Fd, String)>> {
        let directories = preopens::Host::get_directories(&mut self.inner())?;
        for (fd, mount) in &directories {
            if let Some(quota) = self.quotas.by_mount.get(mount.as_str()) {
                self.quotas.by_descriptor.insert(fd.rep(), Arc::clone(quota));
            }
        }
        Ok(directories)
    }
}

impl types::Host for FilesView<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<ErrorCode> {
        self.inner().convert_error_code(error)
    }

    fn filesystem_error_code(
        &mut self,
        error: Resource<wasmtime::Error>,
    ) -> wasmtime::Result<Option<ErrorCode>> {
        self.inner().filesystem_error_code(error)
    }
}

impl types::HostDirectoryEntryStream for FilesView<'_> {
    async fn read_directory_entry(
        &mut self,
        stream: Resource<types::DirectoryEntryStream>,
    ) -> FsResult<Option<types::DirectoryEntry>> {
        self.inner().read_directory_entry(stream).await
    }

    fn drop(&mut self, stream: Resource<types::DirectoryEntryStream>) -> wasmtime::Result<()> {
        types::HostDirectoryEntryStream::drop(&mut self.inner(), stream)
    }
}

impl types::HostDescriptor for FilesView<'_> {
    // ---- what can grow --------------------------------------------------

    async fn open_at(
        &mut self,
        fd: Fd,
        path_flags: types::PathFlags,
        path: String,
        open_flags: types::OpenFlags,
        flags: types::DescriptorFlags,
    ) -> FsResult<Fd> {
        let base = Resource::new_borrow(fd.rep());
        if open_flags.contains(types::OpenFlags::CREATE) {
            // Only a file that is not there yet makes one more.
            let there = Resource::new_borrow(fd.rep());
            if self.inner().stat_at(there, path_flags, path.clone()).await.is_err() {
                self.take(&fd, 0, 1)?;
            }
        }
        let opened = self.inner().open_at(base, path_flags, path, open_flags, flags).await?;
        if let Some(quota) = self.quota(&fd).cloned() {
            self.quotas.by_descriptor.insert(opened.rep(), quota);
        }
        Ok(opened)
    }

    async fn create_directory_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        self.take(&fd, 0, 1)?;
        self.inner().create_directory_at(fd, path).await
    }

    async fn set_size(&mut self, fd: Fd, size: types::Filesize) -> FsResult<()> {
        let grows = growth(&*self.file(&fd)?, Some(size))?;
        self.take(&fd, grows, 0)?;
        self.inner().set_size(fd, size).await
    }

    async fn write(&mut self, fd: Fd, buffer: Vec<u8>, offset: types::Filesize) -> FsResult<types::Filesize> {
        let grows = growth(&*self.file(&fd)?, offset.checked_add(buffer.len() as u64))?;
        self.take(&fd, grows, 0)?;
        self.inner().write(fd, buffer, offset).await
    }

    fn write_via_stream(&mut self, fd: Fd, offset: types::Filesize) -> FsResult<Resource<DynOutputStream>> {
        let file = self.file(&fd)?;
        let stream = self.inner().write_via_stream(Resource::new_borrow(fd.rep()), offset)?;
        self.limited(&fd, file, Some(offset), stream)
    }

    fn append_via_stream(&mut self, fd: Fd) -> FsResult<Resource<DynOutputStream>> {
        let file = self.file(&fd)?;
        let stream = self.inner().append_via_stream(Resource::new_borrow(fd.rep()))?;
        self.limited(&fd, file, None, stream)
    }

    async fn rename_at(&mut self, fd: Fd, old: String, new_fd: Fd, new: String) -> FsResult<()> {
        let (from, to) = (self.quota(&fd), self.quota(&new_fd));
        let same = match (from, to) {
            (Some(from), Some(to)) => Arc::ptr_eq(from, to),
            (None, None) => true,
            _ => false,
        };
        if !same {
            // Across folders bytes move from one quota to another: the guest copies instead.
            return Err(ErrorCode::CrossDevice.into());
        }
        self.inner().rename_at(fd, old, new_fd, new).await
    }

    async fn link_at(&mut self, _: Fd, _: types::PathFlags, _: String, _: Fd, _: String) -> FsResult<()> {
        Err(ErrorCode::NotPermitted.into())
    }

    async fn symlink_at(&mut self, _: Fd, _: String, _: String) -> FsResult<()> {
        Err(ErrorCode::NotPermitted.into())
    }

    fn drop(&mut self, fd: Fd) -> wasmtime::Result<()> {
        self.quotas.by_descriptor.remove(&fd.rep());
        types::HostDescriptor::drop(&mut self.inner(), fd)
    }

    // ---- what only reads or shrinks -------------------------------------

    async fn advise(&mut self, fd: Fd, offset: u64, length: u64, advice: types::Advice) -> FsResult<()> {
        self.inner().advise(fd, offset, length, advice).await
    }

    async fn sync_data(&mut self, fd: Fd) -> FsResult<()> {
        self.inner().sync_data(fd).await
    }

    async fn sync(&mut self, fd: Fd) -> FsResult<()> {
        self.inner().sync(fd).await
    }

    async fn get_flags(&mut self, fd: Fd) -> FsResult<types::DescriptorFlags> {
        self.inner().get_flags(fd).await
    }

    async fn get_type(&mut self, fd: Fd) -> FsResult<types::DescriptorType> {
        self.inner().get_type(fd).await
    }

    async fn set_times(
        &mut self,
        fd: Fd,
        access: types::NewTimestamp,
        modified: types::NewTimestamp,
    ) -> FsResult<()> {
        self.inner().set_times(fd, access, modified).await
    }

    async fn set_times_at(
        &mut self,
        fd: Fd,
        path_flags: types::PathFlags,
        path: String,
        access: types::NewTimestamp,
        modified: types::NewTimestamp,
    ) -> FsResult<()> {
        self.inner().set_times_at(fd, path_flags, path, access, modified).await
    }

    async fn read(&mut self, fd: Fd, length: u64, offset: u64) -> FsResult<(Vec<u8>, bool)> {
        self.inner().read(fd, length, offset).await
    }

    async fn read_directory(&mut self, fd: Fd) -> FsResult<Resource<types::DirectoryEntryStream>> {
        self.inner().read_directory(fd).await
    }

    async fn stat(&mut self, fd: Fd) -> FsResult<types::DescriptorStat> {
        self.inner().stat(fd).await
    }

    async fn stat_at(
        &mut self,
        fd: Fd,
        flags: types::PathFlags,
        path: String,
    ) -> FsResult<types::DescriptorStat> {
        self.inner().stat_at(fd, flags, path).await
    }

    async fn readlink_at(&mut self, fd: Fd, path: String) -> FsResult<String> {
        self.inner().readlink_at(fd, path).await
    }

    async fn remove_directory_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        self.inner().remove_directory_at(fd, path).await
    }

    async fn unlink_file_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        self.inner().unlink_file_at(fd, path).await
    }

    fn read_via_stream(&mut self, fd: Fd, offset: u64) -> FsResult<Resource<DynInputStream>> {
        self.inner().read_via_stream(fd, offset)
    }

    async fn is_same_object(&mut self, a: Fd, b: Fd) -> wasmtime::Result<bool> {
        self.inner().is_same_object(a, b).await
    }

    async fn metadata_hash(&mut self, fd: Fd) -> FsResult<types::MetadataHashValue> {
        self.inner().metadata_hash(fd).await
    }

    async fn metadata_hash_at(
        &mut self,
        fd: Fd,
        flags: types::PathFlags,
        path: String,
    ) -> FsResult<types::MetadataHashValue> {
        self.inner().metadata_hash_at(fd, flags, path).await
    }
}
