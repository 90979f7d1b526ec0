import { describe, expect, it } from 'vitest';
import { tileNameOf } from './tile-name.ts';

describe('tileNameOf (parser of Deep Zoom tile paths)', () => {
  it('returns level, column and row for a valid tile path such as 14 and 3_0.jpg', () => {
    expect(tileNameOf('14', '3_0.jpg')).toEqual({ dziLevel: 14, column: 3, row: 0 });
    expect(tileNameOf('0', '0_0.jpeg')).toEqual({ dziLevel: 0, column: 0, row: 0 });
  });

  it.each([
    ['1', '0_0', 'the file extension is missing'],
    ['1', '0_0.png', 'the extension is not jpg or jpeg'],
    ['1', '0_0.JPG', 'the extension has capital letters'],
    ['1', '0_0.jpg.jpg', 'there are two extensions'],
    ['1', '0_0.jpgx', 'a letter follows the extension'],
    ['1', '00_0.jpg', 'the column has a leading zero'],
    ['1', '-1_0.jpg', 'the column is negative'],
    ['1', '+1_0.jpg', 'the column has a plus sign'],
    ['1', '1e1_0.jpg', 'the column has an exponent'],
    ['1', '0x1_0.jpg', 'the column is hexadecimal'],
    ['1', ' 1_0.jpg', 'the column begins with a space'],
    ['1', '1_0.jpg\n', 'a line break follows the extension'],
    ['1', '1.0_0.jpg', 'the column is not a whole number'],
    ['1', '1,0.jpg', 'a comma separates column and row'],
    ['1', '1_.jpg', 'the row is missing'],
    ['1', '_1.jpg', 'the column is missing'],
    ['1', '9999999999_0.jpg', 'the column has ten digits'],
    ['1', '..', 'the tile names the parent folder'],
    ['1', '../0_0.jpg', 'the tile is in the parent folder'],
    ['1', '٣_0.jpg', 'the column is an Arabic digit'],
    ['01', '0_0.jpg', 'the level has a leading zero'],
    ['-1', '0_0.jpg', 'the level is negative'],
    ['', '0_0.jpg', 'the level is missing'],
    ['1.', '0_0.jpg', 'the level ends with a dot'],
    ['..', '0_0.jpg', 'the level names the parent folder'],
    ['9999999999', '0_0.jpg', 'the level has ten digits'],
  ])('returns null for the path segments %j and %j, because %s', (level, tile) => {
    expect(tileNameOf(level, tile)).toBeNull();
  });
});
