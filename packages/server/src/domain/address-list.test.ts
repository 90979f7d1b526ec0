import { describe, expect, it } from 'vitest';
import { addressMatcher, isAddressEntry } from './address-list.ts';

describe('isAddressEntry (check of an entry in a list of IP addresses and networks)', () => {
  it.each(['10.0.0.2', '10.0.0.0/8', '::1', '2001:db8::/32', 'loopback', 'uniquelocal'])(
    'returns true for %s, which is valid in TRUSTED_PROXIES',
    (entry) => {
      expect(isAddressEntry(entry)).toBe(true);
    },
  );

  it.each([
    'everyone',
    '10.0.0',
    '10.0.0.0/33',
    '::1/129',
    '10.0.0.0/8/8',
    '10.0.0.0/',
    'proxy.local',
    'toString',
  ])('returns false for %s, which is invalid in TRUSTED_PROXIES', (entry) => {
    expect(isAddressEntry(entry)).toBe(false);
  });
});

describe('addressMatcher (search of an IP address in the list "10.0.0.2, 172.16.0.0/12, 2001:db8::/32, loopback")', () => {
  const matches = addressMatcher(['10.0.0.2', '172.16.0.0/12', '2001:db8::/32', 'loopback']);

  it.each(['10.0.0.2', '::ffff:10.0.0.2', '172.30.90.2', '2001:db8:1::7', '127.0.0.9', '::1'])(
    'returns true for the address %s',
    (address) => {
      expect(matches(address)).toBe(true);
    },
  );

  it.each(['10.0.0.3', '::ffff:10.0.0.3', '2001:db9::1', '', 'somewhere'])(
    'returns false for the address %j',
    (address) => {
      expect(matches(address)).toBe(false);
    },
  );
});
