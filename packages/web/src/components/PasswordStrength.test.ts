import { describe, expect, it } from 'vitest';
import { strengthOf } from './PasswordStrength.tsx';

describe('strengthOf', () => {
  it.each([
    ['', null],
    ['kesit12', 'tooShort'],
    ['aaaaaaaaaaaaaaaa', 'weak'],
    ['incekesit', 'weak'],
    ['Kesit-2026', 'fair'],
    ['incekesitler', 'fair'],
    ['ince bir kesit daha', 'strong'],
    ['Kesit-2026-ab', 'strong'],
  ])('returns for the password "%s": %s', (password, level) => {
    expect(strengthOf(password)).toBe(level);
  });
});
