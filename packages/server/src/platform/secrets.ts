/** Opaque secrets: tokens, image sessions and e-mailed codes. The database stores only their hashes. */
import { hash, randomBytes } from 'node:crypto';

/** Returns 256 random bits as base64url: 43 characters. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns the SHA-256 as base64url. A random secret needs no salt. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64url');
}
