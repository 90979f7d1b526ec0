import { describe, expect, it } from 'vitest';
import { resultNameOf, slideStemOf, withoutResults } from './result-names.ts';

describe('resultNameOf (recognises files with analysis results of a slide by their names)', () => {
  it.each([
    ['CMU-1_likelihood_map.tif', 'raster', 'cmu-1'],
    ['tumor_001_mask.TIF', 'raster', 'tumor_001'],
    ['a.svs_mask.png', 'raster', 'a.svs'],
    ['a_detections.geojson.gz', 'vector', 'a'],
    ['a.geojson', 'vector', 'a'],
  ])('recognises the file "%s" as a %s result of the slide "%s"', (name, kind, slideName) => {
    expect(resultNameOf(name)).toEqual({ slideName, kind });
  });

  it.each(['a.svs', '_mask.tif'])(
    'returns null for the file name "%s", which is not a slide name followed by a result suffix',
    (name) => {
      expect(resultNameOf(name)).toBeNull();
    },
  );
});

it('slideStemOf returns the name of a slide file in lower case and without its extension', () => {
  expect([slideStemOf('A.ome.tiff'), slideStemOf('b.1.svs')]).toEqual(['a', 'b.1']);
});

it('withoutResults removes analysis results of listed slides from a list of file names, and keeps results of other slides', () => {
  expect(withoutResults(['a.svs', 'a_mask.tif', 'b_mask.tif', 'a.geojson'])).toEqual(['a.svs', 'b_mask.tif']);
});
