/**
 * Encryption at rest (AES-256-GCM) of those secrets in the database that the server must be able to read: second-factor secrets and
 * queued e-mails. The key is not in the database, so a stolen copy of the database does not reveal the secrets.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { Config } from './config.ts';

export interface Encryption {
  /**
   * Encrypts a string.
   *
   * @param purpose kind and owner of the string; decryption requires the same value
   * @returns initialisation vector, authentication tag and ciphertext, base64url
   */
  encrypt(text: string, purpose: string): string;
  /** Decrypts a string. @throws an error when the key or the purpose differs, or the data was changed */
  decrypt(encrypted: string, purpose: string): string;
  /** Returns a secret (base64url of 256 bits) that depends on the key and the purpose, and reveals nothing about the key. */
  deriveSecret(purpose: string): string;
}

const algorithm = 'aes-256-gcm';
const ivLength = 12; // bytes; a random value of 96 bits, as NIST SP 800-38D section 8.2.2 recommends
const tagLength = 16; // bytes

/** Returns 32 bytes that HKDF (RFC 5869) derives from the key material without a salt; the purpose is the `info` of HKDF. */
function deriveKey(keyMaterial: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', keyMaterial, '', purpose, 32));
}

/** Creates the encryption with SECRET_KEY or, without it, with a key file in `dataDir` that only the owner can read. */
export function createEncryption({ dataDir, secretKey }: Pick<Config, 'dataDir' | 'secretKey'>): Encryption {
  const keyMaterial = secretKey ?? readOrCreateKey(keyFile(dataDir));
  const key = deriveKey(keyMaterial, 'sealing'); // this word is part of the key derivation and must never change
  return {
    deriveSecret: (purpose) => deriveKey(keyMaterial, `secret ${purpose}`).toString('base64url'),
    encrypt(text, purpose) {
      const iv = randomBytes(ivLength);
      const cipher = createCipheriv(algorithm, key, iv, { authTagLength: tagLength }).setAAD(
        Buffer.from(purpose),
      );
      const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString('base64url');
    },
    decrypt(encrypted, purpose) {
      const bytes = Buffer.from(encrypted, 'base64url');
      const iv = bytes.subarray(0, ivLength);
      const tag = bytes.subarray(ivLength, ivLength + tagLength);
      const decipher = createDecipheriv(algorithm, key, iv, { authTagLength: tagLength })
        .setAAD(Buffer.from(purpose))
        .setAuthTag(tag);
      // undefined: the input has no encoding, because it is bytes
      return (
        decipher.update(bytes.subarray(ivLength + tagLength), undefined, 'utf8') + decipher.final('utf8')
      );
    },
  };
}

/** Returns the path of the key file that is used without SECRET_KEY. */
export function keyFile(dataDir: string): string {
  return path.join(dataDir, 'secret.key');
}

/** Reads the key file, which the first start creates. If several processes start at once, all use the first one's file. */
function readOrCreateKey(file: string): string {
  if (fs.existsSync(file)) return fs.readFileSync(file, 'utf8').trim();
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const newFile = `${file}.${process.pid}`;
  fs.writeFileSync(newFile, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flush: true });
  try {
    fs.linkSync(newFile, file); // unlike a rename, fails when another process has created the file
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    fs.rmSync(newFile);
  }
  return fs.readFileSync(file, 'utf8').trim();
}
