import { describe, expect, it } from 'vitest';
import { networkOf, siteOf } from './network-of.ts';

describe('networkOf (network for rate limits: the IPv4 address, or the /64 network of an IPv6 address)', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:c000:207', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['2001:db8:1::', '2001:db8:1:0::/64'],
    ['1:2:3:4:5:6:7::', '1:2:3:4::/64'],
  ])('for the address %s returns %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  it('returns its argument unchanged when the argument is not an IP address', () => {
    expect(networkOf('somewhere')).toBe('somewhere');
  });
});

describe('siteOf (network of a site such as a hospital: the IPv4 address, or the /48 network of an IPv6 address)', () => {
  it.each([
    ['2001:db8:1:2::9', '2001:db8:1::/48'],
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
  ])('for the address %s returns %s', (address, site) => {
    expect(siteOf(address)).toBe(site);
  });
});
