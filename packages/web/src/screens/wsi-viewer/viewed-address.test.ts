import { describe, expect, it } from 'vitest';
import { formatViewed, parseViewed } from './viewed-address.ts';

const field = { x: 10, y: 20.5, zoom: 0.5, rotation: 0, isMirrored: false };

describe('the query parameters of the viewer’s URL', () => {
  it.each([
    ['no slide', ''],
    ['a whole slide', 'image=a'],
    ['a field of a slide', 'image=a&x=10&y=20.5&zoom=0.5'],
    [
      'a field of each of two slides',
      'image=a&x=10&y=20.5&zoom=0.5&beside=b&bx=1&by=2&bzoom=0.25&brotation=90&bmirror=1',
    ],
    ['a slide with its colours as scanned', 'image=a&x=10&y=20.5&zoom=0.5&colours=scanned'],
    [
      'the result layers of each of two slides',
      'image=a&results=9f1c2ab3_o60_f1e-7*01d2e3f4_x*swipe-50&beside=b&b-results=-',
    ],
    ['two fields of one slide', 'image=a&x=1&y=2&zoom=1&beside=a&bx=3&by=4&bzoom=1'],
  ])('stay the same when parseViewed reads them and formatViewed writes them again (%s)', (_, query) => {
    expect(`${formatViewed(parseViewed(new URLSearchParams(query)))}`).toBe(query);
  });

  it('no longer contain the second slide and its field after a comparison has ended', () => {
    const viewed = parseViewed(
      new URLSearchParams('image=a&x=10&y=20.5&zoom=0.5&beside=b&bx=1&by=2&bzoom=1'),
    );
    expect(viewed.first).toEqual({ imageId: 'a', field, results: null });
    expect(`${formatViewed({ ...viewed, second: null })}`).toBe('image=a&x=10&y=20.5&zoom=0.5');
  });

  it('are read as the whole slide when a number of the field (visible part) is invalid', () => {
    const viewed = parseViewed(new URLSearchParams('image=a&beside=b&bx=1&by=two&bzoom=1'));
    expect(viewed.second).toEqual({ imageId: 'b', field: null, results: null });
  });

  it('are read as no slide when the parameter "image" is empty', () => {
    expect(parseViewed(new URLSearchParams('image=&x=1&y=1&zoom=1')).first).toBeNull();
  });

  it.each([
    ['is "<script>"', '<script>'],
    ['is longer than 4000 characters', 'a'.repeat(4001)],
    ['is empty', ''],
  ])('are read as no result layers when the parameter "results" %s', (_, results) => {
    expect(parseViewed(new URLSearchParams({ image: 'a', results })).first?.results).toBeNull();
  });
});
