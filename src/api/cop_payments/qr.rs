//! QR codes as PNG pictures: one bit a pixel, with the quiet zone that scanners need.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use qrcode::{Color, EcLevel, QrCode};

const SCALE: usize = 8;
/// Light modules around the code (ISO/IEC 18004).
const QUIET: usize = 4;

/// The picture of `text`, which must be short, in base64.
pub fn png_base64(text: &str) -> String {
    STANDARD.encode(png(text))
}

/// The beginning of an address that has a picture in base64 in itself.
const PREFIX: &str = "data:image/png;base64,";

/// A processor's picture in base64, whether it gave it so or as an address.
pub fn picture_base64(picture: &str) -> &str {
    picture.strip_prefix(PREFIX).unwrap_or(picture)
}

pub fn picture_address(picture: &str) -> String {
    format!("{PREFIX}{}", picture_base64(picture))
}

fn png(text: &str) -> Vec<u8> {
    // A code of the largest version holds some 2,300 bytes; a transfer key has 20.
    let Ok(code) = QrCode::with_error_correction_level(text, EcLevel::M) else {
        unreachable!("a short text fits into a QR code")
    };
    let side = (code.width() + 2 * QUIET) * SCALE;
    let row_bytes = side.div_ceil(8);
    // Bits that are set are light.
    let mut pixels = vec![0xFF_u8; row_bytes * side];
    for (at, _) in code.to_colors().into_iter().enumerate().filter(|(_, color)| *color == Color::Dark) {
        let (x, y) = ((at % code.width() + QUIET) * SCALE, (at / code.width() + QUIET) * SCALE);
        for row in y..y + SCALE {
            for column in x..x + SCALE {
                pixels[row * row_bytes + column / 8] &= !(0x80 >> (column % 8));
            }
        }
    }
    encode(&pixels, side)
}

fn encode(pixels: &[u8], side: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(1024);
    let side = u32::try_from(side).unwrap_or(u32::MAX);
    let mut encoder = png::Encoder::new(&mut out, side, side);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::One);
    let written = encoder
        .write_header()
        .and_then(|mut writer| writer.write_image_data(pixels).and_then(|()| writer.finish()));
    let Ok(()) = written else {
        unreachable!("memory takes every byte, and the picture has the size it says")
    };
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_shows_the_modules_of_the_code() {
        let text = "@PSRABCDEFGHJKLMNPQ2";
        let bytes = png(text);
        assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a picture");
        let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
        let frame = reader.next_frame(&mut pixels).expect("a frame");
        let code = QrCode::with_error_correction_level(text, EcLevel::M).expect("a code");
        let side = (code.width() + 2 * QUIET) * SCALE;
        assert_eq!(
            (frame.width as usize, frame.height as usize, frame.bit_depth, frame.color_type),
            (side, side, png::BitDepth::One, png::ColorType::Grayscale)
        );
        let colors = code.to_colors();
        for y in 0..side {
            for x in 0..side {
                let light = pixels[y * frame.line_size + x / 8] & (0x80 >> (x % 8)) != 0;
                let module = |at: usize| (at / SCALE).checked_sub(QUIET).filter(|at| *at < code.width());
                let dark = matches!((module(x), module(y)), (Some(x), Some(y)) if colors[y * code.width() + x] == Color::Dark);
                assert_eq!(light, !dark, "{x}, {y}");
            }
        }
    }
}
