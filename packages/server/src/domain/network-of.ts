/** Derives the network from an IP address. Rate limits count the requests of a network, not of a single address. */
import { isIPv6 } from 'node:net';

/**
 * Returns the IPv4 address, or the /64 network of an IPv6 address: the smallest network that providers assign (RFC 6177, RIPE-690),
 * within which a client can change its address freely. An IPv4-mapped address (::ffff:a.b.c.d) counts as IPv4.
 */
export function networkOf(address: string): string {
  return networkPrefix(address, 4); // 4 groups of 16 bits: /64
}

/**
 * Like `networkOf`, but with the /48 network of an IPv6 address, which a provider usually assigns to a site such as a hospital
 * (RFC 6177). Used where scarce resources are shared fairly: the 65,536 /64 networks of one site must count as one.
 */
export function siteOf(address: string): string {
  return networkPrefix(address, 3); // 3 groups of 16 bits: /48
}

/** Returns the IPv4 address, or the IPv6 network. @param groupCount number of 16-bit groups in the prefix of the IPv6 network */
function networkPrefix(address: string, groupCount: number): string {
  const [withoutZone = ''] = address.split('%', 1); // in fe80::1%eth0, the zone eth0 names a network interface of this machine
  if (!isIPv6(withoutZone)) return address;
  const { hostname } = new URL(`http://[${withoutZone}]`); // normalises to the compressed hexadecimal form
  const [head = '', tail] = hostname.slice(1, -1).split('::');
  const headGroups = groupsOf(head);
  const tailGroups = groupsOf(tail ?? '');
  // An IPv6 address has 8 groups; `::` stands for the missing ones, which are 0.
  const omittedGroups = Array<string>(8 - headGroups.length - tailGroups.length).fill('0');
  const groups = [...headGroups, ...omittedGroups, ...tailGroups];
  const isIPv4Mapped = groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff';
  if (isIPv4Mapped) return ipv4Of(groups.slice(6));
  return `${groups.slice(0, groupCount).join(':')}::/${groupCount * 16}`;
}

function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':');
}

/** Returns the IPv4 address in dotted form. @param groups its two 16-bit groups in hexadecimal */
function ipv4Of(groups: readonly string[]): string {
  return groups
    .map((group) => Number.parseInt(group, 16))
    .flatMap((value) => [value >> 8, value & 0xff])
    .join('.');
}
