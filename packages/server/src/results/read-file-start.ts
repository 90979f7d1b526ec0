import { open } from 'node:fs/promises';

/** Returns the first 256 bytes of a file (fewer if it is shorter), from which callers recognise its format. */
export async function readFileStart(path: string): Promise<Uint8Array> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(256), 0, 256, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
