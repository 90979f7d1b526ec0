/**
 * Divides a picture (a decoded tile) along one axis into spans of whole device pixels. A 2D canvas then draws the
 * picture without smoothed edges, which would show as seams between tiles.
 */

/** Minimum for half the `sourceLength` of a span at an edge of the part: the canvas draws nothing from an empty source. */
const minHalfLength = 0.01;

/** A part of a picture along one axis (the source), and the whole device pixels on which it is drawn (the target). */
export interface Span {
  /** Start and length in pixels of the picture; may be fractions. */
  readonly sourceStart: number;
  readonly sourceLength: number;
  /** Start and length in whole device pixels. */
  readonly targetStart: number;
  readonly targetLength: number;
}

/**
 * Returns the spans that draw a part of a picture between two positions of the canvas.
 *
 * If the first or the last device pixel extends beyond the part, it gets a span of its own. The source of this span has the same
 * middle as the device pixel, and one of its ends is the edge of the part. One further span draws the pixels between.
 *
 * @param start where the part begins on the canvas, in device pixels; may be a fraction
 * @param end where the part ends on the canvas
 * @param sourceStart where the part begins in the picture, in pixels of the picture
 * @param sourceEnd where the part ends in the picture
 */
export function spansOf(start: number, end: number, sourceStart: number, sourceEnd: number): Span[] {
  const firstPixel = Math.round(start);
  const lastPixelEnd = Math.round(end);
  /** Pixels of the picture per device pixel. */
  const scale = (sourceEnd - sourceStart) / (end - start);
  const sourceAt = (devicePosition: number) => sourceStart + (devicePosition - start) * scale;
  const spans: Span[] = [];
  let [middleStart, middleEnd] = [firstPixel, lastPixelEnd];
  if (sourceAt(firstPixel) < sourceStart) {
    // The source reaches from the edge of the part to the middle of the device pixel, and as far again beyond the middle.
    const halfLength = Math.max(minHalfLength, sourceAt(firstPixel + 0.5) - sourceStart);
    spans.push({ sourceStart, sourceLength: 2 * halfLength, targetStart: firstPixel, targetLength: 1 });
    middleStart += 1;
  }
  if (sourceAt(lastPixelEnd) > sourceEnd) {
    const halfLength = Math.max(minHalfLength, sourceEnd - sourceAt(lastPixelEnd - 0.5));
    spans.push({
      sourceStart: sourceEnd - 2 * halfLength,
      sourceLength: 2 * halfLength,
      targetStart: lastPixelEnd - 1,
      targetLength: 1,
    });
    middleEnd -= 1;
  }
  if (middleEnd > middleStart) {
    spans.push({
      sourceStart: sourceAt(middleStart),
      sourceLength: sourceAt(middleEnd) - sourceAt(middleStart),
      targetStart: middleStart,
      targetLength: middleEnd - middleStart,
    });
  }
  return spans;
}
