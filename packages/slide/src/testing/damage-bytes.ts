/** Generates random damage to files for property-based tests. */
import fc from 'fast-check';

/**
 * A fault that any file may have: bytes replaced by other values, a truncated end, or a range deleted or repeated.
 * Positions (`places`, `where`) are shares of the file's length, 0 to 1.
 */
export type ByteFault =
  | { readonly kind: 'flip'; readonly places: readonly number[]; readonly values: readonly number[] }
  | { readonly kind: 'cut'; readonly where: number }
  | { readonly kind: 'delete' | 'double'; readonly where: number; readonly length: number };

/** Generates a share of a file's length: from 0 to less than 1, so that a position computed from it is inside the file. */
export const anyShare = fc.double({ min: 0, max: 0.999_999, noNaN: true });
/** Generates numbers that are likely to break a parser: boundary values of integer types, and random integers. */
export const hostileNumber = fc.oneof(
  fc.constantFrom(
    0,
    1,
    2,
    7,
    8,
    9,
    255,
    256,
    32_768,
    65_535,
    65_536,
    2 ** 31 - 1,
    2 ** 31,
    2 ** 32 - 2,
    2 ** 32 - 1,
  ),
  fc.integer({ min: 0, max: 4000 }),
  fc.nat(),
);

/** Generates a fault of any kind. */
export const anyByteFault: fc.Arbitrary<ByteFault> = fc.oneof(
  fc.record({
    kind: fc.constant('flip' as const),
    places: fc.array(anyShare, { minLength: 1, maxLength: 16 }),
    values: fc.array(fc.nat(255), { minLength: 1, maxLength: 16 }),
  }),
  fc.record({ kind: fc.constant('cut' as const), where: anyShare }),
  fc.record({
    kind: fc.constantFrom('delete' as const, 'double' as const),
    where: anyShare,
    length: fc.integer({ min: 1, max: 300 }),
  }),
);

/** Returns a damaged copy of a file. */
export function damageBytes(bytes: Uint8Array, fault: ByteFault): Uint8Array {
  const copy = Buffer.from(bytes);
  const at = 'where' in fault ? Math.floor(fault.where * copy.length) : 0;
  switch (fault.kind) {
    case 'flip':
      for (const [i, place] of fault.places.entries()) {
        copy[Math.floor(place * copy.length)] = fault.values[i % fault.values.length] as number;
      }
      return copy;
    case 'cut':
      return copy.subarray(0, at);
    case 'delete':
      return Buffer.concat([copy.subarray(0, at), copy.subarray(at + fault.length)]);
    case 'double':
      return Buffer.concat([copy.subarray(0, at + fault.length), copy.subarray(at)]);
  }
}
