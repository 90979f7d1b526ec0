/** Addresses and networks as an operator writes them in TRUSTED_PROXIES. */
import { BlockList, isIP } from 'node:net';
import { networkOf } from './network-of.ts';

/** The names that Fastify knows for private networks (@fastify/proxy-addr). */
const namedNetworks: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/** Whether an entry is an IP address, a network such as 10.0.0.0/8, or one of the names above. */
export function isAddressEntry(entry: string): boolean {
  if (Object.hasOwn(namedNetworks, entry)) return true;
  const [address = '', prefix, ...more] = entry.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  if (prefix === undefined) return true;
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128);
}

/** @returns a function that tests whether an address is in the list; every entry must be valid */
export function addressMatcher(entries: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const entry of entries.flatMap((each) => namedNetworks[each] ?? [each])) {
    const [address = '', prefix] = entry.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return (address) => {
    const [plain = ''] = address.split('%', 1); // a zone names an interface of this machine
    const network = networkOf(plain);
    // An IPv4 address from an IPv6 socket is compared as IPv4.
    if (isIP(network) === 4) return list.check(network, 'ipv4');
    return isIP(plain) === 6 && list.check(plain, 'ipv6');
  };
}
