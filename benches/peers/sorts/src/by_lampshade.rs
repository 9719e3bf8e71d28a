//! lampshade, between buffers of the device.

use lampshade::context::Context;
use lampshade::sort::{KeyValue, KeyValueSorter, Sorter};
use wgpu::util::DeviceExt;

use super::{ON_DEVICE, Outcome, Report, keys, order};

pub fn run(report: &mut Report) -> Outcome<&'static str> {
    let context = pollster::block_on(Context::init())?;
    println!("adapter: {}", context.adapter_info.name);
    let mut sorter = Sorter::from_context(&context);
    let mut pair_sorter = KeyValueSorter::from_context(&context);
    for n in ON_DEVICE {
        let host = keys(n);
        let positions = order(&host);
        let mut expected = host.clone();
        expected.sort_unstable();
        let buffers = Buffers::new(&context, bytemuck::cast_slice(&host));
        report.case(
            "lampshade",
            &format!("sort/u32/1x{n}/dim1"),
            || {
                sorter.sort_gpu_to_gpu(&buffers.input, &buffers.output, n as u32)?;
                buffers.wait(&context)
            },
            |()| Ok(bytemuck::cast_slice::<u8, u32>(&buffers.read(&context)?) == expected),
        )?;
        let pairs: Vec<KeyValue> = host
            .iter()
            .zip(0..)
            .map(|(&key, value)| KeyValue::new(key, value))
            .collect();
        let buffers = Buffers::new(&context, bytemuck::cast_slice(&pairs));
        report.case(
            "lampshade",
            &format!("sort-pairs/u32/1x{n}/dim1"),
            || {
                pair_sorter.sort_gpu_to_gpu(&buffers.input, &buffers.output, n as u32)?;
                buffers.wait(&context)
            },
            |()| {
                let bytes = buffers.read(&context)?;
                let words = bytemuck::cast_slice::<u8, u32>(&bytes).chunks(2);
                let right = expected.iter().zip(&positions);
                Ok(words
                    .zip(right)
                    .all(|(pair, (key, at))| pair == [*key, *at]))
            },
        )?;
    }
    Ok("0.13.0")
}

struct Buffers {
    input: wgpu::Buffer,
    output: wgpu::Buffer,
}

impl Buffers {
    fn new(context: &Context, bytes: &[u8]) -> Self {
        let input = wgpu::util::BufferInitDescriptor {
            label: None,
            contents: bytes,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
        };
        Self {
            input: context.device.create_buffer_init(&input),
            output: buffer(context, bytes.len() as u64, wgpu::BufferUsages::STORAGE),
        }
    }

    fn wait(&self, context: &Context) -> Outcome<()> {
        context.device.poll(wgpu::PollType::wait_indefinitely())?;
        Ok(())
    }

    fn read(&self, context: &Context) -> Outcome<Vec<u8>> {
        let size = self.output.size();
        let staging = buffer(context, size, wgpu::BufferUsages::MAP_READ);
        let mut encoder = context.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(&self.output, 0, &staging, 0, size);
        context.queue.submit([encoder.finish()]);
        staging.map_async(wgpu::MapMode::Read, .., |mapped| {
            mapped.expect("it is mapped")
        });
        self.wait(context)?;
        Ok(staging.get_mapped_range(..)?.to_vec())
    }
}

/// A buffer that is copied from, if it is storage, or to.
fn buffer(context: &Context, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    let copied = match usage {
        wgpu::BufferUsages::STORAGE => wgpu::BufferUsages::COPY_SRC,
        _ => wgpu::BufferUsages::COPY_DST,
    };
    context.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size,
        usage: usage | copied,
        mapped_at_creation: false,
    })
}
