import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { maskColourMarkers } from '../jpeg/complete-jpeg.ts';
import { decodeJpegSamples } from './jpeg-samples.ts';

const raw = (channels: 1 | 3 | 4) => ({ raw: { width: 16, height: 16, channels } }) as const;

const grey = () => {
  const values = new Uint8Array(256).fill(77);
  return sharp(values, raw(1)).toColourspace('b-w').jpeg({ quality: 100 }).toBuffer();
};

/** CMYK as TIFF writers store it, not inverted and without a marker; libvips inverts it and adds one. */
async function encodeCmyk(): Promise<Uint8Array> {
  const stored = [10, 100, 200, 50].map((ink) => 255 - ink);
  const values = Uint8Array.from({ length: 16 * 16 * 3 }, (_, i) => stored[i % 3] as number);
  const jpeg = await sharp(values, raw(3)).toColourspace('cmyk').jpeg({ quality: 100 }).toBuffer();
  maskColourMarkers(jpeg);
  return jpeg;
}

describe('decodeJpegSamples (decodes the components of a JPEG without a conversion to RGB)', () => {
  it('returns the single component of a grey JPEG', async () => {
    expect(await decodeJpegSamples(await grey(), 16, 16, 1)).toEqual(Buffer.alloc(256, 77));
  });

  it('returns the four components of a CMYK JPEG as stored', async () => {
    const jpeg = await encodeCmyk();
    const samples = await decodeJpegSamples(jpeg, 16, 16, 4);
    expect(samples).toHaveLength(1024);
    // libvips assumes that Photoshop wrote the image, and therefore returns inverted samples.
    const inverted = await sharp(jpeg).pipelineColourspace('cmyk').toColourspace('cmyk').raw().toBuffer();
    expect([...samples.subarray(0, 4)]).toEqual([...inverted.subarray(0, 4)].map((value) => 255 - value));
  });

  it('returns at least the 9 requested rows of a JPEG of 16 rows, as some TIFF writers store the last strip', async () => {
    expect((await decodeJpegSamples(await grey(), 16, 9, 1)).length).toBeGreaterThanOrEqual(16 * 9);
  });

  it.each<[string, () => Promise<Uint8Array>, number, number, number]>([
    ['is wider than requested', grey, 8, 16, 1],
    ['has fewer rows than requested', grey, 16, 24, 1],
    ['has another number of components than requested', grey, 16, 16, 4],
    ['is truncated', async () => (await encodeCmyk()).subarray(0, -40), 16, 16, 4],
    ['is not a JPEG', async () => new Uint8Array(300), 16, 16, 1],
  ])('rejects with FILE_CORRUPT a stream that %s', async (_, build, width, rows, components) => {
    const decoding = decodeJpegSamples(await build(), width, rows, components);
    await expect(decoding).rejects.toMatchObject({ name: 'SlideError', code: 'FILE_CORRUPT' });
  });
});
