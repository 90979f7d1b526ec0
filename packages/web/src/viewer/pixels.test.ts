import { describe, expect, it } from 'vitest';
import { canRetry, type PixelFailure } from './pixels.ts';

const status = (code: number): PixelFailure => ({ kind: 'status', status: code, message: '' });

describe('canRetry (whether a later request for pixels may succeed)', () => {
  it.each([
    ['an expired image session (credential for tiles)', status(401)],
    ['too many requests', status(429)],
    ['a busy server', status(503)],
    ['status 502 without a message, from a proxy that does not reach the server', status(502)],
    ['a network error', { kind: 'other' }],
    ['an image session (credential for tiles) that could not be created', { kind: 'session-lost' }],
  ] as const)('returns true for %s', (_, failure) => {
    expect(canRetry(failure)).toBe(true);
  });

  it.each([
    ['a missing tile', status(404)],
    [
      'status 502 with a message, from the server, for a damaged file',
      { ...status(502), message: 'Slayt okunamadı.' },
    ],
    ['a response that cannot be read', { kind: 'unreadable' }],
  ] as const)('returns false for %s', (_, failure) => {
    expect(canRetry(failure)).toBe(false);
  });
});
