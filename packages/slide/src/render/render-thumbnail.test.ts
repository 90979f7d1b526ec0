import { describe, expect, it } from 'vitest';
import { shrinkRaster } from '../decode/raster.ts';
import { buildSvs } from '../testing/build-svs.ts';
import { difference, pixelsOf } from '../testing/compare-pixels.ts';
import { openBytes } from '../testing/open-bytes.ts';
import { paintTissue } from '../testing/paint-tissue.ts';
import { renderThumbnail } from './render-thumbnail.ts';

describe('renderThumbnail (renders a small image of a whole slide)', () => {
  it.each([
    // Width and height of the slide, maxSide, width and height of the thumbnail.
    [1000, 500, 256, 256, 128],
    [500, 1000, 256, 128, 256],
    [512, 512, 256, 256, 256],
    [513, 400, 256, 256, 200],
    [480, 400, 100, 100, 83],
    [300, 20, 8, 8, 1],
    [100, 60, 256, 100, 60],
    [256, 255, 256, 256, 255],
  ])(
    'returns for a slide of %d × %d pixels and maxSide %d a thumbnail of %d × %d pixels',
    async (width, height, maxSide, thumbnailWidth, thumbnailHeight) => {
      const slide = await openBytes(await buildSvs({ width, height, hasAssociatedImages: false }));
      const thumbnail = await pixelsOf(await renderThumbnail(slide, maxSide));
      expect(thumbnail).toMatchObject({ width: thumbnailWidth, height: thumbnailHeight });
    },
  );

  it('returns the pixels of the whole slide, reduced by a box filter, with a mean difference below 4 of 255', async () => {
    const picture = paintTissue(1024, 768);
    const slide = await openBytes(await buildSvs({ width: 1024, height: 768, picture }));
    const thumbnail = await pixelsOf(await renderThumbnail(slide, 256));
    expect(difference(thumbnail, shrinkRaster(picture, 4)).mean).toBeLessThan(4);
  });

  it('does not read an associated image of the file', async () => {
    const slide = await openBytes(await buildSvs());
    const readAssociatedImage = () => Promise.reject(new Error('This must not be read'));
    await expect(renderThumbnail({ ...slide, readAssociatedImage }, 256)).resolves.toBeInstanceOf(Uint8Array);
  });
});
