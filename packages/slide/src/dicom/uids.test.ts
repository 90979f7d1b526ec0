import { describe, expect, it } from 'vitest';
import { nameOfSopClass, nameOfTransferSyntax, transferSyntaxOf } from './uids.ts';

describe('transferSyntaxOf (looks up a DICOM transfer syntax; null if it is not supported)', () => {
  it.each([
    ['1.2.840.10008.1.2', { isExplicit: false, isEncapsulated: false, codec: 'samples' }],
    ['1.2.840.10008.1.2.1', { isExplicit: true, isEncapsulated: false, codec: 'samples' }],
    ['1.2.840.10008.1.2.4.50', { isExplicit: true, isEncapsulated: true, codec: 'jpeg' }],
    ['1.2.840.10008.1.2.4.91', { isExplicit: true, isEncapsulated: true, codec: 'jpeg2000' }],
    ['1.2.840.10008.1.2.4.203', null],
  ])('returns for the UID %s the value %j', (uid, syntax) => {
    expect(transferSyntaxOf(uid)).toEqual(syntax);
  });
});

describe('nameOfTransferSyntax (describes a DICOM transfer syntax in error messages)', () => {
  it.each([
    ['1.2.840.10008.1.2.1.99', 'a deflated data set (transfer syntax 1.2.840.10008.1.2.1.99)'],
    ['1.2.840.10008.1.2.4.70', 'lossless JPEG (transfer syntax 1.2.840.10008.1.2.4.70)'],
    ['1.2.840.10008.1.2.4.103', 'video (transfer syntax 1.2.840.10008.1.2.4.103)'],
    ['1.2.840.10008.1.2.4.111', 'JPEG XL (transfer syntax 1.2.840.10008.1.2.4.111)'],
    ['1.2.840.10008.1.2.4.202', 'high-throughput JPEG 2000 (transfer syntax 1.2.840.10008.1.2.4.202)'],
    ['1.2.3', 'transfer syntax 1.2.3'],
  ])('describes the UID %s as "%s"', (uid, name) => {
    expect(nameOfTransferSyntax(uid)).toBe(name);
  });
});

describe('nameOfSopClass (describes the kind of a DICOM file in error messages)', () => {
  it.each([
    ['1.2.840.10008.5.1.4.1.1.2', 'a CT image'],
    ['1.2.840.10008.5.1.4.1.1.2.1', 'a CT image'],
    ['1.2.840.10008.5.1.4.1.1.20', 'a nuclear medicine image'],
    ['1.2.840.10008.5.1.4.1.1.66.7', 'a segmentation or other derived data'],
    ['1.2.840.10008.5.1.4.1.1.77.1.4', 'a photograph or an endoscopy'],
    ['1.2.840.10008.5.1.4.1.1.77.1.2', 'a microscope photograph'],
    ['1.2.840.10008.5.1.4.1.1.88.11', 'a structured report'],
    ['1.2.3', 'an object of SOP class 1.2.3'],
  ])('describes the SOP class UID %s as "%s"', (uid, name) => {
    expect(nameOfSopClass(uid)).toBe(name);
  });
});
