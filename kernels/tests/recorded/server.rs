//! A CubeCL device that emulates another one: [`target`](super::target) compiles each launch, and the device records
//! it.

use super::planes::Planes;
use super::record::record;
use super::target;
use cubecl::device::DeviceId;
use cubecl::future::DynFut;
use cubecl::ir::TargetProperties;
use cubecl::prelude::*;
use cubecl::server::{BufferBinding, CopyDescriptor, KernelArguments, ServerError};
use cubecl::{CubeKernel, client::Client, define_kernel};
use cubecl_common::bytes::Bytes;
use cubecl_common::device::{DeviceService, ServerUtilitiesHandle, ServiceId};
use cubecl_common::profile::ProfileDuration;
use cubecl_environment::stream::StreamId;
use cubecl_server::allocator::ContiguousMemoryLayoutPolicy;
use cubecl_server::dry_run::LaunchMode;
use cubecl_server::id::KernelId;
use cubecl_server::logging::ServerLogger;
use cubecl_server::memory_management::{
    ManagedMemoryHandle, MemoryAllocationMode, StreamMemoryReport,
};
use cubecl_server::server::{
    IoError, ProfileError, ProfilingToken, Server, ServerCommunication, ServerStorage,
    ServerUtilities,
};
use cubecl_server::storage::{ComputeStorage, ManagedResource, StorageHandle, StorageId};
use std::collections::HashMap;
use std::sync::Arc;

pub fn client(planes: Planes) -> Client {
    Client::load::<Recorder>(DeviceId::new(0, planes as u16))
}

/// Another device of this kind, which shares no memory with other cases.
#[allow(dead_code, reason = "for CUDA only")]
pub fn second_client(planes: Planes) -> Client {
    Client::load::<Recorder>(DeviceId::new(1, planes as u16))
}

#[derive(Debug)]
pub struct Recorder {
    utilities: Arc<ServerUtilities>,
    planes: Planes,
    modules: HashMap<KernelId, usize>,
}

impl Recorder {
    fn module(&mut self, kernel: &dyn CubeKernel) -> Result<usize, String> {
        let id = kernel.id();
        if let Some(module) = self.modules.get(&id) {
            return Ok(*module);
        }
        let name = kernel.name();
        let definition = define_kernel(kernel).map_err(|e| format!("{name}: {e}"))?;
        let module = target::module(definition, self.planes).map_err(|e| format!("{name}: {e}"))?;
        let module = record().module(module);
        self.modules.insert(id, module);
        Ok(module)
    }
}

impl DeviceService for Recorder {
    fn init(device: DeviceId) -> Self {
        let planes = Planes::numbered(device.index_id);
        let (utilities, _captures) = ServerUtilities::init(
            ServiceId::of::<Self>(device),
            target::NAME,
            target::properties(planes),
            TargetProperties::default(),
            Arc::new(ServerLogger::default()),
            ContiguousMemoryLayoutPolicy::new(target::OFFSET_ALIGNMENT as usize),
        );
        Self {
            utilities: Arc::new(utilities),
            planes,
            modules: HashMap::new(),
        }
    }

    fn utilities(&self) -> ServerUtilitiesHandle {
        self.utilities.clone()
    }
}

impl Server for Recorder {
    fn logger(&self) -> Arc<ServerLogger> {
        self.utilities.logger.clone()
    }

    fn utilities(&self) -> Arc<ServerUtilities> {
        self.utilities.clone()
    }

    fn initialize_memory(
        &mut self,
        memory: ManagedMemoryHandle,
        size: u64,
        _stream: StreamId,
    ) -> Result<(), ServerError> {
        record().alloc(memory.binding().id().value, size);
        Ok(())
    }

    fn write(&mut self, descriptors: Vec<(CopyDescriptor, Bytes)>, _stream: StreamId) {
        for (descriptor, bytes) in descriptors {
            record().write(&descriptor.handle, &bytes);
        }
    }

    unsafe fn launch(
        &mut self,
        kernel: Box<dyn CubeKernel>,
        count: CubeCount,
        arguments: KernelArguments,
        _stream: StreamId,
        mode: LaunchMode,
    ) {
        let buffers = arguments.buffers().count() as u32 + 1;
        let module = match self.module(&*kernel) {
            _ if buffers > target::MAX_BUFFERS => {
                Err(format!("{}: {buffers} buffers", kernel.name()))
            }
            module => module,
        };
        if mode.is_skipped() {
            return;
        }
        match (module, count) {
            (Ok(module), CubeCount::Static(x, y, z)) => {
                let info = &arguments.info;
                if info.dynamic_metadata_offset < info.data.len() {
                    let name = kernel.name();
                    record().fault(format!("{name}: shapes of tensors are not recorded"));
                }
                record().launch(module, arguments.buffers(), &info.data, (x, y, z));
            }
            (Ok(_), _) => record().fault(format!("{}: a dynamic count", kernel.name())),
            (Err(fault), _) => record().fault(fault),
        }
    }

    fn flush(&mut self, _stream: StreamId) -> Result<(), ServerError> {
        Ok(())
    }

    fn read(
        &mut self,
        _descriptors: Vec<CopyDescriptor>,
        _stream: StreamId,
    ) -> DynFut<Result<Vec<Bytes>, ServerError>> {
        unimplemented!("nothing runs")
    }

    fn sync(
        &mut self,
        _handles: Vec<BufferBinding>,
        _stream: StreamId,
    ) -> DynFut<Result<(), ServerError>> {
        Box::pin(async { Ok(()) })
    }

    fn check(
        &mut self,
        _handles: Vec<BufferBinding>,
        _stream: StreamId,
    ) -> Result<(), ServerError> {
        Ok(())
    }

    fn memory_report(&mut self, _stream: StreamId) -> Option<StreamMemoryReport> {
        None
    }

    fn memory_cleanup(&mut self, _stream: StreamId) -> Result<(), ServerError> {
        Ok(())
    }

    fn start_profile(&mut self, _stream: StreamId) -> Result<ProfilingToken, ServerError> {
        unimplemented!("nothing runs")
    }

    fn end_profile(
        &mut self,
        _stream: StreamId,
        _token: ProfilingToken,
    ) -> Result<ProfileDuration, ProfileError> {
        unimplemented!("nothing runs")
    }

    fn allocation_mode(&mut self, _mode: MemoryAllocationMode, _stream: StreamId) {}
}

impl ServerCommunication for Recorder {}

/// The recorder has no memory of its own.
pub struct NoStorage;

impl ComputeStorage for NoStorage {
    type Resource = ();

    fn alignment(&self) -> usize {
        target::OFFSET_ALIGNMENT as usize
    }

    fn get(&mut self, _handle: &StorageHandle) -> Result<(), IoError> {
        Ok(())
    }

    fn alloc(&mut self, _size: u64) -> Result<StorageHandle, IoError> {
        unimplemented!("the recorder allocates nothing")
    }

    fn dealloc(&mut self, _id: StorageId) {}

    fn flush(&mut self) {}

    fn bytes_allocated(&self) -> u64 {
        0
    }
}

impl ServerStorage for Recorder {
    type Storage = NoStorage;

    fn get_resource(
        &mut self,
        binding: BufferBinding,
        _stream: StreamId,
    ) -> Result<ManagedResource<()>, ServerError> {
        Ok(ManagedResource::new(binding.memory, ()))
    }
}
