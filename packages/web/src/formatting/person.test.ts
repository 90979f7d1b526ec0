import { describe, expect, it } from 'vitest';
import { initialsOf, nameOf } from './person.ts';

describe('the initials of a user', () => {
  it.each([
    ['the first letters of the first two words of the name', 'Ada Yılmaz', 'a@b.co', 'AY'],
    ['two letters for a name of four words', 'Ada Nur Yılmaz Kaya', 'a@b.co', 'AN'],
    ['one letter for a name of one word', 'Ada', 'a@b.co', 'A'],
    ['a capital İ, as in Turkish, for a word that begins with i', 'ipek ışık', 'a@b.co', 'İI'],
    [
      'the first letters of the words when the name has surrounding spaces',
      '  Ada   Yılmaz ',
      'a@b.co',
      'AY',
    ],
    ['the first letter of the e-mail address when there is no name', null, 'ipek@example.org', 'İ'],
    ['the first letter of the e-mail address when the name is blank', '  ', 'ipek@example.org', 'İ'],
    ['the whole first letter when it has two UTF-16 code units', '𝒜da', 'a@b.co', '𝒜'],
  ])('are %s', (_, displayName, email, expected) => {
    expect(initialsOf({ displayName, email })).toBe(expected);
  });
});

describe('the name of a user', () => {
  it('is the display name, or the e-mail address when the display name is missing or blank', () => {
    expect(nameOf({ displayName: 'Ada', email: 'a@b.co' })).toBe('Ada');
    expect(nameOf({ displayName: null, email: 'a@b.co' })).toBe('a@b.co');
    expect(nameOf({ displayName: ' ', email: 'a@b.co' })).toBe('a@b.co');
  });
});
