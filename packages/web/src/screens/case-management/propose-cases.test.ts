import { describe, expect, it } from 'vitest';
import { proposeCases } from './propose-cases.ts';

const images = [
  'B26-12_A1_PAS.svs',
  'B26-12_A1_HE.svs',
  'B26-2_B_HE.ndpi',
  'B26-2_HE.ome.tif',
  'tek.svs', // has no separator, and therefore no stain
  'B26-9_HE.svs', // is the only slide of its case
].map((file_name) => ({ id: file_name, file_name }));
const rule = { separator: '_', caseParts: 1 } as const;

describe('proposeCases (groups slides into cases by file name)', () => {
  it('groups slides whose file names begin with the same case name, in natural order, and reads block and stain from the names', () => {
    expect(proposeCases(images, rule, new Set())).toEqual([
      {
        name: 'B26-2',
        slides: [
          { imageId: 'B26-2_B_HE.ndpi', fileName: 'B26-2_B_HE.ndpi', block: 'B', stain: 'HE' },
          { imageId: 'B26-2_HE.ome.tif', fileName: 'B26-2_HE.ome.tif', block: null, stain: 'HE' },
        ],
      },
      {
        name: 'B26-12',
        slides: [
          { imageId: 'B26-12_A1_HE.svs', fileName: 'B26-12_A1_HE.svs', block: 'A1', stain: 'HE' },
          { imageId: 'B26-12_A1_PAS.svs', fileName: 'B26-12_A1_PAS.svs', block: 'A1', stain: 'PAS' },
        ],
      },
    ]);
  });

  it.each(['svslide', 'qptiff', 'jp2'])(
    'leaves the file extension .%s out of the stain that it reads from a file name',
    (extension) => {
      const slides = ['HE', 'PAS'].map((stain) => `B26-3_${stain}.${extension}`);
      const namedSlides = slides.map((file_name) => ({ id: file_name, file_name }));
      const stains = proposeCases(namedSlides, rule, new Set()).flatMap((proposed) =>
        proposed.slides.map(({ stain }) => stain),
      );
      expect(stains).toEqual(['HE', 'PAS']);
    },
  );

  it('ignores slides that are in a case already', () => {
    const usedImageIds = new Set(['B26-12_A1_PAS.svs']);
    expect(proposeCases(images, rule, usedImageIds).map(({ name }) => name)).toEqual(['B26-2']);
  });

  it('uses the first two parts of a file name as the case name when the naming rule has caseParts: 2', () => {
    const names = proposeCases(images, { separator: '_', caseParts: 2 }, new Set()).map(({ name }) => name);
    expect(names).toEqual(['B26-12_A1']);
  });
});
