import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openSlide } from '@lamina/slide';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDemoSlides } from './make-demo-slides.ts';

/** Both hold an edge of the section, and most of what the tissue is made of. */
const parts = {
  colon: { x: 9_000, y: 5_000, width: 1_024, height: 1_024 },
  liver: { x: 10_000, y: 1_000, width: 1_024, height: 1_024 },
};
const patienceMs = 60_000;

let folder: string;
let made: readonly string[];
const sentences: string[] = [];

beforeAll(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'demo-'));
  made = await makeDemoSlides({ folder, parts, onProgress: (sentence) => sentences.push(sentence) });
}, patienceMs);

afterAll(() => fs.rm(folder, { recursive: true }));

/** Mean hue in degrees and share of pixels that are no glass. */
async function coloursOf(
  file: string,
): Promise<{ hue: number; share: number; pink: number; purple: number }> {
  const pixels = await sharp(file).removeAlpha().raw().toBuffer();
  let [x, y, tissue, pink, purple] = [0, 0, 0, 0, 0];
  for (let i = 0; i < pixels.length; i += 3) {
    const [red, green, blue] = [pixels[i] ?? 0, pixels[i + 1] ?? 0, pixels[i + 2] ?? 0];
    if (green > 225) continue;
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

describe('the demonstration slides', () => {
  it('are a colon and a liver in the folder Demo, with their organs beside them', async () => {
    expect(made).toEqual([
      path.join(folder, 'Demo/colon-demo.svs'),
      path.join(folder, 'Demo/liver-demo.svs'),
    ]);
    expect((await fs.readdir(path.join(folder, 'Demo'))).sort()).toEqual([
      'catalogue.csv',
      'colon-demo.svs',
      'liver-demo.svs',
    ]);
    expect(await fs.readFile(path.join(folder, 'Demo/catalogue.csv'), 'utf8')).toBe(
      'file_name,dataset_name,organ_type\ncolon-demo.svs,Demo,Colon\nliver-demo.svs,Demo,Liver\n',
    );
  });

  it('say at the beginning and at the end what is going on', () => {
    expect(sentences.at(0)).toContain('two demonstration slides');
    expect(sentences.at(-1)).toBe('The demonstration slides are ready.');
  });

  it.each([0, 1])('open with scale and magnification (%i)', async (index) => {
    const slide = await openSlide({ path: made[index] as string });
    expect(slide).toMatchObject({ format: 'aperio', objectivePower: 40, mpp: { x: 0.25, y: 0.25 } });
    expect(slide.levels.map(({ width, height }) => [width, height])).toEqual([
      [1024, 1024],
      [512, 512],
    ]);
    await slide.close();
  });

  it.each([0, 1])('look stained with haematoxylin and eosin (%i)', async (index) => {
    const { hue, share, pink, purple } = await coloursOf(made[index] as string);
    // From the blue-purple of nuclei to the pink of stroma.
    expect(hue).toBeGreaterThan(270);
    expect(hue).toBeLessThan(340);
    expect(share).toBeGreaterThan(0.2);
    expect(share).toBeLessThan(0.95);
    expect(pink).toBeGreaterThan(0.15);
    expect(purple).toBeGreaterThan(0.02);
  });

  it(
    'are the same, byte by byte, whenever they are made',
    async () => {
      const again = await fs.mkdtemp(path.join(os.tmpdir(), 'demo-'));
      const remade = await makeDemoSlides({ folder: again, parts });
      for (const [index, file] of remade.entries()) {
        expect((await fs.readFile(file)).equals(await fs.readFile(made[index] as string))).toBe(true);
      }
      await fs.rm(again, { recursive: true });
    },
    patienceMs,
  );
});

describe('making demonstration slides', () => {
  it(
    'leaves nothing behind when it is stopped meanwhile',
    async () => {
      const stopped = await fs.mkdtemp(path.join(os.tmpdir(), 'demo-'));
      const stop = new AbortController();
      const making = makeDemoSlides({
        folder: stopped,
        parts,
        signal: stop.signal,
        onProgress: (sentence) => {
          if (sentence.includes('25 %')) stop.abort(new Error('enough'));
        },
      });
      await expect(making).rejects.toThrow('enough');
      expect(await fs.readdir(path.join(stopped, 'Demo'))).toEqual([]);
      await fs.rm(stopped, { recursive: true });
    },
    patienceMs,
  );

  it('does not begin when it was stopped before', async () => {
    const stopped = path.join(folder, 'stopped');
    const making = makeDemoSlides({ folder: stopped, signal: AbortSignal.abort(new Error('enough')) });
    await expect(making).rejects.toThrow('enough');
    await expect(fs.stat(stopped)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it(
    'says why when a slide cannot be written',
    async () => {
      const blocked = await fs.mkdtemp(path.join(os.tmpdir(), 'demo-'));
      // A folder stands where the first slide is to be written.
      await fs.mkdir(path.join(blocked, 'Demo/.colon-demo.svs.unfinished/in-the-way'), { recursive: true });
      await expect(makeDemoSlides({ folder: blocked, parts })).rejects.toThrow(/could not be drawn: EISDIR/);
      expect(await fs.readdir(path.join(blocked, 'Demo'))).toEqual([]);
      await fs.rm(blocked, { recursive: true });
    },
    patienceMs,
  );
});
