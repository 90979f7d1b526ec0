/** Tests files whose images differ from what the file declares, in real render processes. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { compiledCodeFolder } from '../testing/compiled-code.ts';
import { blackPng, expensiveSvg, manyScans, tiffOfTile } from '../testing/hostile-pictures.ts';
import { RenderPool } from './render-pool.ts';

vi.setConfig({ testTimeout: 60_000 });

// Values of the TIFF tag Compression.
const JPEG = 7;
const WEBP = 50001;
const SIDE = 256;

let folder: string;
let pool: RenderPool;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hostile-pictures-'));
  pool = new RenderPool({
    processes: 1,
    queueLimit: 10,
    timeoutMs: 30_000,
    compiledFolder: compiledCodeFolder,
  });
});
afterAll(async () => {
  await pool.close();
  await rm(folder, { recursive: true });
});

async function render(name: string, bytes: Uint8Array): Promise<Uint8Array> {
  const path = join(folder, name);
  await writeFile(path, bytes);
  return pool.tile({ path }, { dziLevel: 8, column: 0, row: 0 });
}

/** Returns the peak resident memory of the render process so far. */
async function peakBytes(): Promise<number> {
  const [processId] = pool.processIds;
  const status = await readFile(`/proc/${processId}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}

/** An image of one colour; its clones are encoded in different formats and sizes. */
const plain = sharp({ create: { width: SIDE, height: SIDE, channels: 3, background: '#a86' } });
const declaredWebp: readonly (readonly [string, () => Promise<Uint8Array>])[] = [
  ['SVG', async () => expensiveSvg(SIDE, 16)],
  ['PNG', () => plain.clone().png().toBuffer()],
  ['JPEG', () => plain.clone().jpeg().toBuffer()],
  ['GIF', () => plain.clone().gif().toBuffer()],
  ['TIFF', () => plain.clone().tiff().toBuffer()],
  ['HEIF', () => plain.clone().avif().toBuffer()],
  ['zeros', async () => new Uint8Array(1000)],
];

describe('a render process (decodes and renders tiles of slides)', () => {
  it('renders a WebP tile of a TIFF file', async () => {
    const webp = await plain.clone().webp().toBuffer();
    expect((await render('webp.tif', tiffOfTile(WEBP, webp, SIDE))).length).toBeGreaterThan(100);
  });

  it.each(declaredWebp)(
    'rejects with FILE_CORRUPT a tile whose bytes are %s although the TIFF file declares WebP',
    async (name, build) => {
      const file = tiffOfTile(WEBP, await build(), SIDE);
      await expect(render(`webp-${name}.tif`, file)).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
    },
  );

  it('uses less than 200 MB of memory to reject a small SVG that contains an image of 784 megapixels', async () => {
    const svg = expensiveSvg(SIDE, 28_000);
    expect(svg.length).toBeLessThan(690_000);
    const file = tiffOfTile(WEBP, svg, SIDE);
    await expect(render('expensive.tif', file)).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
    expect(await peakBytes()).toBeLessThan(200e6);
  });

  it.each([
    ['JPEG', JPEG, () => plain.clone().resize(4096, 4096).jpeg().toBuffer()],
    ['lossy WebP', WEBP, () => plain.clone().resize(4096, 4096).webp().toBuffer()],
    ['lossless WebP', WEBP, () => plain.clone().resize(4096, 4096).webp({ lossless: true }).toBuffer()],
    ['transparent WebP', WEBP, () => plain.clone().ensureAlpha(0.5).resize(4096, 4096).webp().toBuffer()],
  ])(
    'rejects with FILE_CORRUPT a %s tile of 4096 × 4096 pixels when the TIFF file declares 256 × 256',
    async (name, compression, build) => {
      const file = tiffOfTile(compression, await build(), SIDE);
      await expect(render(`large-${name}.tif`, file)).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
    },
  );

  it('rejects an animated WebP tile with FORMAT_NOT_SUPPORTED or FILE_CORRUPT', async () => {
    const frames = await sharp(Buffer.alloc(SIDE * SIDE * 2 * 3).fill(200, SIDE * SIDE * 3), {
      raw: { width: SIDE, height: SIDE * 2, channels: 3, pageHeight: SIDE },
    })
      .webp({ loop: 0, delay: [100, 100] })
      .toBuffer();
    const file = tiffOfTile(WEBP, frames, SIDE);
    await expect(render('animated.tif', file)).rejects.toMatchObject({
      code: expect.stringMatching(/^(FORMAT_NOT_SUPPORTED|FILE_CORRUPT)$/),
    });
  });

  it('rejects with LIMIT_EXCEEDED a progressive JPEG of 5,000 scans, as a tile and as a file', async () => {
    const jpeg = await manyScans(SIDE, 5000);
    await expect(render('scans.tif', tiffOfTile(JPEG, jpeg, SIDE))).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
    });
    await expect(render('scans.jpg', jpeg)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });

  it('rejects with LIMIT_EXCEEDED a progressive JPEG file of 5,000 scans and 4,200 × 4,200 pixels', async () => {
    const path = join(folder, 'large-scans.jpg');
    await writeFile(path, await manyScans(4200, 5000));
    await expect(pool.tile({ path }, { dziLevel: 8, column: 0, row: 0 })).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
    });
  });

  it('rejects with FILE_CORRUPT a PNG file whose compressed data are overwritten', async () => {
    await expect(render('picture.png', blackPng(SIDE).fill(7, 60))).rejects.toMatchObject({
      code: 'FILE_CORRUPT',
    });
  });
});
