/** Opaque secrets: tokens, image sessions (ids for tile requests), e-mailed codes. The database stores only hashes. */
import { hash, randomBytes } from 'node:crypto';

/** Returns a secret of 256 random bits as 43 characters of base64url. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns the SHA-256 hash of a secret as base64url. The hash needs no salt, because the secret is random. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64url');
}

/** Hashes by secret. A viewer sends the same secret with hundreds of requests per second. */
const recentHashes = new Map<string, string>();
const maxRecent = 1000;
/** Maximum time for which a secret stays in memory. */
const recentMs = 5000;

/** Returns the same as `hashSecret`, from a cache if possible: hashing takes a tenth of the time of a tile request. */
export function hashRecentSecret(secret: string): string {
  const cached = recentHashes.get(secret);
  if (cached !== undefined) return cached;
  if (recentHashes.size >= maxRecent) recentHashes.clear();
  if (recentHashes.size === 0) setTimeout(() => recentHashes.clear(), recentMs).unref();
  const hashed = hashSecret(secret);
  recentHashes.set(secret, hashed);
  return hashed;
}
