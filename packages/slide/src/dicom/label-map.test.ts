import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { memorySource } from '../source/memory-source.ts';
import { openLabelMap } from './label-map.ts';

const folder = process.env.TEST_SLIDES;

describe.skipIf(folder === undefined)(
  'openLabelMap (opens a DICOM label map: the segment number of each pixel; skipped without TEST_SLIDES)',
  () => {
    const readLabelMapFile = () =>
      fs.readFile(path.join(folder ?? '', 'dicom/highdicom/seg_image_sm_control_labelmap.dcm'));

    it('returns the 21 segments and the size of a DICOM segmentation of the type LABELMAP', async () => {
      const { segments, width, height } = await openLabelMap(memorySource(await readLabelMapFile()));
      expect(segments).toHaveLength(21);
      expect(Math.min(width, height)).toBeGreaterThan(0);
    });

    it('throws FILE_CORRUPT with "Rows is 0" in the message for a DICOM segmentation with 0 rows', async () => {
      const bytes = await readLabelMapFile();
      // The element Rows (0028,0010) in explicit VR: tag, US, length 2, value.
      const position = bytes.indexOf(Buffer.from('280010005553' + '0200', 'hex'));
      expect(position).toBeGreaterThan(0);
      bytes.writeUInt16LE(0, position + 8);
      await expect(openLabelMap(memorySource(bytes))).rejects.toMatchObject({
        code: 'FILE_CORRUPT',
        message: expect.stringContaining('Rows is 0'),
      });
    });

    it.each([
      ['segmentation type BINARY', 'LABELMAP', 'BINARY  '],
      ['transfer syntax 1.2.840.10008.1.2.5', '1.2.840.10008.1.2.1\0', '1.2.840.10008.1.2.5\0'],
    ])(
      'throws FORMAT_NOT_SUPPORTED for a DICOM segmentation with the %s, and names it in the message',
      async (name, text, replacement) => {
        const bytes = await readLabelMapFile();
        const position = bytes.indexOf(text, 'latin1');
        expect(position).toBeGreaterThan(0);
        bytes.write(replacement, position, 'latin1');
        await expect(openLabelMap(memorySource(bytes))).rejects.toMatchObject({
          code: 'FORMAT_NOT_SUPPORTED',
          message: expect.stringContaining(name),
        });
      },
    );
  },
);
