import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { hideColourMarkers } from '../jpeg/complete-jpeg.ts';
import { decodeJpegSamples } from './jpeg-samples.ts';

const raw = (channels: 1 | 3 | 4) => ({ raw: { width: 16, height: 16, channels } }) as const;

const grey = () => {
  const values = new Uint8Array(256).fill(77);
  return sharp(values, raw(1)).toColourspace('b-w').jpeg({ quality: 100 }).toBuffer();
};

/** Writers of TIFF store inks as they are, without a marker; libvips inverts them and adds one. */
async function inks(): Promise<Uint8Array> {
  const stored = [10, 100, 200, 50].map((ink) => 255 - ink);
  const values = Uint8Array.from({ length: 16 * 16 * 3 }, (_, i) => stored[i % 3] as number);
  const jpeg = await sharp(values, raw(3)).toColourspace('cmyk').jpeg({ quality: 100 }).toBuffer();
  hideColourMarkers(jpeg);
  return jpeg;
}

describe('a JPEG whose components are no colours', () => {
  it('gives its one component', async () => {
    expect(await decodeJpegSamples(await grey(), 16, 16, 1)).toEqual(Buffer.alloc(256, 77));
  });

  it('gives its four components as they are stored', async () => {
    const jpeg = await inks();
    const samples = await decodeJpegSamples(jpeg, 16, 16, 4);
    expect(samples).toHaveLength(1024);
    // Decoded as what libvips takes it for, the inks of Photoshop, it is the other way round.
    const inverted = await sharp(jpeg).pipelineColourspace('cmyk').toColourspace('cmyk').raw().toBuffer();
    expect([...samples.subarray(0, 4)]).toEqual([...inverted.subarray(0, 4)].map((value) => 255 - value));
  });

  it('may be higher than is asked for, as the last strip of some writers is', async () => {
    expect((await decodeJpegSamples(await grey(), 16, 9, 1)).length).toBeGreaterThanOrEqual(16 * 9);
  });

  it.each<[string, () => Promise<Uint8Array>, number, number, number]>([
    ['is wider', grey, 8, 16, 1],
    ['is lower', grey, 16, 24, 1],
    ['has another number of components', grey, 16, 16, 4],
    ['is cut', async () => (await inks()).subarray(0, -40), 16, 16, 4],
    ['is none', async () => new Uint8Array(300), 16, 16, 1],
  ])('is refused when it %s', async (_, build, width, rows, components) => {
    const decoding = decodeJpegSamples(await build(), width, rows, components);
    await expect(decoding).rejects.toMatchObject({ name: 'SlideError', code: 'FILE_CORRUPT' });
  });
});
