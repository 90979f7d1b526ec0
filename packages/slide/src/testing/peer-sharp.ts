/** Reads TIFF files with sharp, to compare pixels with the product's own TIFF reader. */
import type sharp from 'sharp';
import { loadSharp } from '../decode/load-sharp.ts';

/** Loads sharp as the product does, and unblocks the TIFF loader of libvips, which the product blocks, in this process. */
export async function loadPeerSharp(): Promise<typeof sharp> {
  const loaded = await loadSharp();
  loaded.unblock({ operation: ['VipsForeignLoadTiff'] });
  return loaded;
}
