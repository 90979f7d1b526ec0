import { describe, expect, it } from 'vitest';
import { resultNameOf, slideStemOf, withoutResults } from './result-names.ts';

describe('resultNameOf (recognises files with analysis results of a slide by their names)', () => {
  it.each([
    ['CMU-1_likelihood_map.tif', { slideName: 'cmu-1', kind: 'raster' }],
    ['tumor_001_mask.TIF', { slideName: 'tumor_001', kind: 'raster' }],
    ['a.svs_mask.png', { slideName: 'a.svs', kind: 'raster' }],
    ['a_detections.geojson.gz', { slideName: 'a', kind: 'vector' }],
    ['a.geojson', { slideName: 'a', kind: 'vector' }],
    ['a.svs', null],
    ['_mask.tif', null],
  ])('for the file name "%s" returns %j (null if it does not name a result)', (name, expected) => {
    expect(resultNameOf(name)).toEqual(expected);
  });
});

it('slideStemOf returns the name of a slide file in lower case and without its extension', () => {
  expect([slideStemOf('A.ome.tiff'), slideStemOf('b.1.svs')]).toEqual(['a', 'b.1']);
});

it('withoutResults removes analysis results of listed slides from a list of file names, and keeps results of other slides', () => {
  expect(withoutResults(['a.svs', 'a_mask.tif', 'b_mask.tif', 'a.geojson'])).toEqual(['a.svs', 'b_mask.tif']);
});
