import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emailKey } from './email.ts';

describe('emailKey (comparison key of e-mail addresses)', () => {
  it.each([
    ['letter case', 'Ayse.Yilmaz@Example.ORG', 'ayse.yilmaz@example.org'],
    ['a capital I in place of i', 'ADMIN@EXAMPLE.ORG', 'admin@example.org'],
    ['a Turkish capital İ in place of i', 'ALİ@example.org', 'ali@example.org'],
    ['a combining dot after i', 'ali\u0307@example.org', 'ali@example.org'],
    ['spaces before and after the address', '  a@example.org\t', 'a@example.org'],
    ['full-width letters in place of ASCII letters', 'ａｄｍｉｎ＠example.org', 'admin@example.org'],
    ['the Unicode form of ö (one or two code points)', 'o\u0308zge@example.org', 'özge@example.org'],
    ['a compatibility form of capital letters', '\u3392@example.org', 'mhz@example.org'], // ㎒, SQUARE MHZ
    ['a combining dot between i and its diaeresis', 'nai\u0307\u0308ve@example.org', 'naïve@example.org'],
  ])('is equal for two spellings of an e-mail address that differ in %s', (_, spelling, address) => {
    expect(emailKey(spelling)).toBe(emailKey(address));
  });

  it.each([
    ['a dotless ı in place of i', 'alı@example.org', 'ali@example.org'],
    ['a dot before the @', 'a.b@example.org', 'ab@example.org'],
    ['a tag after +', 'a+x@example.org', 'a@example.org'],
    ['ö in place of o', 'özge@example.org', 'ozge@example.org'],
  ])('differs for two e-mail addresses that differ in %s', (_, address, otherAddress) => {
    expect(emailKey(address)).not.toBe(emailKey(otherAddress));
  });

  it('returns its argument unchanged when the argument is already an e-mail key', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(emailKey(emailKey(text))).toBe(emailKey(text));
      }),
    );
  });
});
