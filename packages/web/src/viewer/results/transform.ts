/** Affine transforms between a result layer, the slide and the screen: x′ = a·x + c·y + e and y′ = b·x + d·y + f. */
import type { Placement } from '../overlay/placement.ts';

/** Returns the transform with the six numbers of `registration` in the layer's descriptor, in the order a b c d e f. */
export function transformOf([a = 1, b = 0, c = 0, d = 1, e = 0, f = 0]: readonly number[]): Placement {
  return { a, b, c, d, e, f };
}

/** Returns the transform that applies `first`, then `second`. */
export function combine(second: Placement, first: Placement): Placement {
  return {
    a: second.a * first.a + second.c * first.b,
    b: second.b * first.a + second.d * first.b,
    c: second.a * first.c + second.c * first.d,
    d: second.b * first.c + second.d * first.d,
    e: second.a * first.e + second.c * first.f + second.e,
    f: second.b * first.e + second.d * first.f + second.f,
  };
}

/** Returns the transform followed by a scaling about the origin. */
export function scaled({ a, b, c, d, e, f }: Placement, factor: number): Placement {
  return { a: a * factor, b: b * factor, c: c * factor, d: d * factor, e: e * factor, f: f * factor };
}
