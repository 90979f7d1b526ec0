/** The thread of hash-file.ts: the page stays usable while gigabytes are read. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';

const atOnceBytes = 4 * 1024 * 1024;

export type HashAnswer = { readonly sha256: string } | { readonly unreadable: string };

async function hash(file: Blob): Promise<HashAnswer> {
  try {
    const state = sha256.create();
    for (let from = 0; from < file.size; from += atOnceBytes) {
      const part = await file.slice(from, from + atOnceBytes).arrayBuffer();
      state.update(new Uint8Array(part));
    }
    return { sha256: bytesToHex(state.digest()) };
  } catch (error) {
    return { unreadable: String(error) };
  }
}

self.addEventListener('message', ({ data }: MessageEvent<Blob>) => {
  void hash(data).then((answer) => self.postMessage(answer));
});
