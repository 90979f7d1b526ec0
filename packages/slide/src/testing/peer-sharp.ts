/** Reads TIFF files with sharp, to compare pixels with the product's own TIFF reader. */
import type sharp from 'sharp';
import { loadSharp } from '../decode/load-sharp.ts';

/** Loads sharp with the product's configuration, and unblocks the TIFF loader of libvips in this process. */
export async function loadPeerSharp(): Promise<typeof sharp> {
  const loaded = await loadSharp();
  loaded.unblock({ operation: ['VipsForeignLoadTiff'] });
  return loaded;
}
