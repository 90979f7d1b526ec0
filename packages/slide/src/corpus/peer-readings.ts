/** Real files that OpenSlide or libvips reads too, with the known differences. */

/** A known difference of a file, and its reason. */
export interface Exception {
  /** Levels from this index on are not compared. */
  readonly levels?: number;
  /** Maximum difference of a sample. */
  readonly most?: number;
  readonly why: string;
}

const narrow = (levels: number): Exception => ({
  levels,
  why: 'OpenSlide 3.4 skews levels that are narrower than their tiles, except JPEG',
});
const alpha: Exception = { most: 1, why: 'libvips truncates fractions when it blends with a background' };

/**
 * Real files that OpenSlide reads. Excluded: sparse.tiff, whose empty tiles it does not read; files with an
 * Orientation, which it ignores; files with 16-bit or signed samples, of which it shows the low bits.
 */
export const readByOpenSlide: Readonly<Record<string, Exception | null>> = {
  'aperio/1065626.svs': null,
  'aperio/CMU-1-Small-Region.svs': null,
  'aperio/small.svs': null,
  'generic-tiff/BigTIFFLong8Tiles.tif': null,
  'generic-tiff/CMU-1-small.tiff': null,
  'generic-tiff/boxes.tiff': narrow(2),
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
  'generic-tiff/rgba8_tiled.tiff': narrow(1),
  'generic-tiff/test_orient1.tif': narrow(1),
  'generic-tiff/tiff_tiled_cmyk_jpeg.tif': null,
  'generic-tiff/tiff_tiled_planar_lzw.tiff': null,
  'generic-tiff/tiff_tiled_ycbcr_jpeg_2x2_sampling.tif': null,
  'generic-tiff/tiled-jpeg-rgb-u8.tif': null,
  'generic-tiff/yb10kx5k.zstd.tiff': narrow(3),
  'hamamatsu/test3-DAPI-2-(387).ndpi': null,
};

/**
 * Real files whose full resolution libvips reads. Excluded are files that libvips shows differently by
 * design: one channel of several (cells-2c, 4D-series, small_vectra), YCbCr as RGB (OS-1, OS-2), the preview
 * in a .vsi file, CMYK, 16 bits.
 */
export const readByLibvips: Readonly<Record<string, Exception | null>> = {
  'aperio/1065626.svs': {
    most: 1,
    why: 'libvips truncates fractions when it converts subsampled chroma to RGB',
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
  'generic-tiff/imagecodecs/rgba.tiled.u1.tif': alpha,
  'generic-tiff/kidney-48-5.tif': null,
  'generic-tiff/quad-tile.jpg.tiff': null,
  'generic-tiff/rgba8_tiled.tiff': alpha,
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
  'plain-images/diagnostic-slide-thumb-rgb.png': alpha,
  'plain-images/frame_2048x512.jpg': null,
  'plain-images/high-nuclei-score-level0.png': alpha,
  'plain-images/tcga-green-pen.png': alpha,
  'plain-images/test-image.jpeg': null,
  'plain-images/test-image.png': alpha,
};
