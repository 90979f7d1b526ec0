import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { paintTissue } from '../testing/paint-tissue.ts';
import { readJpegHeader } from './header.ts';

let jpeg: Buffer;
beforeAll(async () => {
  const { rgb, width, height } = paintTissue(48, 32);
  jpeg = await sharp(rgb, { raw: { width, height, channels: 3 } })
    .jpeg({ quality: 80 })
    .toBuffer();
});

describe('readJpegHeader (reads a JPEG up to the start of its scan data)', () => {
  it('returns the size, coding process and sampling factors of a JPEG', () => {
    expect(readJpegHeader(jpeg)).toMatchObject({
      frameMarker: 0xc0,
      precision: 8,
      width: 48,
      height: 32,
      restartInterval: 0,
      scanComponents: 3,
      components: [
        { id: 1, horizontalSampling: 2, verticalSampling: 2 },
        { id: 2, horizontalSampling: 1, verticalSampling: 1 },
        { id: 3, horizontalSampling: 1, verticalSampling: 1 },
      ],
    });
  });

  it('returns the positions of the frame header, the scan header and the compressed data of the scan', () => {
    const { frameAt, scanAt, dataAt } = readJpegHeader(jpeg);
    expect([jpeg[frameAt], jpeg[frameAt + 1]]).toEqual([0xff, 0xc0]);
    expect([jpeg[scanAt], jpeg[scanAt + 1]]).toEqual([0xff, 0xda]);
    expect(dataAt).toBe(scanAt + 2 + jpeg.readUInt16BE(scanAt + 2));
  });

  it('returns declaresColour true for a JPEG with a JFIF or an Adobe marker, and false for others', () => {
    const withMarker = (marker: number, body: string) =>
      Buffer.concat([
        jpeg.subarray(0, 2),
        Buffer.from([0xff, marker, 0, 2 + body.length]),
        Buffer.from(body, 'latin1'),
        jpeg.subarray(2),
      ]);
    expect(readJpegHeader(jpeg).declaresColour).toBe(false);
    expect(readJpegHeader(withMarker(0xe0, 'JFIF\0\x01\x02\0\0\x01\0\x01\0\0')).declaresColour).toBe(true);
    expect(readJpegHeader(withMarker(0xee, 'Adobe\0\x64\0\0\0\0\0')).declaresColour).toBe(true);
    expect(readJpegHeader(withMarker(0xe0, 'JFXX\0')).declaresColour).toBe(false);
    expect(readJpegHeader(withMarker(0xee, 'Adob')).declaresColour).toBe(false);
    expect(readJpegHeader(withMarker(0xe1, 'Adobe\0\x64\0\0\0\0\0')).declaresColour).toBe(false);
  });

  it('skips fill bytes (0xFF) before a marker', () => {
    const filled = Buffer.concat([jpeg.subarray(0, 2), Buffer.from([0xff, 0xff, 0xff]), jpeg.subarray(2)]);
    expect(readJpegHeader(filled).width).toBe(48);
  });

  type Position = (header: ReturnType<typeof readJpegHeader>) => number;
  // After its marker, a frame has: length (2 bytes), precision (1), height (2), width (2), number of components (at 9), and for
  // the first component its identifier (at 10) and sampling factors (at 11).
  const cut = (position: Position) => (bytes: Buffer) => bytes.subarray(0, position(readJpegHeader(bytes)));
  const patch =
    (position: Position, ...values: number[]) =>
    (bytes: Buffer) => {
      const patched = Buffer.from(bytes);
      patched.set(values, position(readJpegHeader(bytes)));
      return patched;
    };

  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['no byte after SOI (start of image)', (bytes) => bytes.subarray(0, 2)],
    ['a truncated frame header', cut(({ frameAt }) => frameAt + 8)],
    ['a truncated scan header', cut(({ scanAt }) => scanAt + 4)],
    ['no scan', (bytes) => Buffer.concat([cut(({ scanAt }) => scanAt)(bytes), Buffer.from([0xff, 0xd9])])],
    ['a scan but no frame header', patch(({ frameAt }) => frameAt + 1, 0xe5)], // 0xe5: APP5 instead of the frame marker
    [
      'two frame headers',
      (bytes) => {
        const { frameAt, scanAt } = readJpegHeader(bytes);
        return Buffer.concat([bytes.subarray(0, scanAt), bytes.subarray(frameAt)]);
      },
    ],
    ['a byte other than 0xFF where a marker is required', patch(({ frameAt }) => frameAt, 0)],
    ['a segment of length 0', patch(({ frameAt }) => frameAt + 2, 0, 0)],
    ['a segment longer than the file', patch(({ frameAt }) => frameAt + 2, 255, 255)],
    ['no components', patch(({ frameAt }) => frameAt + 9, 0)],
    ['a frame header that declares 200 components but contains 3', patch(({ frameAt }) => frameAt + 9, 200)],
    ['a sampling factor of 0', patch(({ frameAt }) => frameAt + 11, 0x02)],
    ['a sampling factor of 5 (at most 4 is valid)', patch(({ frameAt }) => frameAt + 11, 0x51)],
  ])('rejects with FILE_CORRUPT a JPEG that has %s', (_, damage) => {
    expect(() => readJpegHeader(damage(jpeg))).toThrow(expect.objectContaining({ code: 'FILE_CORRUPT' }));
  });
});
