import { describe, expect, it } from 'vitest';
import { strengthOf } from './PasswordStrength.tsx';

describe('strengthOf (strength of a password)', () => {
  it.each([
    ['kesit12', 'tooShort', '7 characters'],
    ['aaaaaaaaaaaaaaaa', 'weak', '1 distinct character'],
    ['incekesit', 'weak', '9 characters of one kind'],
    ['Kesit-2026', 'fair', '10 characters of four kinds'],
    ['incekesitler', 'fair', '12 characters of one kind'],
    ['ince bir kesit daha', 'strong', '19 characters'],
    ['Kesit-2026-ab', 'strong', '13 characters of four kinds'],
  ])('rates the password "$0" ($2) as $1', (password, level) => {
    expect(strengthOf(password)).toBe(level);
  });

  it('returns null for an empty password', () => {
    expect(strengthOf('')).toBeNull();
  });
});
