import { expect, it } from 'vitest';
import { isProviderAddress } from './provider-address.ts';

it.each([
  ['https://id.example.org', true],
  ['https://id.example.org/realms/lab', true],
  ['http://127.0.0.1:4000', true],
  ['http://localhost:4000', true],
  ['http://[::1]:4000', true],
  ['http://id.example.org', false],
  ['http://127.0.0.1.example.org', false],
  ['http://localhost.example.org', false],
  ['https://user:secret@id.example.org', false],
  ['https://user@id.example.org', false],
  ['https://:secret@id.example.org', false],
  ['ftp://localhost', false],
  ['ftp://id.example.org', false],
  ['file:///etc/passwd', false],
  ['id.example.org', false],
])(
  'isProviderAddress (whether a URL is allowed for an identity provider: https, or http on this machine; neither user name nor password) for %s returns %s',
  (address, expected) => {
    expect(isProviderAddress(address)).toBe(expected);
  },
);
