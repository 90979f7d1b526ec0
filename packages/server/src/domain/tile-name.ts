/** A Deep Zoom address as it is written in a path. */

export interface TileName {
  /** 0 is one pixel. */
  readonly dziLevel: number;
  readonly column: number;
  readonly row: number;
}

/** Plain decimal, no sign, no leading zero: each tile has one spelling. As a pattern, it captures the number. */
export const wholeNumber = '(0|[1-9]\\d{0,8})';
const levelPattern = new RegExp(`^${wholeNumber}$`);
const tilePattern = new RegExp(`^${wholeNumber}_${wholeNumber}\\.jpe?g$`);

/** `{z}` and `{x}_{y}.{format}` of the path; null for every other spelling. */
export function tileNameOf(level: string, tile: string): TileName | null {
  const dziLevel = levelPattern.exec(level);
  const place = tilePattern.exec(tile);
  if (dziLevel === null || place === null) return null;
  return { dziLevel: Number(dziLevel[1]), column: Number(place[1]), row: Number(place[2]) };
}
