/** Which pixels of a picture a 2D canvas draws on which device pixels, along one axis. */

/** An empty source draws nothing. */
const least = 0.01;

/** Part of a picture along one axis, and where it is drawn. */
export interface Span {
  readonly from: number;
  readonly length: number;
  readonly to: number;
  readonly drawn: number;
}

/**
 * Returns the middle of a side, and its outermost device pixels where these begin before the picture: their source has the
 * same middle as the device pixel, and ends with the picture.
 */
export function spansOf(start: number, end: number, from: number, until: number): Span[] {
  const first = Math.round(start);
  const last = Math.round(end);
  const scale = (until - from) / (end - start);
  const at = (device: number) => from + (device - start) * scale;
  const spans: Span[] = [];
  let [begin, stop] = [first, last];
  if (at(first) < from) {
    const middle = Math.max(least, at(first + 0.5) - from);
    spans.push({ from, length: 2 * middle, to: first, drawn: 1 });
    begin += 1;
  }
  if (at(last) > until) {
    const middle = Math.max(least, until - at(last - 0.5));
    spans.push({ from: until - 2 * middle, length: 2 * middle, to: last - 1, drawn: 1 });
    stop -= 1;
  }
  if (stop > begin) {
    spans.push({ from: at(begin), length: at(stop) - at(begin), to: begin, drawn: stop - begin });
  }
  return spans;
}
