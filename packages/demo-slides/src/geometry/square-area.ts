/** A square part of the slide, in pixels at full resolution. */
export interface SquareArea {
  /** Position of the top-left corner. */
  readonly x: number;
  readonly y: number;
  /** Side length. */
  readonly size: number;
}
