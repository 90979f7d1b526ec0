/**
 * Keeps what the server must read again, but a stolen copy of the database must not tell: secrets of second factors,
 * letters that wait. The key is not in the database.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { Config } from './config.ts';

export interface Sealing {
  /** @param purpose what it is and whose; the same is needed to open it */
  seal(text: string, purpose: string): string;
  /** @throws when it was sealed with another key, for another purpose, or changed since */
  open(sealed: string, purpose: string): string;
}

const algorithm = 'aes-256-gcm';
const ivLength = 12; // NIST SP 800-38D section 8.2.2: random, 96 bits
const tagLength = 16;

/** The key of the settings; without one, a key of its own in `dataDir`, for the owner of the folder alone. */
export function createSealing({ dataDir, secretKey }: Pick<Config, 'dataDir' | 'secretKey'>): Sealing {
  const given = secretKey ?? keyIn(keyFile(dataDir));
  const key = Buffer.from(hkdfSync('sha256', given, '', 'sealing', 32));
  return {
    seal(text, purpose) {
      const iv = randomBytes(ivLength);
      const cipher = createCipheriv(algorithm, key, iv, { authTagLength: tagLength }).setAAD(
        Buffer.from(purpose),
      );
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
    },
    open(sealed, purpose) {
      const bytes = Buffer.from(sealed, 'base64url');
      const iv = bytes.subarray(0, ivLength);
      const tag = bytes.subarray(ivLength, ivLength + tagLength);
      const decipher = createDecipheriv(algorithm, key, iv, { authTagLength: tagLength })
        .setAAD(Buffer.from(purpose))
        .setAuthTag(tag);
      return (
        decipher.update(bytes.subarray(ivLength + tagLength), undefined, 'utf8') + decipher.final('utf8')
      );
    },
  };
}

/** Where the key is kept when the settings give none. */
export function keyFile(dataDir: string): string {
  return path.join(dataDir, 'secret.key');
}

/** Made at the first start; of several processes that start at once, the first one's stays. */
function keyIn(file: string): string {
  if (fs.existsSync(file)) return fs.readFileSync(file, 'utf8').trim();
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const unfinished = `${file}.${process.pid}`;
  fs.writeFileSync(unfinished, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flush: true });
  try {
    fs.linkSync(unfinished, file); // unlike a rename, refuses where there is one already
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    fs.rmSync(unfinished);
  }
  return fs.readFileSync(file, 'utf8').trim();
}
