import { describe, expect, it } from 'vitest';
import { hasSlideName, isSlideByItself } from './slide-endings.ts';

describe('a name that ends like a slide', () => {
  it.each([
    ['a.svs', true, true],
    ['a.SVS', true, true],
    ['a.ome.tiff', true, true],
    ['a.mrxs', true, false],
    ['a.dcm', true, false],
    ['a.vsi', true, false],
    ['.svs', false, false],
    ['a.txt', false, false],
    ['Thumbs.db', false, false],
  ])('%s', (name, isSlide, isByItself) => {
    expect([hasSlideName(name), isSlideByItself(name)]).toEqual([isSlide, isByItself]);
  });
});
