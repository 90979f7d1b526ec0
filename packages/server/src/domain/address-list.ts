/** Parses the IP addresses and networks that an operator lists in the setting TRUSTED_PROXIES, and matches addresses against them. */
import { BlockList, isIP } from 'node:net';
import { networkOf } from './network-of.ts';

/** Networks that a list may contain by name; Fastify (@fastify/proxy-addr) accepts the same names. */
const namedNetworks: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/** Whether an entry is an IP address, a network such as 10.0.0.0/8, or `loopback`, `linklocal` or `uniquelocal`. */
export function isAddressEntry(entry: string): boolean {
  if (Object.hasOwn(namedNetworks, entry)) return true;
  const [address = '', prefixLength, ...excessParts] = entry.split('/');
  const version = isIP(address);
  if (version === 0 || excessParts.length > 0) return false;
  if (prefixLength === undefined) return true;
  const maxPrefixLength = version === 4 ? 32 : 128;
  return /^\d{1,3}$/.test(prefixLength) && Number(prefixLength) <= maxPrefixLength;
}

/** Returns a function that tells whether an IP address is in the list. Every entry must satisfy `isAddressEntry`. */
export function addressMatcher(entries: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const network of entries.flatMap((entry) => namedNetworks[entry] ?? [entry])) {
    const [address = '', prefixLength] = network.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    if (prefixLength === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefixLength), family);
  }
  return (address) => {
    const [withoutZone = ''] = address.split('%', 1); // in fe80::1%eth0, the zone eth0 names a network interface of this machine
    const ipv4 = ipv4AddressOf(withoutZone);
    if (ipv4 !== null) return list.check(ipv4, 'ipv4');
    return isIP(withoutZone) === 6 && list.check(withoutZone, 'ipv6');
  };
}

/** Returns the IPv4 form of an IPv4 address or of an IPv4-mapped IPv6 address (::ffff:10.0.0.2); null for any other address. */
function ipv4AddressOf(address: string): string | null {
  // `networkOf` returns the IPv4 form of these two kinds of addresses, and a /64 network for any other IPv6 address.
  const addressOrNetwork = networkOf(address);
  return isIP(addressOrNetwork) === 4 ? addressOrNetwork : null;
}
