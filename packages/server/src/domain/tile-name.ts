/** Parses tile addresses of Deep Zoom. */

export interface TileName {
  /** 0 is one pixel. */
  readonly dziLevel: number;
  readonly column: number;
  readonly row: number;
}

/** Decimal without sign or leading zeros, so that each tile has one spelling. The pattern captures the number. */
const wholeNumber = '(0|[1-9]\\d{0,8})';
const levelPattern = new RegExp(`^${wholeNumber}$`);
const tilePattern = new RegExp(`^${wholeNumber}_${wholeNumber}\\.jpe?g$`);

/** Parses `{z}` and `{x}_{y}.{format}` of the path; returns null for every other spelling. */
export function tileNameOf(level: string, tile: string): TileName | null {
  const dziLevel = levelPattern.exec(level);
  const place = tilePattern.exec(tile);
  if (dziLevel === null || place === null) return null;
  return { dziLevel: Number(dziLevel[1]), column: Number(place[1]), row: Number(place[2]) };
}
