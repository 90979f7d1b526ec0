import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { imageIdOf, uidOf } from './uids.ts';

describe('imageIdOf (id of an image from its DICOM study UID)', () => {
  it('returns the id of the image for the study UID that uidOf computes from this id', () => {
    for (const id of [
      ...Array.from({ length: 200 }, () => randomUUID()),
      '00000000-0000-4000-8000-000000000000',
    ]) {
      expect(imageIdOf(uidOf(id, 'study'))).toBe(id);
    }
  });

  it('returns null for a UID that is not 2.25 followed by a decimal number below 2^128', () => {
    for (const uid of [
      '',
      '2.25.',
      '2.25.01',
      '1.2.3',
      '2.25.-1',
      `2.25.${2n ** 128n}`,
      '2.25.1.2',
      `2.25.${'9'.repeat(60)}`,
    ]) {
      expect(imageIdOf(uid)).toBeNull();
    }
  });
});

describe('uidOf (DICOM UIDs of an image)', () => {
  it('returns a different valid UID for the study, the series, the pyramid and each level of an image', () => {
    const id = '0b8d3f5e-5a65-4d0f-9f4c-0d9a6a2a7c11';
    const uids = (
      ['study', 'series', 'frame-of-reference', 'pyramid', 'specimen', 'dimensions', 0, 1] as const
    ).map((role) => uidOf(id, role));
    expect(new Set(uids).size).toBe(uids.length);
    for (const uid of uids) expect(uid).toMatch(/^2\.25\.[1-9]\d{1,38}$/);
    expect(uidOf(id, 'study')).toBe('2.25.15354907077915907995750160422784367633');
  });
});
