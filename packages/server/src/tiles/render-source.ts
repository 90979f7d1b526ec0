/** The slide file of a rendered tile, the client that waits for the tile, and the names of tiles and views in the tile cache. */
import type { DeepZoomAddress, Requester, SlideLocation, TileColour, View } from '@lamina/slide';

/** A slide file and the fingerprint that it must have, so that no tile of another version of the file is served. */
export interface RenderSource {
  readonly location: SlideLocation;
  readonly fingerprint: string;
}

export interface TileClient {
  /** Account and image session (credential for pixels) whose share of the render queue the request uses. */
  readonly requester: Requester;
  /** Aborted when the client disconnects. Read only when the tile has to be rendered or fetched, so it may be a getter. */
  readonly signal: AbortSignal;
}

/** Returns the name of a tile in the cache of its slide, for example `12_3_4-srgb`. The name is also a part of the tile's ETag. */
export const tileNameIn = (
  { dziLevel, column, row }: DeepZoomAddress,
  colour: TileColour = 'scanned',
): string => `${dziLevel}_${column}_${row}${colour === 'srgb' ? '-srgb' : ''}`;

/** Returns the name of a view, a rectangle of the slide at any size, in the cache of its slide; also a part of its ETag. */
export function viewName(view: View): string {
  const { x, y, width, height, toWidth, toHeight, rotation, isMirrored, isGrey, format, padTo } = view;
  const numbers = [x, y, width, height, toWidth, toHeight, rotation].join('_');
  const padding = padTo ? `-padded-${padTo.join('_')}` : '';
  return `view-${numbers}${isMirrored ? '-mirrored' : ''}${isGrey ? '-grey' : ''}${padding}-${format}`;
}
