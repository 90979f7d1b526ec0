import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emailKey } from './email.ts';

describe('emailKey (comparison key of e-mail addresses)', () => {
  it.each([
    ['letter case', 'Ayse.Yilmaz@Example.ORG', 'ayse.yilmaz@example.org'],
    ['a capital I in place of i', 'ADMIN@EXAMPLE.ORG', 'admin@example.org'],
    ['a Turkish capital İ', 'ALİ@example.org', 'ali@example.org'],
    ['an i with a combining dot', 'ali\u0307@example.org', 'ali@example.org'],
    ['spaces before and after the address', '  a@example.org\t', 'a@example.org'],
    ['full-width letters', 'ａｄｍｉｎ＠example.org', 'admin@example.org'],
    ['the Unicode form of ö (one or two code points)', 'o\u0308zge@example.org', 'özge@example.org'],
  ])('is equal for two spellings of an e-mail address that differ in %s', (_, spelling, address) => {
    expect(emailKey(spelling)).toBe(emailKey(address));
  });

  it.each([
    ['a dotless ı', 'alı@example.org', 'ali@example.org'],
    ['a dot in the name', 'a.b@example.org', 'ab@example.org'],
    ['a tag after +', 'a+x@example.org', 'a@example.org'],
    ['an accent', 'özge@example.org', 'ozge@example.org'],
  ])('differs for two e-mail addresses that differ in %s', (_, address, otherAddress) => {
    expect(emailKey(address)).not.toBe(emailKey(otherAddress));
  });

  it('returns an e-mail key unchanged when it gets this key as its argument', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(emailKey(emailKey(text))).toBe(emailKey(text));
      }),
    );
  });
});
