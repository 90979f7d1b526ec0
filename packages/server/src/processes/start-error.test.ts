import { describe, expect, it } from 'vitest';
import { startErrorSentence } from './start-error.ts';

const config = {
  host: '127.0.0.1',
  port: 80,
  dataDir: '/var/lib/lamina',
  metricsHost: '127.0.0.1',
  metricsPort: 90,
};
const sentenceOf = (properties: object) =>
  startErrorSentence(Object.assign(new Error('the cause'), properties), config);

describe('startErrorSentence (tells the operator why the server could not start)', () => {
  it.each([
    ['PORT is in use', { code: 'EADDRINUSE', port: 80 }, 'http://127.0.0.1:80 is in use'],
    ['METRICS_PORT is in use', { code: 'EADDRINUSE', port: 90 }, 'METRICS_PORT=90 is in use'],
    ['PORT requires special rights', { code: 'EACCES', port: 80 }, 'PORT=80 requires special rights'],
    ['METRICS_PORT requires special rights', { code: 'EACCES', port: 90 }, 'METRICS_PORT=90 requires'],
    [
      'the address of METRICS_HOST is unknown',
      { code: 'EADDRNOTAVAIL', address: '127.0.0.1', port: 90 },
      'METRICS_HOST=127.0.0.1 is not an address of this machine',
    ],
    ['DATA_DIR is not writable', { code: 'EACCES' }, 'DATA_DIR=/var/lib/lamina cannot be written: the cause'],
    ['DATA_DIR is on a read-only disk', { code: 'EROFS' }, 'DATA_DIR=/var/lib/lamina cannot be written'],
    [
      'the database cannot be opened',
      { code: 'SQLITE_CANTOPEN_ISDIR' },
      'DATA_DIR=/var/lib/lamina cannot be written',
    ],
    ['DATA_DIR is a file', { code: 'EEXIST' }, 'DATA_DIR=/var/lib/lamina is not a folder'],
    ['a folder above DATA_DIR is a file', { code: 'ENOTDIR' }, 'DATA_DIR=/var/lib/lamina is not a folder'],
    ['the disk is full', { code: 'ENOSPC' }, 'The disk of DATA_DIR=/var/lib/lamina has no space left'],
    ['the disk is full for the database', { code: 'SQLITE_FULL' }, 'The disk of DATA_DIR=/var/lib/lamina'],
    ['an error of any other kind has a cause', { cause: new Error('why') }, 'the cause (why)'],
  ])('returns a sentence that names the setting or the reason when %s', (_, properties, expected) => {
    expect(sentenceOf(properties)).toContain(expected);
  });

  it('returns only the message of the error, without DATA_DIR, when the path in the error is outside DATA_DIR', () => {
    const properties = { code: 'EACCES', path: '/var/lib/lamina-slides' };
    expect(sentenceOf(properties)).toBe('the cause');
  });
});
