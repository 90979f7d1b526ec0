/** The worker of `hash-file.ts`: receives a file as a message and replies with its SHA-256, hexadecimal. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';

const chunkBytes = 4 * 1024 * 1024;

/** The checksum of the file, or why it cannot be read. */
export type HashAnswer = { readonly sha256: string } | { readonly unreadable: string };

async function hash(file: Blob): Promise<HashAnswer> {
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
  void hash(data).then((answer) => self.postMessage(answer));
});
