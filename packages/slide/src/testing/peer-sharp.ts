/** sharp with libvips' TIFF loader, which product code blocks, as a second reader to compare pixels with. */
import type sharp from 'sharp';
import { loadSharp } from '../decode/load-sharp.ts';

/** @returns sharp with the product's configuration, but with the TIFF loader unblocked in this process */
export async function loadPeerSharp(): Promise<typeof sharp> {
  const loaded = await loadSharp();
  loaded.unblock({ operation: ['VipsForeignLoadTiff'] });
  return loaded;
}
