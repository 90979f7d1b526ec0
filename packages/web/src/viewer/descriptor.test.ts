import { describe, expect, it } from 'vitest';
import {
  type DeepZoomDescriptor,
  loadDescriptor,
  maxLevelOf,
  minLevelOf,
  parseDescriptor,
} from './descriptor.ts';

const validXml = `<?xml version="1.0" encoding="UTF-8"?>
<Image xmlns="http://schemas.microsoft.com/deepzoom/2008" TileSize="240" Overlap="0" Format="jpeg">
  <Size Width="46000" Height="32914"/>
</Image>`;

describe('parseDescriptor (Deep Zoom descriptor)', () => {
  it('returns size, tile size, overlap and format', () => {
    expect(parseDescriptor(validXml)).toEqual({
      width: 46000,
      height: 32914,
      tileSize: 240,
      overlap: 0,
      format: 'jpeg',
      profile: null,
    });
  });

  it.each([
    ['an empty string', ''],
    ['an HTML page', '<!doctype html><html><body>Sign in</body></html>'],
    ['JSON', '{"Image":{}}'],
    ['a truncated descriptor', validXml.slice(0, 150)],
    ['a descriptor without a size', validXml.replace(/<Size.*\/>/, '')],
    ['a descriptor without a width', validXml.replace('Width="46000"', '')],
    ['a width of 0', validXml.replace('46000', '0')],
    ['a negative width', validXml.replace('46000', '-1')],
    ['the tile size "large"', validXml.replace('240', 'large')],
    ['the format "../secret"', validXml.replace('jpeg', '../secret')],
    ['a Deep Zoom collection', validXml.replaceAll('Image', 'Collection')],
  ])('returns null for %s', (_, xml) => {
    expect(parseDescriptor(xml)).toBeNull();
  });
});

describe('maxLevelOf (full resolution: log2 of the longer side, rounded up) and minLevelOf (finest level that is a single tile):', () => {
  const descriptorOf = (width: number, height: number): DeepZoomDescriptor => ({
    width,
    height,
    tileSize: 256,
    overlap: 0,
    format: 'jpeg',
    profile: null,
  });

  it.each([
    [1, 1, 0],
    [2, 1, 1],
    [256, 256, 8],
    [257, 1, 9],
    [1000, 65536, 16],
    [65537, 1000, 17],
    [46000, 32914, 16],
  ])('for a slide of %d × %d pixels, maxLevelOf returns Deep Zoom level %d', (width, height, level) => {
    expect(maxLevelOf(descriptorOf(width, height))).toBe(level);
  });

  it.each([
    [256, 16, 8],
    [240, 16, 7],
    [500, 16, 8],
    [256, 3, 3],
  ])(
    'for tiles of %d pixels and maximum level %d, minLevelOf returns Deep Zoom level %d',
    (tileSize, maxLevel, level) => {
      expect(minLevelOf(tileSize, maxLevel)).toBe(level);
    },
  );
});

describe('loadDescriptor (Deep Zoom descriptor)', () => {
  const request = { signal: new AbortController().signal, onRenewing: () => {} };
  const load = (respond: () => Promise<Response | 'session-lost'>) =>
    loadDescriptor(respond, '/image.dzi', request);

  it('returns the parsed descriptor of the response', async () => {
    await expect(load(async () => new Response(validXml))).resolves.toMatchObject({ width: 46000 });
  });

  it.each([
    [
      'of the kind "status" with the message of the API for an error response of the API',
      async () => Response.json({ message: 'Not found.', code: 'not_found' }, { status: 404 }),
      { kind: 'status', status: 404, message: 'Not found.' },
    ],
    [
      'of the kind "status" without a message for the error page of a proxy',
      async () => new Response('<h1>Bad gateway</h1>', { status: 502 }),
      { kind: 'status', status: 502, message: '' },
    ],
    [
      'of the kind "unreadable" for a response that is not a descriptor',
      async () => new Response('<html/>'),
      { kind: 'unreadable' },
    ],
    [
      'of the kind "session-lost" when no image session (credential for tiles) can be created',
      async () => 'session-lost' as const,
      { kind: 'session-lost' },
    ],
    [
      'of the kind "other" for a network error',
      () => Promise.reject(new TypeError('Failed to fetch')),
      { kind: 'other' },
    ],
  ])('throws a PixelError %s', async (_, respond, failure) => {
    await expect(load(respond)).rejects.toMatchObject({ failure });
  });
});
