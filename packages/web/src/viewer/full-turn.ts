/** Returns the equivalent angle from 0 (inclusive) to 360 degrees (exclusive); −90 becomes 270. */
export function withinFullTurn(degrees: number): number {
  return ((degrees % 360) + 360) % 360;
}
