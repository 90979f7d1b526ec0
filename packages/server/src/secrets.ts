/** Opaque secrets: tokens, image sessions and mailed codes. Only their hash is ever kept. */
import { hash, randomBytes } from 'node:crypto';

/** 256 random bits, base64url: 43 characters. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** SHA-256, base64url. What is random needs no salt. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64url');
}
