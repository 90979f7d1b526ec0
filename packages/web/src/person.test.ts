import { describe, expect, it } from 'vitest';
import { initialsOf, nameOf } from './person.ts';

describe('initials', () => {
  it.each([
    ['of the first two words', 'Ada Yılmaz', 'a@b.co', 'AY'],
    ['at most two, however many words', 'Ada Nur Yılmaz Kaya', 'a@b.co', 'AN'],
    ['of one word', 'Ada', 'a@b.co', 'A'],
    ['with the dot of the Turkish i', 'ipek ışık', 'a@b.co', 'İI'],
    ['past spaces around and between', '  Ada   Yılmaz ', 'a@b.co', 'AY'],
    ['of the e-mail without a name', null, 'ipek@example.org', 'İ'],
    ['of the e-mail when the name is only spaces', '  ', 'ipek@example.org', 'İ'],
    ['of a letter beyond the basic plane', '𝒜da', 'a@b.co', '𝒜'],
  ])('are %s', (_, displayName, email, expected) => {
    expect(initialsOf({ displayName, email })).toBe(expected);
  });
});

describe('the name of a person', () => {
  it('is the display name, else the e-mail', () => {
    expect(nameOf({ displayName: 'Ada', email: 'a@b.co' })).toBe('Ada');
    expect(nameOf({ displayName: null, email: 'a@b.co' })).toBe('a@b.co');
    expect(nameOf({ displayName: ' ', email: 'a@b.co' })).toBe('a@b.co');
  });
});
