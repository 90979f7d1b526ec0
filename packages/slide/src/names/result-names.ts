/**
 * The names of files with analysis results for a slide in the same folder, as the program ASAP and the Camelyon
 * challenges write them: `<slide>_likelihood_map.tif`, `<slide>_mask.tif`, `<slide>_detections.geojson`,
 * `<slide>.geojson`. `<slide>` is the name of the slide file with or without its extension.
 */

interface ResultName {
  /** Name of the slide in lower case, with or without its extension. */
  readonly slideName: string;
  readonly kind: 'raster' | 'vector';
}

const rasterName = /^(.+)_(?:likelihood_map|mask)\.(?:tiff?|png)$/;
const vectorName = /^(.+?)(?:_detections)?\.geojson(?:\.gz)?$/;

/** Returns the slide and kind of result that a file name stands for; null when it is not the name of a result. */
export function resultNameOf(name: string): ResultName | null {
  const lower = name.toLowerCase();
  const [, slideOfRaster] = rasterName.exec(lower) ?? [];
  if (slideOfRaster !== undefined) return { slideName: slideOfRaster, kind: 'raster' };
  const [, slideOfVector] = vectorName.exec(lower) ?? [];
  return slideOfVector === undefined ? null : { slideName: slideOfVector, kind: 'vector' };
}

/** Returns the name of a slide file in lower case without its extension: `slide` for `Slide.ome.tif`. */
export function slideStemOf(fileName: string): string {
  return fileName.toLowerCase().replace(/(?:\.ome)?\.[^.]+$/, '');
}

/** Returns the names without analysis results of slides in the list. `x.geojson` is omitted even without a slide `x`: it is no slide. */
export function withoutResults(names: readonly string[]): string[] {
  const slides = new Set(names.flatMap((name) => [name.toLowerCase(), slideStemOf(name)]));
  return names.filter((name) => {
    const result = resultNameOf(name);
    return result === null || !slides.has(result.slideName);
  });
}
