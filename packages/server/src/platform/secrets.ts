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

/** Hashes of secrets received in the last seconds, because a viewer sends the same one with hundreds of requests a second. */
const recentHashes = new Map<string, string>();
const maxRecent = 1000;
/** Maximum time for which a secret is remembered. */
const recentMs = 5000;

/** Like `hashSecret`, but caches the hashes of recent secrets. Hashing takes a tenth of the time of a tile. */
export function hashRecentSecret(secret: string): string {
  const known = recentHashes.get(secret);
  if (known !== undefined) return known;
  if (recentHashes.size >= maxRecent) recentHashes.clear();
  if (recentHashes.size === 0) setTimeout(() => recentHashes.clear(), recentMs).unref();
  const hashed = hashSecret(secret);
  recentHashes.set(secret, hashed);
  return hashed;
}
