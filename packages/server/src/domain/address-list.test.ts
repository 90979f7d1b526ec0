import { describe, expect, it } from 'vitest';
import { addressMatcher, isAddressEntry } from './address-list.ts';

describe('isAddressEntry (check of an entry of TRUSTED_PROXIES: IP address, network or name of networks)', () => {
  it.each(['10.0.0.2', '10.0.0.0/8', '::1', '2001:db8::/32', 'loopback', 'uniquelocal'])(
    'returns true for %s',
    (entry) => {
      expect(isAddressEntry(entry)).toBe(true);
    },
  );

  it.each([
    ['everyone', 'an unknown name'],
    ['10.0.0', 'an IPv4 address of three numbers'],
    ['10.0.0.0/33', 'an IPv4 prefix of more than 32 bits'],
    ['::1/129', 'an IPv6 prefix of more than 128 bits'],
    ['10.0.0.0/8/8', 'two prefix lengths'],
    ['10.0.0.0/', 'no prefix length after the slash'],
    ['proxy.local', 'a host name'],
    ['toString', 'a property of JavaScript objects'],
  ])('returns false for %s (%s)', (entry) => {
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
