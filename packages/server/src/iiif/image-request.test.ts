import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tileOf } from './iiif.ts';
import { parseImageRequest } from './image-request.ts';

const image = { width: 6000, height: 4000 };

/** Parses a path `region/size/rotation/quality.format`. */
function parse(path: string, ofImage = image) {
  const [region = '', size = '', rotation = '', quality = ''] = path.split('/');
  return parseImageRequest({ region, size, rotation, quality }, ofImage);
}

const sizeOf = (path: string, ofImage = image) => {
  const { toWidth, toHeight } = parse(`${path}/0/default.jpg`, ofImage);
  return [toWidth, toHeight];
};

describe('parseImageRequest (region of an IIIF image request)', () => {
  it.each([
    ['full', [0, 0, 6000, 4000]],
    ['square', [1000, 0, 4000, 4000]],
    ['125,15,120,140', [125, 15, 120, 140]],
    ['5900,3900,500,500', [5900, 3900, 100, 100]],
    ['0,0,6000,4000', [0, 0, 6000, 4000]],
    ['5990,3990,10,10', [5990, 3990, 10, 10]],
    ['pct:0,0,100,100', [0, 0, 6000, 4000]],
    ['pct:99.5,99.5,50,50', [5970, 3980, 30, 20]],
    ['pct:50,25,25,50', [3000, 1000, 1500, 2000]],
    ['pct:41.6,7.5,66.6,100', [2496, 300, 3504, 3700]],
  ])(
    'returns, for the region "%s" of a 6000 × 4000 image, the rectangle [x, y, width, height] %j',
    (region, expected) => {
      const { x, y, width, height } = parse(`${region}/10,10/0/default.jpg`);
      expect([x, y, width, height]).toEqual(expected);
    },
  );

  it.each([
    ['', 'is empty'],
    ['Full', 'has a capital letter'],
    ['1,2,3', 'has three numbers'],
    ['1,2,3,4,5', 'has five numbers'],
    ['-1,0,10,10', 'has a negative number'],
    ['0,0,0,10', 'has the width 0'],
    ['0,0,10,0', 'has the height 0'],
    ['6000,0,10,10', 'begins at the right edge of the image'],
    ['1.5,0,10,10', 'has a fraction of a pixel'],
    ['1e3,0,10,10', 'has an exponent'],
    ['pct:0,0,0,50', 'has the width 0'],
    ['pct:100,0,10,10', 'begins at the right edge of the image'],
    ['pct:.5,0,10,10', 'has a number that starts with the decimal point'],
    ['pct:1e1,0,10,10', 'has an exponent'],
    ['pct:0,0,10', 'has three numbers'],
    ['pct:-5,0,10,10', 'has a negative number'],
    ['pct:0,0,10,10,10', 'has five numbers'],
    ['PCT:0,0,10,10', 'has capital letters'],
    ['square,', 'ends with a comma'],
    [' full', 'begins with a space'],
    ['0,0,10,', 'lacks the last number'],
    ['+1,0,10,10', 'has a plus sign'],
    ['99999999999,0,1,1', 'has a number of 11 digits'],
  ])('throws invalid_request for the region %j, because it %s', (region) => {
    expect(() => parse(`${region}/max/0/default.jpg`)).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
  });
});

describe('parseImageRequest (size of an IIIF image request)', () => {
  it.each([
    ['0,0,300,200/max', [300, 200]],
    ['full/150,', [150, 100]],
    ['full/,100', [150, 100]],
    ['full/pct:10', [600, 400]],
    ['full/225,100', [225, 100]],
    ['full/!225,100', [150, 100]],
    ['full/!600,600', [600, 400]],
    ['0,0,300,200/!9000,9000', [300, 200]],
    ['full/pct:12.5', [750, 500]],
    ['0,0,300,200/pct:100', [300, 200]],
    ['0,0,300,200/300,', [300, 200]],
    ['0,0,300,200/,200', [300, 200]],
    ['pct:0,0,50,50/30,20', [30, 20]],
    ['square/!100,50', [50, 50]],
    ['0,0,3000,10/pct:1', [30, 1]],
    ['0,0,6000,1/60,', [60, 1]],
  ])('returns, for the region and size "%s" of a 6000 × 4000 image, [width, height] %j', (path, expected) => {
    expect(sizeOf(path)).toEqual(expected);
  });

  it('returns, for full/max of a 6000 × 4000 image, at most 2^22 pixels with the aspect ratio of the image', () => {
    const [width = 0, height = 0] = sizeOf('full/max');
    expect(width * height).toBeLessThanOrEqual(2 ** 22);
    expect(width / height).toBeCloseTo(1.5, 2);
    expect(width).toBeGreaterThan(2500);
  });

  it('returns the same size for full/!300000,300000 as for full/max, whatever the size of the image', () => {
    const side = fc.integer({ min: 1, max: 300_000 });
    fc.assert(
      fc.property(side, side, (width, height) => {
        const largest = sizeOf('full/max', { width, height });
        const [largestWidth = 0, largestHeight = 0] = largest;
        expect(largestWidth * largestHeight).toBeLessThanOrEqual(2 ** 22);
        expect(Math.max(largestWidth, largestHeight)).toBeLessThanOrEqual(65_500);
        expect(sizeOf('full/!300000,300000', { width, height })).toEqual(largest);
      }),
    );
  });

  it('returns, for full/max of a 90,000 × 40 image, a width of 65,500 pixels, the maximum of JPEG', () => {
    const strip = { width: 90_000, height: 40 };
    expect(sizeOf('full/max', strip)).toEqual([65_500, 29]);
    expect(sizeOf('full/65500,', strip)).toEqual([65_500, 29]);
    expect(() => sizeOf('full/65501,', strip)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });

  it.each([
    ['full/', 'is empty'],
    ['full/full', 'is not a keyword for sizes'],
    ['full/0,', 'has the width 0'],
    ['full/,0', 'has the height 0'],
    ['full/0,0', 'has width and height 0'],
    ['full/!0,5', 'has the width 0'],
    ['full/pct:0', 'is 0 %'],
    ['full/pct:101', 'is above 100 %'],
    ['full/6001,', 'is wider than the image'],
    ['full/3000,3000', 'has more than 2^22 pixels'],
    ['full/^max', 'has the prefix ^ (upscaling), which the server does not support'],
    ['full/^7000,', 'has the prefix ^ and is wider than the image'],
    ['full/^,5000', 'has the prefix ^ and is higher than the image'],
    ['full/^pct:50', 'has the prefix ^ before a percentage'],
    ['full/^pct:120', 'has the prefix ^ and is above 100 %'],
    ['full/^300,200', 'has the prefix ^ before width and height'],
    ['full/^!300,200', 'has the prefix ^ before an exclamation mark'],
    ['full/,', 'has no number'],
    ['full/100', 'has no comma'],
    ['full/!100,', 'lacks the height after an exclamation mark'],
    ['full/!,100', 'lacks the width after an exclamation mark'],
    ['full/100,100,', 'ends with a comma'],
    ['full/pct:', 'has no number after pct:'],
    ['full/pct:-5', 'is a negative percentage'],
    ['full/pct:.5', 'has a number that starts with the decimal point'],
    ['full/pct:10%', 'ends with a percent sign'],
    ['full/MAX', 'has capital letters'],
    ['full/ max', 'begins with a space'],
    ['full/-5,', 'has a negative width'],
    ['full/1.5,', 'has a fraction of a pixel'],
    ['0,0,100,100/101,', 'is wider than the region'],
    ['0,0,100,100/100,101', 'is higher than the region'],
  ])('throws invalid_request for the region and size "%s", because the size %s', (path) => {
    expect(() => parse(`${path}/0/default.jpg`)).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
  });
});

describe('parseImageRequest (rotation, quality and format of an IIIF image request)', () => {
  it.each([
    ['0/default.jpg', { rotation: 0, isMirrored: false, isGrey: false, format: 'jpg' }],
    ['90/color.png', { rotation: 90, isMirrored: false, isGrey: false, format: 'png' }],
    ['!270/gray.jpg', { rotation: 270, isMirrored: true, isGrey: true, format: 'jpg' }],
    ['180.0/default.png', { rotation: 180 }],
    ['360/default.jpg', { rotation: 0 }],
    ['!0/default.jpg', { rotation: 0, isMirrored: true }],
    ['!90/default.jpg', { rotation: 90, isMirrored: true }],
    ['!180/color.jpg', { rotation: 180, isMirrored: true }],
    ['270/gray.png', { rotation: 270, isMirrored: false, isGrey: true, format: 'png' }],
  ])('parses "%s" to %j', (path, expected) => {
    expect(parse(`full/10,/${path}`)).toMatchObject(expected);
  });

  it.each([
    ['45/default.jpg', 'the rotation is not a multiple of 90°'],
    ['-90/default.jpg', 'the rotation is negative'],
    ['361/default.jpg', 'the rotation is above 360°'],
    ['22.5/default.jpg', 'the rotation is not a multiple of 90°'],
    ['!45/default.jpg', 'the rotation is not a multiple of 90°'],
    ['0!/default.jpg', 'the exclamation mark follows the rotation'],
    ['.0/default.jpg', 'the rotation starts with the decimal point'],
    ['9e1/default.jpg', 'the rotation has an exponent'],
    ['0/.jpg', 'the quality is missing'],
    ['0/grey.jpg', 'the quality gray has another spelling'],
    ['0/default.JPG', 'the format has capital letters'],
    ['0/default.jpeg', 'the format jpg has another spelling'],
    ['0/default.tif', 'the server does not support the format'],
    ['0/default.gif', 'the server does not support the format'],
    ['0/default.jp2', 'the server does not support the format'],
    ['0/default.pdf', 'the server does not support the format'],
    ['!/default.jpg', 'the rotation has no number'],
    ['!!0/default.jpg', 'the rotation has two exclamation marks'],
    ['/default.jpg', 'the rotation is empty'],
    ['0/bitonal.jpg', 'the server does not support the quality'],
    ['0/default.webp', 'the server does not support the format'],
    ['0/default', 'the format is missing'],
    ['0/default.jpg.png', 'there are two formats'],
    ['0/DEFAULT.jpg', 'the quality has capital letters'],
  ])('throws invalid_request for "%s", because %s', (path) => {
    expect(() => parse(`full/10,/${path}`)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });
});

describe('tileOf (Deep Zoom tile of an IIIF request; image: 6000 × 4000, tiles: 256, full resolution: dziLevel 13)', () => {
  const descriptor = { ...image, tileSize: 256, overlap: 0, format: 'jpg', maxLevel: 13 } as const;
  const tileOfPath = (path: string) => tileOf(parse(path), descriptor);

  it.each([
    ['256,512,256,256/256,256/0/default.jpg', { dziLevel: 13, column: 1, row: 2 }],
    ['1024,0,1024,1024/256,/0/color.jpg', { dziLevel: 11, column: 1, row: 0 }], // scaled to 1/4: two levels down
    ['5888,3840,112,160/max/0/default.jpg', { dziLevel: 13, column: 23, row: 15 }], // smaller tile at the bottom right
    ['5120,3072,880,928/220,232/0/default.jpg', { dziLevel: 11, column: 5, row: 3 }],
  ])('returns, for the request "%s", the tile %j', (path, address) => {
    expect(tileOfPath(path)).toEqual(address);
  });

  it.each([
    ['1,0,256,256/256,256/0/default.jpg', 'the region begins inside a tile'],
    ['0,0,255,256/255,256/0/default.jpg', 'the region is narrower than a tile'],
    ['0,0,256,256/255,256/0/default.jpg', 'the width is scaled by 255/256'],
    ['0,0,256,256/256,256/90/default.jpg', 'the image is rotated'],
    ['0,0,256,256/256,256/!0/default.jpg', 'the image is mirrored'],
    ['0,0,256,256/256,256/0/gray.jpg', 'the image is grey'],
    ['0,0,256,256/256,256/0/default.png', 'the format is PNG'],
  ])('returns null for the request "%s", because %s', (path) => {
    expect(tileOfPath(path)).toBeNull();
  });
});
