/**
 * Names of files that hold results of a program for the slide beside them, as ASAP and the Camelyon challenges write them:
 * `<slide>_likelihood_map.tif`, `<slide>_mask.tif`, `<slide>_detections.geojson`, `<slide>.geojson`. `<slide>` is the name of the
 * slide file with or without its extension.
 */

interface ResultName {
  /** Name of the slide in lower case, with or without its extension. */
  readonly slide: string;
  readonly kind: 'raster' | 'vector';
}

const rasterName = /^(.+)_(?:likelihood_map|mask)\.(?:tiff?|png)$/;
const vectorName = /^(.+?)(?:_detections)?\.geojson(?:\.gz)?$/;

/** Returns which slide the name speaks of; null for other names. */
export function resultNameOf(name: string): ResultName | null {
  const lower = name.toLowerCase();
  const [, raster] = rasterName.exec(lower) ?? [];
  if (raster !== undefined) return { slide: raster, kind: 'raster' };
  const [, vector] = vectorName.exec(lower) ?? [];
  return vector === undefined ? null : { slide: vector, kind: 'vector' };
}

/** Returns the name of a slide file without its extension, in lower case: `slide.ome.tif` is `slide`. */
export function slideStemOf(fileName: string): string {
  return fileName.toLowerCase().replace(/(?:\.ome)?\.[^.]+$/, '');
}

/** Leaves out the results of other files of the list, which are no slides. */
export function withoutResults(names: readonly string[]): string[] {
  const slides = new Set(names.flatMap((name) => [name.toLowerCase(), slideStemOf(name)]));
  return names.filter((name) => {
    const result = resultNameOf(name);
    return result === null || !slides.has(result.slide);
  });
}
