/**
 * Square textures of grey values that repeat without seams. They are created once per slide and looked up for every pixel. The
 * strands of a texture with a direction run along x. Numbers without a name are chosen by eye.
 */
import { between, type Random } from '../geometry/random.ts';

export interface Texture {
  /** Side length, a power of two. */
  readonly size: number;
  /** Grey values row by row; about 0…1, or -1…1 for noise. */
  readonly values: Float32Array;
}

/** Returns the value of the pixel at a position; the texture repeats in every direction. */
export function nearestValue(texture: Texture, x: number, y: number): number {
  const mask = texture.size - 1;
  return texture.values[(Math.floor(y) & mask) * texture.size + (Math.floor(x) & mask)] as number;
}

/** Returns the value at a position, interpolated between its four pixels. */
export function sample(texture: Texture, x: number, y: number): number {
  const { size, values } = texture;
  const mask = size - 1;
  const left = Math.floor(x);
  const top = Math.floor(y);
  const fx = x - left;
  const fy = y - top;
  const x0 = left & mask;
  const x1 = (left + 1) & mask;
  const y0 = (top & mask) * size;
  const y1 = ((top + 1) & mask) * size;
  // Top left, top right, bottom left, bottom right.
  const a = values[y0 + x0] as number;
  const b = values[y0 + x1] as number;
  const c = values[y1 + x0] as number;
  const d = values[y1 + x1] as number;
  return (a + (b - a) * fx) * (1 - fy) + (c + (d - c) * fx) * fy;
}

/** Creates noise without a direction: mean 0, mostly within −1…1. Each radius (pixels) adds structures of its size. */
export function createSpeckle(random: Random, size: number, radii: readonly number[]): Texture {
  const values = new Float32Array(size * size);
  for (const radius of radii) {
    let layer: Float32Array = Float32Array.from(values, () => random() - 0.5);
    // Three passes of a box filter approximate a Gaussian; radius 0 leaves the pixels independent.
    for (let pass = 0; pass < 3 && radius > 0; pass++) layer = blur(layer, size, radius);
    let squareSum = 0;
    for (const value of layer) squareSum += value * value;
    // The sum of all layers gets a standard deviation of 0.45.
    const gain = 0.45 / Math.sqrt(squareSum / layer.length) / Math.sqrt(radii.length);
    for (let i = 0; i < values.length; i++) values[i] = (values[i] as number) + (layer[i] as number) * gain;
  }
  return { size, values };
}

/** Returns the values blurred by a box filter of `2 · radius + 1` pixels in both directions, by running sums. */
function blur(source: Float32Array, size: number, radius: number): Float32Array {
  const rows = new Float32Array(source.length);
  const columns = new Float32Array(source.length);
  const mask = size - 1;
  const span = radius * 2 + 1;
  for (let line = 0; line < size; line++) {
    let sum = 0;
    for (let k = -radius; k <= radius; k++) sum += source[line * size + (k & mask)] as number;
    for (let x = 0; x < size; x++) {
      rows[line * size + x] = sum / span;
      sum += source[line * size + ((x + radius + 1) & mask)] as number;
      sum -= source[line * size + ((x - radius) & mask)] as number;
    }
  }
  for (let line = 0; line < size; line++) {
    let sum = 0;
    for (let k = -radius; k <= radius; k++) sum += rows[(k & mask) * size + line] as number;
    for (let y = 0; y < size; y++) {
      columns[y * size + line] = sum / span;
      sum += rows[((y + radius + 1) & mask) * size + line] as number;
      sum -= rows[((y - radius) & mask) * size + line] as number;
    }
  }
  return columns;
}

interface FibreLook {
  /** Number of strands. */
  readonly count: number;
  /** Length of a strand, pixels: shortest and longest. */
  readonly length: readonly [number, number];
  /** Thickness of a strand, pixels: thinnest and thickest. */
  readonly thickness: readonly [number, number];
  /** Largest angle between a strand and x, radians. */
  readonly lean: number;
  /** Amplitude of the wave of a strand, pixels: smallest and largest. */
  readonly swing: readonly [number, number];
  /** Wavelength, pixels: shortest and longest. */
  readonly swingLength: readonly [number, number];
  /** Opacity of a strand, 0…1. */
  readonly cover: number;
  /** Blur radius, pixels. */
  readonly softness: number;
}

/** Creates overlapping strands: 0 between the strands, about 1 in the centre of a strand. */
export function createFibres(random: Random, size: number, look: FibreLook): Texture {
  const values = new Float32Array(size * size);
  const mask = size - 1;
  for (let strand = 0; strand < look.count; strand++) {
    const length = between(random, ...look.length);
    const halfWidth = between(random, ...look.thickness) / 2;
    const angle = (random() * 2 - 1) * look.lean;
    const swing = between(random, ...look.swing);
    const swingRate = (Math.PI * 2) / between(random, ...look.swingLength);
    const phase = random() * Math.PI * 2;
    const startX = random() * size;
    const startY = random() * size;
    const shade = between(random, 0.62, 1.08);
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    for (let along = 0; along < length; along++) {
      const sway = Math.sin(along * swingRate + phase) * swing;
      const x = startX + along * cos - sway * sin;
      const y = startY + along * sin + sway * cos;
      const taper = Math.min(1, along / 30, (length - along) / 30); // the last 30 pixels at each end become thin
      const taperedHalfWidth = halfWidth * (0.35 + 0.65 * taper);
      const column = Math.floor(x) & mask;
      for (let row = Math.floor(y - taperedHalfWidth); row <= y + taperedHalfWidth + 1; row++) {
        /** Distance from the centre line: 0 on it, 1 at the edge of the strand. */
        const offset = Math.abs(row - y) / taperedHalfWidth;
        if (offset >= 1) continue;
        const pixel = (row & mask) * size + column;
        const cover = Math.min(1, (1 - offset) * taperedHalfWidth * 0.8) * look.cover * taper;
        const value = shade * (0.72 + 0.28 * (1 - offset * offset));
        values[pixel] = (values[pixel] as number) * (1 - cover) + value * cover;
      }
    }
  }
  return { size, values: look.softness > 0 ? blur(values, size, look.softness) : values };
}

/**
 * Creates cross-sections of fibres or bundles as Voronoi cells of a jittered grid.
 *
 * @param spacing pixels between the centres; a divisor of `size`
 * @param gap value in the thin gaps between cross-sections, whose own values are about 1
 */
export function createCrossSections(random: Random, size: number, spacing: number, gap: number): Texture {
  const across = size / spacing; // cells along each side of the texture
  const centres = Array.from({ length: across * across }, () => ({
    x: between(random, 0.08, 0.92),
    y: between(random, 0.08, 0.92),
    shade: between(random, 0.72, 1.06),
  }));
  const values = new Float32Array(size * size);
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const column = Math.floor(x / spacing);
      const row = Math.floor(y / spacing);
      let nearestDistance = Number.POSITIVE_INFINITY;
      let secondDistance = Number.POSITIVE_INFINITY;
      let shade = 1;
      for (let r = row - 1; r <= row + 1; r++) {
        for (let c = column - 1; c <= column + 1; c++) {
          const centre = centres[((r + across) % across) * across + ((c + across) % across)];
          if (centre === undefined) continue;
          const dx = (c + centre.x) * spacing - x;
          const dy = (r + centre.y) * spacing - y;
          const distance = Math.sqrt(dx * dx + dy * dy);
          if (distance < nearestDistance) {
            secondDistance = nearestDistance;
            nearestDistance = distance;
            shade = centre.shade;
          } else if (distance < secondDistance) secondDistance = distance;
        }
      }
      const distanceToGap = secondDistance - nearestDistance; // 0 in the middle of a gap
      values[y * size + x] = shade * Math.min(1, gap + ((1 - gap) * distanceToGap) / 5);
    }
  }
  return { size, values };
}
