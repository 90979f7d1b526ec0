/** The web worker of `hash-file.ts`: receives a file as a message, and replies with its SHA-256 in hexadecimal. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';

/** The file is read in chunks of this size, so that it need not fit into memory. */
const chunkBytes = 4 * 1024 * 1024;

/** The reply: the checksum of the file, or why the browser cannot read it. */
export type HashReply = { readonly sha256: string } | { readonly unreadable: string };

async function hash(file: Blob): Promise<HashReply> {
  try {
    const hasher = sha256.create();
    for (let offset = 0; offset < file.size; offset += chunkBytes) {
      const chunk = await file.slice(offset, offset + chunkBytes).arrayBuffer();
      hasher.update(new Uint8Array(chunk));
    }
    return { sha256: bytesToHex(hasher.digest()) };
  } catch (error) {
    return { unreadable: String(error) };
  }
}

self.addEventListener('message', ({ data }: MessageEvent<Blob>) => {
  void hash(data).then((reply) => self.postMessage(reply));
});
