/** Reads the kind and the name of a result layer from the name of the file that a user uploads. */
import type { ResultKind } from '@lamina/contract';

/** File name extensions that the file dialog offers for result files. */
export const resultSuffixes = [
  '.tif',
  '.tiff',
  '.png',
  '.dcm',
  '.geojson',
  '.json',
  '.gz',
  '.csv',
  '.parquet',
];
/** Maximum length of a layer's name in characters; the server rejects longer names. */
export const maxNameLength = 200;
const rasterFileName = /\.(tiff?|png|dcm)$/i;

/** Guesses from the name of a file whether it contains a raster (heatmap or mask) or vectors (objects). */
export function kindOfFile(fileName: string): ResultKind {
  return rasterFileName.test(fileName) ? 'raster' : 'vector';
}

/** Returns the suggested name of a layer: the file name without extension, at most `maxNameLength` characters. */
export function layerNameOf(fileName: string): string {
  const name = fileName.replace(/\.gz$/i, '').replace(/\.[^.]+$/, '');
  return (name === '' ? fileName : name).slice(0, maxNameLength);
}
