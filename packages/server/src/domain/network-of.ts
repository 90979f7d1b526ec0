/** What a limit by address counts. */
import { isIPv6 } from 'node:net';

/**
 * One IPv4 address, or a /64 of IPv6: that is the least a customer is given (RFC 6177, RIPE-690), so single IPv6
 * addresses cost nothing. An IPv4 address in IPv6 clothes (::ffff:a.b.c.d) is the IPv4 address.
 */
export function networkOf(address: string): string {
  const [plain = ''] = address.split('%', 1); // a zone names an interface of this machine
  if (!isIPv6(plain)) return address;
  const { hostname } = new URL(`http://[${plain}]`); // compressed and in hexadecimal, whatever was written
  const [head = '', tail] = hostname.slice(1, -1).split('::');
  const front = groupsOf(head);
  const back = groupsOf(tail ?? '');
  const groups = [...front, ...Array<string>(8 - front.length - back.length).fill('0'), ...back];
  if (groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff') return ipv4Of(groups.slice(6));
  return `${groups.slice(0, 4).join(':')}::/64`;
}

function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':');
}

function ipv4Of(groups: readonly string[]): string {
  return groups
    .map((group) => Number.parseInt(group, 16))
    .flatMap((value) => [value >> 8, value & 0xff])
    .join('.');
}
