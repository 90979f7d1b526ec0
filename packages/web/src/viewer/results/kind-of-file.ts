import type { ResultKind } from '@lamina/contract';

/** Suffixes of result files that a person may choose. */
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
const rasters = /\.(tiff?|png|dcm)$/i;

/** Returns what a file with this name most probably contains. */
export function kindOfFile(name: string): ResultKind {
  return rasters.test(name) ? 'raster' : 'vector';
}

/** Returns the name that a layer of this file has at first. */
export function layerNameOf(file: string): string {
  const name = file.replace(/\.gz$/i, '').replace(/\.[^.]+$/, '');
  return (name === '' ? file : name).slice(0, 200);
}
