/** Parses the tile URLs of Deep Zoom: `{level}/{column}_{row}.jpg`. */

export interface TileName {
  /** Level 0 is one pixel; each further level doubles width and height. */
  readonly dziLevel: number;
  readonly column: number;
  readonly row: number;
}

/** Decimal without sign or leading zeros, so that each number has one spelling. The pattern captures the number. */
const wholeNumber = '(0|[1-9]\\d{0,8})';
const levelPattern = new RegExp(`^${wholeNumber}$`);
const tilePattern = new RegExp(`^${wholeNumber}_${wholeNumber}\\.jpe?g$`);

/** Parses the last two segments of a tile URL, such as `14` and `3_0.jpg`; returns null for every other spelling. */
export function tileNameOf(level: string, tile: string): TileName | null {
  const levelMatch = levelPattern.exec(level);
  const tileMatch = tilePattern.exec(tile);
  if (levelMatch === null || tileMatch === null) return null;
  return { dziLevel: Number(levelMatch[1]), column: Number(tileMatch[1]), row: Number(tileMatch[2]) };
}
