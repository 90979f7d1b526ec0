import { describe, expect, it } from 'vitest';
import { strengthOf } from './PasswordStrength.tsx';

describe('strengthOf', () => {
  it.each([
    ['kesit12', 'tooShort'],
    ['aaaaaaaaaaaaaaaa', 'weak'],
    ['incekesit', 'weak'],
    ['Kesit-2026', 'fair'],
    ['incekesitler', 'fair'],
    ['ince bir kesit daha', 'strong'],
    ['Kesit-2026-ab', 'strong'],
  ])('rates the password "%s" as %s', (password, level) => {
    expect(strengthOf(password)).toBe(level);
  });

  it('returns null for an empty password', () => {
    expect(strengthOf('')).toBeNull();
  });
});
