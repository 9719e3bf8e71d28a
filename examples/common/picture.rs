//! Pictures of pixels, as PNG (W3C, "Portable Network Graphics", third edition). Nothing is compressed.

use std::fs;
use std::path::Path;

/// The most bytes of a block that is not compressed.
const BLOCK: usize = u16::MAX as usize;

/// Writes a picture of that width and height, three bytes per pixel, into a file, and creates its folder.
pub fn save(path: &Path, [width, height]: [usize; 2], pixels: &[u8]) -> Result<(), String> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let written = folder
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(path, encoded(width, height, pixels)));
    written.map_err(|error| format!("cannot draw {}: {error}", path.display()))?;
    println!("drawn: {}", path.display());
    Ok(())
}

fn encoded(width: usize, height: usize, pixels: &[u8]) -> Vec<u8> {
    let mut header = [width, height]
        .map(|size| (size as u32).to_be_bytes())
        .concat();
    // Eight bits per sample; red, green and blue; no other options.
    header.extend([8, 2, 0, 0, 0]);
    // A row begins with its filter: none.
    let rows = pixels.chunks(3 * width);
    let rows: Vec<u8> = rows.flat_map(|row| [&[0], row].concat()).collect();
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, data) in [
        (b"IHDR", header),
        (b"IDAT", zlib(&rows)),
        (b"IEND", Vec::new()),
    ] {
        let chunk = [kind.as_slice(), &data].concat();
        file.extend((data.len() as u32).to_be_bytes());
        file.extend(&chunk);
        file.extend(crc(&chunk).to_be_bytes());
    }
    file
}

/// Blocks that are not compressed, in the form of zlib (RFC 1950, 1951).
fn zlib(data: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    let blocks = data.chunks(BLOCK);
    let last = blocks.len() - 1;
    for (number, block) in blocks.enumerate() {
        let len = block.len() as u16;
        stream.push(u8::from(number == last));
        stream.extend(len.to_le_bytes());
        stream.extend((!len).to_le_bytes());
        stream.extend(block);
    }
    let (mut low, mut high) = (1u32, 0u32);
    for &byte in data {
        low = (low + u32::from(byte)) % 65_521;
        high = (high + low) % 65_521;
    }
    stream.extend((high << 16 | low).to_be_bytes());
    stream
}

/// The cyclic redundancy check of a chunk.
fn crc(chunk: &[u8]) -> u32 {
    !chunk.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 * (crc & 1))
        })
    })
}
