/** Tests real DICOM files. The environment variable TEST_SLIDES names the folder with the real slides of all formats. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SlideError } from '../model/slide.ts';
import { groupSlideFiles, openSlide } from '../open-slide.ts';
import { difference } from '../testing/compare-pixels.ts';
import { drawLevel } from '../testing/draw-level.ts';
import { openFiles } from '../testing/open-dicom.ts';

const slides = process.env.TEST_SLIDES;

describe.skipIf(slides === undefined)('openSlide with real DICOM files (skipped without TEST_SLIDES)', () => {
  const path = (name: string) => join(slides ?? '', 'dicom', name);

  it('opens the twelve files of cmu-1-small-region as one slide with twelve levels', async () => {
    const names = await readdir(path('cmu-1-small-region'));
    const [group] = await groupSlideFiles({ path: path('cmu-1-small-region') }, names);
    expect(group?.main).toBe('level-0-frames-0-30.dcm');
    expect(group?.members).toHaveLength(11);
    const slide = await openSlide({ path: path('cmu-1-small-region/level-0-frames-0-30.dcm') });
    expect(slide.levels.map(({ width, height }) => `${width}×${height}`)).toEqual(
      '2220×2967 1110×1483 555×741 277×370 138×185 69×92 34×46 17×23 8×11 4×5 2×2 1×1'.split(' '),
    );
    expect(slide.levels.slice(0, 4).map(({ tileWidth, tileHeight }) => [tileWidth, tileHeight])).toEqual([
      [500, 500],
      [500, 500],
      [500, 500],
      [277, 370],
    ]);
    expect(slide.mpp).toEqual({ x: 0.499, y: 0.499 });
    for (const level of slide.levels.keys()) await drawLevel(slide, level);
    await slide.close();
  });

  it.each([
    ['camelyon-jpeg/multi_frame_jpeg_camelyon_challenge_image.dcm', 'jpeg', { x: 28.969, y: 28.968 }],
    [
      'camelyon-jpeg2000/multi_frame_jpeg2000_camelyon_challenge_image.dcm',
      'jpeg2000',
      { x: 28.969, y: 28.968 },
    ],
    ['uncompressed/raw.dicom', 'samples', { x: 16.783, y: 16.783 }],
    ['highdicom/sm_image.dcm', 'samples', { x: 0.499, y: 0.499 }],
    ['highdicom/sm_image_grayscale.dcm', 'samples', { x: 0.499, y: 0.499 }],
    ['highdicom/sm_image_jpegls.dcm', 'jpegls', { x: 0.499, y: 0.499 }],
    ['highdicom/sm_image_numbers.dcm', 'samples', { x: 0.499, y: 0.499 }],
  ])(
    'reads %s with tiles of the codec "%s" ("samples": uncompressed) and the micrometres per pixel %j',
    async (name, codec, mpp) => {
      const slide = await openSlide({ path: path(name) });
      expect(slide.levels).toHaveLength(1);
      expect(slide.mpp).toEqual(mpp);
      expect(await slide.readTile({ level: 0, column: 0, row: 0 })).toMatchObject({ codec });
      await drawLevel(slide, 0);
      await slide.close();
    },
  );

  it('reads the same pixels from sm_image.dcm (uncompressed) and sm_image_jpegls.dcm (JPEG-LS)', async () => {
    const uncompressed = await openSlide({ path: path('highdicom/sm_image.dcm') });
    const jpegLs = await openSlide({ path: path('highdicom/sm_image_jpegls.dcm') });
    expect(difference(await drawLevel(uncompressed, 0), await drawLevel(jpegLs, 0))).toEqual({
      mean: 0,
      max: 0,
    });
    await Promise.all([uncompressed.close(), jpegLs.close()]);
  });

  it('opens boxes_0.dcm, whose image is smaller than its tile, with its thumbnail and colour profile', async () => {
    const slide = await openSlide({ path: path('openslide-boxes/boxes_0.dcm') });
    expect(slide).toMatchObject({ vendor: 'Leica Biosystems', objectivePower: 20 });
    expect(slide.levels).toMatchObject([{ width: 16, height: 16, tileWidth: 64, tileHeight: 64 }]);
    expect([...slide.associatedImages]).toEqual(['thumbnail']);
    expect(await slide.readIccProfile()).toHaveLength(456);
    await slide.close();
  });

  it.each([
    ['highdicom/seg_image_sm_control_labelmap.dcm', 'a segmentation'],
    ['highdicom/sm_annotations.dcm', 'a list of annotations'],
    ['label-only/test_wikipedia.dcm', 'the label of a slide'],
    ['openslide-boxes/boxes_1.dcm', 'the thumbnail of a slide'],
  ])('rejects %s with NOT_A_SLIDE and names "%s" in the message', async (name, expectedKind) => {
    await expect(openSlide({ path: path(name) })).rejects.toMatchObject({
      code: 'NOT_A_SLIDE',
      message: expect.stringContaining(expectedKind),
    });
  });

  it('throws SlideError for a truncated boxes_0.dcm, or reads all pixels of the image, whatever the length', async () => {
    const bytes = await readFile(path('openslide-boxes/boxes_0.dcm'));
    const completeImage = await drawLevel(await openFiles({ a: bytes }), 0);
    // Every seventh length, to save time.
    const lengths = Array.from({ length: bytes.length / 7 }, (_, i) => i * 7);
    const isRejectedOrComplete = await Promise.all(
      lengths.map(async (length) => {
        try {
          const drawn = await drawLevel(await openFiles({ a: bytes.subarray(0, length) }), 0);
          return difference(drawn, completeImage).max === 0;
        } catch (error) {
          return error instanceof SlideError;
        }
      }),
    );
    expect(isRejectedOrComplete).not.toContain(false);
  });
});
