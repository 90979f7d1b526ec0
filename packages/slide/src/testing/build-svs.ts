/** What to build; everything has a default. */
export interface SvsPlan {
  /** Pixels at full resolution. */
  readonly width?: number;
  readonly height?: number;
  /** Pixels, both ways. */
  readonly tileSize?: number;
  /** Downsamples of the stored levels, full resolution first. */
  readonly downsamples?: readonly number[];
}

/** @returns the bytes of a small Aperio slide */
export async function buildSvs(_plan: SvsPlan = {}): Promise<Uint8Array> {
  throw new Error('Not built yet');
}
