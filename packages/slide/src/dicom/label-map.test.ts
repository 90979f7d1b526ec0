import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { memorySource } from '../source/memory-source.ts';
import { openLabelMap } from './label-map.ts';

const folder = process.env.TEST_SLIDES;

describe.skipIf(folder === undefined)('openLabelMap', () => {
  const file = () =>
    fs.readFile(path.join(folder ?? '', 'dicom/highdicom/seg_image_sm_control_labelmap.dcm'));

  it('opens a segmentation of the type LABELMAP with its 21 segments', async () => {
    const { segments, width, height } = await openLabelMap(memorySource(await file()));
    expect(segments).toHaveLength(21);
    expect(Math.min(width, height)).toBeGreaterThan(0);
  });

  it.each([
    ['LABELMAP', 'BINARY  ', 'segmentation type BINARY'],
    ['1.2.840.10008.1.2.1\0', '1.2.840.10008.1.2.5\0', 'transfer syntax 1.2.840.10008.1.2.5'],
  ])(
    'rejects a file in which %j is replaced by %j, and names the new value in the message',
    async (text, replacement, name) => {
      const bytes = await file();
      const position = bytes.indexOf(text, 'latin1');
      expect(position).toBeGreaterThan(0);
      bytes.write(replacement, position, 'latin1');
      await expect(openLabelMap(memorySource(bytes))).rejects.toMatchObject({
        code: 'FORMAT_NOT_SUPPORTED',
        message: expect.stringContaining(name),
      });
    },
  );
});
