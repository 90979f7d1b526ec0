/** The same angle from 0 up to, not including, 360 degrees. */
export function withinFullTurn(degrees: number): number {
  return ((degrees % 360) + 360) % 360;
}
