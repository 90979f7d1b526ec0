import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { openSlide } from '@lamina/slide';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDemoSlides } from './make-demo-slides.ts';

/** Parts of the slides that contain an edge of the section and most structures of the tissue. */
const parts = {
  colon: { x: 9_000, y: 5_000, width: 1_024, height: 1_024 },
  liver: { x: 10_000, y: 1_000, width: 1_024, height: 1_024 },
};
const timeoutMs = 60_000;

let folder: string;
let files: readonly string[];
const messages: string[] = [];

beforeAll(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'demo-'));
  files = await makeDemoSlides({ folder, parts, onProgress: (message) => messages.push(message) });
}, timeoutMs);

const slidePathOf = (tissue: string) => path.join(folder, 'Demo', `${tissue}-demo.svs`);

afterAll(() => fs.rm(folder, { recursive: true }));

/**
 * Returns the mean hue of the tissue in degrees, the share of all pixels that show tissue, and the shares of the tissue's
 * pixels that are pink and purple.
 */
async function coloursOf(
  file: string,
): Promise<{ hue: number; share: number; pink: number; purple: number }> {
  const pixels = await sharp(file).removeAlpha().raw().toBuffer();
  // The mean of angles: the direction of the sum of unit vectors (x, y).
  let [x, y, tissue, pink, purple] = [0, 0, 0, 0, 0];
  for (let i = 0; i < pixels.length; i += 3) {
    const [red, green, blue] = [pixels[i] ?? 0, pixels[i + 1] ?? 0, pixels[i + 2] ?? 0];
    if (green > 225) continue; // glass
    tissue += 1;
    const hue = Math.atan2(Math.sqrt(3) * (green - blue), 2 * red - green - blue);
    x += Math.cos(hue);
    y += Math.sin(hue);
    if (red > 190 && red > blue) pink += 1;
    if (red < 150 && blue > red) purple += 1;
  }
  return {
    hue: ((Math.atan2(y, x) * 180) / Math.PI + 360) % 360,
    share: tissue / (pixels.length / 3),
    pink: pink / tissue,
    purple: purple / tissue,
  };
}

describe('makeDemoSlides', () => {
  it('writes a colon slide, a liver slide and a catalogue file with their organs', async () => {
    expect(files).toEqual([
      path.join(folder, 'Demo/colon-demo.svs'),
      path.join(folder, 'Demo/liver-demo.svs'),
    ]);
    expect((await fs.readdir(path.join(folder, 'Demo'))).sort()).toEqual([
      'catalogue.csv',
      'colon-demo.svs',
      'colon-demo_detections.geojson.gz',
      'colon-demo_likelihood_map.tif',
      'liver-demo.svs',
    ]);
    expect(await fs.readFile(path.join(folder, 'Demo/catalogue.csv'), 'utf8')).toBe(
      'file_name,dataset_name,organ_type\ncolon-demo.svs,Demo,Colon\nliver-demo.svs,Demo,Liver\n',
    );
  });

  it('reports a message when the drawing of the slides starts, and one when the slides are ready', () => {
    expect(messages.at(0)).toContain('two demonstration slides');
    expect(messages.at(-1)).toBe('The demonstration slides are ready.');
  });

  it.each(['colon', 'liver'])('writes pixel size and objective power into the %s slide', async (tissue) => {
    const slide = await openSlide({ path: slidePathOf(tissue) });
    expect(slide).toMatchObject({ format: 'aperio', objectivePower: 40, mpp: { x: 0.25, y: 0.25 } });
    expect(slide.levels.map(({ width, height }) => [width, height])).toEqual([
      [1024, 1024],
      [512, 512],
    ]);
    await slide.close();
  });

  it.each(['colon', 'liver'])('paints the %s slide in colours of haematoxylin and eosin', async (tissue) => {
    const { hue, share, pink, purple } = await coloursOf(slidePathOf(tissue));
    // Between the blue-purple of nuclei (262° for #5B3F8C) and the pink of stroma (335° for #DA6F9B).
    expect(hue).toBeGreaterThan(270);
    expect(hue).toBeLessThan(340);
    expect(share).toBeGreaterThan(0.2);
    expect(share).toBeLessThan(0.95);
    expect(pink).toBeGreaterThan(0.15);
    expect(purple).toBeGreaterThan(0.02);
  });

  it('writes cell outlines at the dark nuclei of the slide and a heatmap of their density', async () => {
    const file = path.join(folder, 'Demo/colon-demo_detections.geojson.gz');
    const { features } = JSON.parse(gunzipSync(await fs.readFile(file)).toString()) as {
      features: {
        geometry: { coordinates: [[number, number][]] };
        properties: { classification: { name: string } };
      }[];
    };
    expect(features.length).toBeGreaterThan(50);
    const names = features.map(({ properties }) => properties.classification.name);
    expect(new Set(names)).toContain('Lymphocyte');

    const { data, info } = await sharp(files[0] as string)
      .removeAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    const redAt = (x: number, y: number) => data[(Math.floor(y) * info.width + Math.floor(x)) * 3] ?? 255;
    const centres = features.map(({ geometry }) => {
      const ring = geometry.coordinates[0].slice(1);
      const mean = (axis: 0 | 1) => ring.reduce((sum, point) => sum + point[axis], 0) / ring.length;
      return { x: mean(0), y: mean(1) };
    });
    for (const { x, y } of centres) {
      expect(Math.min(x, y)).toBeGreaterThanOrEqual(0);
      expect(Math.max(x, y)).toBeLessThan(1024);
    }
    const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] ?? 0;
    const redInNuclei = median(centres.map(({ x, y }) => redAt(x, y)));
    const redAnywhere = median(
      Array.from({ length: 1000 }, (_, n) => redAt((n * 37) % 1024, (n * 101) % 1024)),
    );
    expect(redInNuclei).toBeLessThan(redAnywhere - 40); // haematoxylin absorbs red light

    const heatmap = sharp(path.join(folder, 'Demo/colon-demo_likelihood_map.tif'));
    // A pixel of the heatmap covers 256 × 256 pixels of the slide, which has 1,024 × 1,024.
    expect(await heatmap.metadata()).toMatchObject({ width: 4, height: 4, channels: 1, depth: 'ushort' });
    const { channels } = await heatmap.stats();
    const perSquareMillimetre = features.length / (1024 * 0.00025) ** 2; // 0.00025 mm per pixel
    expect(channels[0]?.mean).toBeGreaterThan(perSquareMillimetre * 0.6);
    expect(channels[0]?.mean).toBeLessThan(perSquareMillimetre * 1.4);
  });

  it(
    'writes files with the same bytes each time it is called',
    async () => {
      const secondFolder = await fs.mkdtemp(path.join(os.tmpdir(), 'demo-'));
      const secondFiles = await makeDemoSlides({ folder: secondFolder, parts });
      for (const [index, file] of secondFiles.entries()) {
        expect((await fs.readFile(file)).equals(await fs.readFile(files[index] as string))).toBe(true);
      }
      await fs.rm(secondFolder, { recursive: true });
    },
    timeoutMs,
  );
});

describe('makeDemoSlides when it does not complete', () => {
  it(
    'leaves no files when the signal is aborted during drawing',
    async () => {
      const abortedFolder = await fs.mkdtemp(path.join(os.tmpdir(), 'demo-'));
      const stop = new AbortController();
      const drawing = makeDemoSlides({
        folder: abortedFolder,
        parts,
        signal: stop.signal,
        onProgress: (message) => {
          if (message.includes('25 %')) stop.abort(new Error('enough'));
        },
      });
      await expect(drawing).rejects.toThrow('enough');
      expect(await fs.readdir(path.join(abortedFolder, 'Demo'))).toEqual([]);
      await fs.rm(abortedFolder, { recursive: true });
    },
    timeoutMs,
  );

  it('creates no folder when the signal was aborted before the call', async () => {
    const abortedFolder = path.join(folder, 'aborted');
    const drawing = makeDemoSlides({ folder: abortedFolder, signal: AbortSignal.abort(new Error('enough')) });
    await expect(drawing).rejects.toThrow('enough');
    await expect(fs.stat(abortedFolder)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it.each(['colon', 'liver'])(
    'rejects with the cause and leaves no files when the %s slide cannot be written',
    async (tissue) => {
      const blocked = await fs.mkdtemp(path.join(os.tmpdir(), 'demo-'));
      // A folder with the name of the unfinished file makes writing fail.
      await fs.mkdir(path.join(blocked, `Demo/.${tissue}-demo.svs.unfinished/in-the-way`), {
        recursive: true,
      });
      await expect(makeDemoSlides({ folder: blocked, parts })).rejects.toThrow(/slide failed: EISDIR/);
      expect(await fs.readdir(path.join(blocked, 'Demo'))).toEqual([]);
      await fs.rm(blocked, { recursive: true });
    },
    timeoutMs,
  );
});
