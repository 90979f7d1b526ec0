/**
 * The real files that OpenSlide or libvips reads too, with known differences between their pixels and those of
 * Lamina. The value of a file is null when all samples are equal.
 */

/** A known difference of a file, and its reason. */
export interface KnownDifference {
  /** Number of levels to compare, the largest first; absent for all. */
  readonly levels?: number;
  /** Maximum difference of a sample; 0 when absent. */
  readonly maxDifference?: number;
  readonly reason: string;
}

const onlyWideLevels = (levels: number): KnownDifference => ({
  levels,
  reason: 'OpenSlide 3.4 skews levels that are narrower than their tiles, except JPEG',
});
const blended: KnownDifference = {
  maxDifference: 1,
  reason: 'libvips truncates fractions when it blends with a background',
};

/**
 * Real files that OpenSlide reads. Not included:
 *
 * - sparse.tiff, whose empty tiles OpenSlide does not read
 * - files with an orientation, which OpenSlide ignores
 * - files with 16-bit or signed samples, of which OpenSlide shows the low bits
 */
export const readByOpenSlide: Readonly<Record<string, KnownDifference | null>> = {
  'aperio/1065626.svs': null,
  'aperio/CMU-1-Small-Region.svs': null,
  'aperio/small.svs': null,
  'generic-tiff/BigTIFFLong8Tiles.tif': null,
  'generic-tiff/CMU-1-small.tiff': null,
  'generic-tiff/boxes.tiff': onlyWideLevels(2),
  'generic-tiff/cog.tiff': null,
  'generic-tiff/imagecodecs/rgb.separate.tiled.u1.tif': null,
  'generic-tiff/imagecodecs/rgb.tiled.jpeg.u1.tif': null,
  'generic-tiff/imagecodecs/rgb.tiled.lzw.u1.tif': null,
  'generic-tiff/imagecodecs/rgb.tiled.packbits.u1.tif': null,
  'generic-tiff/imagecodecs/rgb.tiled.u1.tif': null,
  'generic-tiff/imagecodecs/rgb.tiled.webp.u1.tif': null,
  'generic-tiff/imagecodecs/rgb.tiled.zstd.u1.tif': null,
  'generic-tiff/imagecodecs/rgba.tiled.u1.tif': null,
  'generic-tiff/quad-tile.jpg.tiff': null,
  'generic-tiff/rgba8_tiled.tiff': onlyWideLevels(1),
  'generic-tiff/test_orient1.tif': onlyWideLevels(1),
  'generic-tiff/tiff_tiled_cmyk_jpeg.tif': null,
  'generic-tiff/tiff_tiled_planar_lzw.tiff': null,
  'generic-tiff/tiff_tiled_ycbcr_jpeg_2x2_sampling.tif': null,
  'generic-tiff/tiled-jpeg-rgb-u8.tif': null,
  'generic-tiff/yb10kx5k.zstd.tiff': onlyWideLevels(3),
  'hamamatsu/test3-DAPI-2-(387).ndpi': null,
};

/**
 * Real files whose full resolution libvips reads. Not included are files that libvips shows differently by design:
 *
 * - cells-2c, 4D-series and small_vectra: only one channel is shown
 * - OS-1 and OS-2: YCbCr samples are shown as RGB
 * - .vsi: the preview image in the file is shown
 * - CMYK and 16 bits: the colours differ
 */
export const readByLibvips: Readonly<Record<string, KnownDifference | null>> = {
  'aperio/1065626.svs': {
    maxDifference: 1,
    reason: 'libvips truncates fractions when it converts subsampled chroma to RGB',
  },
  'aperio/CMU-1-Small-Region.svs': null,
  'aperio/small.svs': null,
  'generic-tiff/BigTIFFLong8Tiles.tif': null,
  'generic-tiff/BigTIFFSubIFD8.tif': null,
  'generic-tiff/CMU-1-small.tiff': null,
  'generic-tiff/be_cog.tiff': null,
  'generic-tiff/boxes.tiff': null,
  'generic-tiff/cog.tiff': null,
  'generic-tiff/grey10kx5k.tif': null,
  'generic-tiff/imagecodecs/gray.bigtiff.u1.tif': null,
  'generic-tiff/imagecodecs/rgb.predict.u1.tif': null,
  'generic-tiff/imagecodecs/rgb.tiled.jpeg.u1.tif': null,
  'generic-tiff/imagecodecs/rgb.tiled.lzw.u1.tif': null,
  'generic-tiff/imagecodecs/rgb.tiled.packbits.u1.tif': null,
  'generic-tiff/imagecodecs/rgb.tiled.u1.tif': null,
  'generic-tiff/imagecodecs/rgb.tiled.webp.u1.tif': null,
  'generic-tiff/imagecodecs/rgb.tiled.zstd.u1.tif': null,
  'generic-tiff/imagecodecs/rgba.tiled.u1.tif': blended,
  'generic-tiff/kidney-48-5.tif': null,
  'generic-tiff/quad-tile.jpg.tiff': null,
  'generic-tiff/rgba8_tiled.tiff': blended,
  'generic-tiff/test_orient1.tif': null,
  'generic-tiff/test_orient3.tif': null,
  'generic-tiff/test_orient6.tif': null,
  'generic-tiff/test_orient8.tif': null,
  'generic-tiff/tiff_tiled_ycbcr_jpeg_2x2_sampling.tif': null,
  'generic-tiff/tiled-jpeg-rgb-u8.tif': null,
  'generic-tiff/yb10kx5k.zstd.tiff': null,
  'hamamatsu/test3-DAPI-2-(387).ndpi': null,
  'ome-tiff/cells.ome.tif': null,
  'plain-images/cells-1.jp2': null,
  'plain-images/diagnostic-slide-thumb-rgb.png': blended,
  'plain-images/frame_2048x512.jpg': null,
  'plain-images/high-nuclei-score-level0.png': blended,
  'plain-images/tcga-green-pen.png': blended,
  'plain-images/test-image.jpeg': null,
  'plain-images/test-image.png': blended,
};
