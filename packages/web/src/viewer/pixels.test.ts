import { describe, expect, it } from 'vitest';
import { mayPass, type PixelFailure } from './pixels.ts';

const status = (code: number): PixelFailure => ({ kind: 'status', status: code, message: '' });

describe('asking again later', () => {
  it.each([
    ['a session that has ended', status(401)],
    ['too many requests', status(429)],
    ['a server that is busy', status(503)],
    ['no answer', { kind: 'other' }],
    ['a session that could not be made', { kind: 'session-lost' }],
  ] as const)('may help with %s', (_, failure) => {
    expect(mayPass(failure)).toBe(true);
  });

  it.each([
    ['a tile that is not there', status(404)],
    ['a damaged file', status(502)],
    ['what cannot be read', { kind: 'unreadable' }],
  ] as const)('does not help with %s', (_, failure) => {
    expect(mayPass(failure)).toBe(false);
  });
});
