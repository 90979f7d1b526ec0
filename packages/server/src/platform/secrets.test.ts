import { apiTokenPrefix } from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { newSecret } from './secrets.ts';

describe('newSecret (random text for tokens and session ids)', () => {
  it('returns 43 random base64url characters, different ones at each call', () => {
    expect(newSecret()).toMatch(/^[\w-]{43}$/);
    expect(newSecret()).not.toBe(newSecret());
  });

  it('never returns a secret that starts with the prefix of API tokens', () => {
    const like = Buffer.from(apiTokenPrefix.padEnd(43, 'A'), 'base64url');
    const other = Buffer.alloc(32);
    const random = [like, other];
    expect(newSecret(() => random.shift() as Buffer)).toBe('A'.repeat(43));
  });
});
