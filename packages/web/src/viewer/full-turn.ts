/** Returns the same angle in 0 ≤ angle < 360 degrees. */
export function withinFullTurn(degrees: number): number {
  return ((degrees % 360) + 360) % 360;
}
