import { describe, expect, it } from 'vitest';
import { tileNameOf } from './tile-name.ts';

describe('tileNameOf (parser of Deep Zoom tile paths)', () => {
  it('returns level, column and row for a valid tile path such as 14 and 3_0.jpg', () => {
    expect(tileNameOf('14', '3_0.jpg')).toEqual({ dziLevel: 14, column: 3, row: 0 });
    expect(tileNameOf('0', '0_0.jpeg')).toEqual({ dziLevel: 0, column: 0, row: 0 });
  });

  it.each([
    ['1', '0_0'],
    ['1', '0_0.png'],
    ['1', '0_0.JPG'],
    ['1', '0_0.jpg.jpg'],
    ['1', '0_0.jpgx'],
    ['1', '00_0.jpg'],
    ['1', '-1_0.jpg'],
    ['1', '+1_0.jpg'],
    ['1', '1e1_0.jpg'],
    ['1', '0x1_0.jpg'],
    ['1', ' 1_0.jpg'],
    ['1', '1_0.jpg\n'],
    ['1', '1.0_0.jpg'],
    ['1', '1,0.jpg'],
    ['1', '1_.jpg'],
    ['1', '_1.jpg'],
    ['1', '9999999999_0.jpg'],
    ['1', '..'],
    ['1', '../0_0.jpg'],
    ['1', '٣_0.jpg'],
    ['01', '0_0.jpg'],
    ['-1', '0_0.jpg'],
    ['', '0_0.jpg'],
    ['1.', '0_0.jpg'],
    ['..', '0_0.jpg'],
    ['9999999999', '0_0.jpg'],
  ])('returns null for the invalid tile path with the segments %j and %j', (level, tile) => {
    expect(tileNameOf(level, tile)).toBeNull();
  });
});
