//! The picture that the test server sends, and that tests look for.

use std::io::Write;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

const WIDTH: u32 = 830;
const HEIGHT: u32 = 830;

/// A valid PNG, 8-bit RGB, stored without compression: a bit more than 2 MB. Always the same bytes.
pub fn png() -> Vec<u8> {
    let mut pixels = ZlibEncoder::new(Vec::new(), Compression::none());
    let mut state = 1u32;
    for _ in 0..HEIGHT {
        let mut row = vec![0]; // filter: none
        for _ in 0..WIDTH * 3 {
            // A linear congruential generator: cheap, and the picture shows if bytes are lost.
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            row.push((state >> 24) as u8);
        }
        pixels.write_all(&row).expect("a Vec takes every write");
    }
    let pixels = pixels.finish().expect("a Vec takes every write");

    let mut header = Vec::new();
    header.extend(WIDTH.to_be_bytes());
    header.extend(HEIGHT.to_be_bytes());
    header.extend([8, 2, 0, 0, 0]); // 8 bits, RGB, deflate, no filter method, not interlaced
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, data) in [(b"IHDR", &header), (b"IDAT", &pixels), (b"IEND", &Vec::new())] {
        let length = u32::try_from(data.len()).expect("a chunk of a few megabytes");
        let mut crc = Crc::new();
        crc.update(kind);
        crc.update(data);
        png.extend(length.to_be_bytes());
        png.extend(kind);
        png.extend(data);
        png.extend(crc.sum().to_be_bytes());
    }
    png
}
