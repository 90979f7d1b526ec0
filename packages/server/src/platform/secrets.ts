/** Opaque secrets: tokens, ids of image sessions (the credentials of pixel requests), e-mailed codes. The database stores only hashes. */
import { hash, randomBytes } from 'node:crypto';
import { apiTokenPrefix } from '@lamina/contract';

/**
 * Returns a secret of 256 random bits as 43 characters of base64url. It never starts with the prefix of API tokens, because the server
 * would mistake such a bearer token of a sign-in for an API token, and reject it.
 *
 * @param random returns a number of random bytes
 */
export function newSecret(random: (size: number) => Buffer = randomBytes): string {
  for (;;) {
    const secret = random(32).toString('base64url');
    if (!secret.startsWith(apiTokenPrefix)) return secret;
  }
}

/** Returns the SHA-256 hash of a secret as base64url. The hash needs no salt, because the secret is random. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64url');
}

/** Hashes by secret. A viewer sends the same secret with hundreds of requests per second. */
const recentHashes = new Map<string, string>();
const maxRecentHashes = 1000;
/** Maximum time for which a secret stays in memory. */
const recentMs = 5000;

/** Returns the same as `hashSecret`, from a cache if possible: hashing takes a tenth of the time of a tile request. */
export function hashRecentSecret(secret: string): string {
  const cached = recentHashes.get(secret);
  if (cached !== undefined) return cached;
  if (recentHashes.size >= maxRecentHashes) recentHashes.clear();
  if (recentHashes.size === 0) setTimeout(() => recentHashes.clear(), recentMs).unref();
  const hashed = hashSecret(secret);
  recentHashes.set(secret, hashed);
  return hashed;
}
