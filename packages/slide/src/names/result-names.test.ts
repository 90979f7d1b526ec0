import { describe, expect, it } from 'vitest';
import { resultNameOf, slideStemOf, withoutResults } from './result-names.ts';

describe('resultNameOf', () => {
  it.each([
    ['CMU-1_likelihood_map.tif', { slide: 'cmu-1', kind: 'raster' }],
    ['tumor_001_mask.TIF', { slide: 'tumor_001', kind: 'raster' }],
    ['a.svs_mask.png', { slide: 'a.svs', kind: 'raster' }],
    ['a_detections.geojson.gz', { slide: 'a', kind: 'vector' }],
    ['a.geojson', { slide: 'a', kind: 'vector' }],
    ['a.svs', null],
    ['_mask.tif', null],
  ])('returns slide and kind if the name is one of a result, else null: %s', (name, expected) => {
    expect(resultNameOf(name)).toEqual(expected);
  });
});

it('slideStemOf removes the extension of a slide name', () => {
  expect([slideStemOf('A.ome.tiff'), slideStemOf('b.1.svs')]).toEqual(['a', 'b.1']);
});

it('withoutResults omits results of slides in the list, and keeps files that only look like results', () => {
  expect(withoutResults(['a.svs', 'a_mask.tif', 'b_mask.tif', 'a.geojson'])).toEqual(['a.svs', 'b_mask.tif']);
});
