import { type EncodedImage, SlideError } from '../model/slide.ts';
import { decodeDicomRle } from './dicom-rle.ts';
import type { Raster } from './raster.ts';
import { samplesToRgb } from './samples-to-rgb.ts';

/**
 * Decodes images whose bytes are samples, uncompressed (`samples`) or run-length encoded (`rle`).
 *
 * @throws SlideError FILE_CORRUPT when the bytes contain too few samples; FORMAT_NOT_SUPPORTED for an image without
 *   a layout, or with a number or size of samples that `samplesToRgb` does not support
 */
export function decodeSamples({ codec, bytes, width, height, colour, layout }: EncodedImage): Raster {
  if (!layout)
    throw new SlideError(
      'FORMAT_NOT_SUPPORTED',
      'Not supported: samples without a description of their layout',
    );
  const { samplesPerPixel, bits, isPlanar } = layout;
  const sampleCount = width * height * samplesPerPixel;
  const values =
    codec === 'rle'
      ? decodeDicomRle(bytes, width * height, samplesPerPixel, bits)
      : readSamples(bytes, sampleCount, bits);
  return samplesToRgb(
    // decodeDicomRle always returns planes.
    { width, height, samplesPerPixel, values, isPlanar: codec === 'rle' || isPlanar, maximum: 2 ** bits - 1 },
    colour ?? null,
  );
}

/** Returns the first `count` samples of 8 bits, or of 16 bits in little-endian order. */
function readSamples(bytes: Uint8Array, count: number, bits: 8 | 16): Uint8Array | Uint16Array {
  if (bytes.length < (count * bits) / 8) {
    throw new SlideError(
      'FILE_CORRUPT',
      `An image of ${count} samples of ${bits} bits has only ${bytes.length} bytes`,
    );
  }
  if (bits === 8) return bytes.subarray(0, count);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Uint16Array.from({ length: count }, (_, i) => view.getUint16(i * 2, true));
}
