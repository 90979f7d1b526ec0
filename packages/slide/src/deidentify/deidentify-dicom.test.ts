import { describe, expect, it } from 'vitest';
import {
  buildDicom,
  type DicomElement,
  type DicomItem,
  planDicom,
  writeDicom,
} from '../testing/build-dicom.ts';
import { deidentifiedCopy } from '../testing/deidentified-copy.ts';

const text = (tag: number, vr: string, value: string): DicomElement => ({
  tag,
  vr,
  value: Buffer.from(value.padEnd(value.length + (value.length % 2))),
});
const sequence = (tag: number, ...value: DicomItem[]): DicomElement => ({ tag, vr: 'SQ', value });
const code = (value: string, meaning: string): DicomItem => [
  text(0x0008_0100, 'SH', value),
  text(0x0008_0102, 'SH', '99LOCAL'),
  text(0x0008_0104, 'LO', meaning),
];

/** Builds a slide with further elements. */
async function slideWith(...more: DicomElement[]): Promise<Buffer> {
  const file = await planDicom({});
  const elements = [...file.elements, ...more].sort((a, b) => a.tag - b.tag);
  return Buffer.from(writeDicom({ ...file, elements }));
}

describe('de-identified copy of a DICOM slide', () => {
  it.each<[string, DicomElement]>([
    ['InstitutionCodeSequence', sequence(0x0008_0082, code('JANE-1', 'Jane Hospital'))],
    [
      'PersonIdentificationCodeSequence in ReferringPhysicianIdentificationSequence',
      sequence(0x0008_0096, [sequence(0x0040_1101, code('JANE-1', 'Jane Doe'))]),
    ],
    [
      'PersonIdentificationCodeSequence in OperatorIdentificationSequence',
      sequence(0x0008_1072, [sequence(0x0040_1101, code('JANE-1', 'Jane Doe'))]),
    ],
    [
      'ConceptNameCodeSequence in VerifyingObserverSequence',
      sequence(0x0040_a073, [sequence(0x0040_a043, code('JANE-1', 'Jane Doe'))]),
    ],
    [
      'PersonIdentificationCodeSequence in OpticalPathSequence',
      sequence(0x0048_0105, [sequence(0x0040_1101, code('JANE-1', 'Jane Doe'))]),
    ],
    ['PatientInsurancePlanCodeSequence', sequence(0x0010_0050, code('JANE-1', 'Jane Insurance'))],
  ])('has no code value, scheme or meaning of %s', async (_, element) => {
    const bytes = await slideWith(element);
    const copy = await deidentifiedCopy(bytes);
    for (const part of [/jane/i, /99LOCAL/]) {
      expect(bytes.toString('latin1')).toMatch(part);
      expect(copy.toString('latin1')).not.toMatch(part);
    }
  });

  it('keeps the codes of the stain and of the illumination', async () => {
    const bytes = await slideWith(
      sequence(0x0040_0560, [
        sequence(0x0040_0610, [
          sequence(0x0040_0612, [sequence(0x0040_a168, code('12710003', 'Hematoxylin stain'))]),
        ]),
      ]),
      sequence(0x0048_0105, [sequence(0x0022_0016, code('111744', 'Brightfield illumination'))]),
    );
    const copy = (await deidentifiedCopy(bytes)).toString('latin1');
    for (const part of ['12710003', 'Hematoxylin stain', '111744', 'Brightfield illumination'])
      expect(copy).toContain(part);
  });

  it('has neither PregnancyStatus nor a number from a sequence about the patient', async () => {
    const marked = Buffer.from([0xa7, 0xb3]);
    const bytes = await slideWith(
      { tag: 0x0010_21c0, vr: 'US', value: marked }, // PregnancyStatus
      sequence(0x0010_1002, [{ tag: 0x0040_0032, vr: 'US', value: marked }]),
    );
    expect(bytes.includes(marked)).toBe(true);
    expect((await deidentifiedCopy(bytes)).includes(marked)).toBe(false);
  });

  it('has no text, code or number from a private sequence, not even from standard elements in the sequence', async () => {
    const marked = Buffer.from([0xa7, 0xb3]);
    const bytes = await slideWith(
      sequence(0x0009_1010, [
        text(0x0008_0070, 'LO', 'Jane Works'), // Manufacturer, which is kept elsewhere
        text(0x0028_0301, 'CS', 'JANE'),
        { tag: 0x0028_0010, vr: 'US', value: marked },
      ]),
    );
    expect(bytes.includes(marked)).toBe(true);
    const copy = await deidentifiedCopy(bytes);
    expect(copy.toString('latin1')).not.toMatch(/jane/i);
    expect(copy.includes(marked)).toBe(false);
  });

  it('has the same new UID for two copies of a UID, one padded with a zero and one with a space', async () => {
    const uid = '1.2.826.0.1.3680043.10.999.77';
    const withZero = { tag: 0x0008_0014, vr: 'UI', value: Buffer.from(`${uid}\0`) };
    const withSpace = { tag: 0x0008_0058, vr: 'UI', value: Buffer.from(`${uid} `) };
    const bytes = await slideWith(withZero, withSpace);
    const copy = await deidentifiedCopy(bytes);
    const uidAt = (group: number, element: number) => {
      const at = copy.indexOf(Buffer.from([group, 0, element, 0, ...Buffer.from('UI')])) + 8;
      return copy.toString('latin1', at, at + uid.length + 1);
    };
    const newUid = uidAt(0x08, 0x14).slice(0, -1);
    expect(newUid).not.toBe(uid);
    expect([uidAt(0x08, 0x14), uidAt(0x08, 0x58)]).toEqual([`${newUid}\0`, `${newUid} `]);
  });

  it.each([
    ['the zero byte at the end of the UID', '1.2.840.10008.5.1.4.1.1.77.1.6\0Jane Doe'],
    ['the UID root 1.2.840.10008', '1.2.840.10008.Jane Doe'],
  ])('does not contain a name that follows %s in a UID element', async (_, value) => {
    const bytes = await slideWith(text(0x0008_0058, 'UI', value));
    expect(bytes.includes('Jane')).toBe(true);
    expect((await deidentifiedCopy(bytes)).includes('Jane')).toBe(false);
  });

  it('has no JPEG comment in its frames, whether it is read at once or in parts of 7 bytes', async () => {
    const jpeg = Buffer.from(await buildDicom({ codec: 'jpeg' }));
    // Replaces the first segment after the start of an image by a comment of equal length.
    const at = jpeg.indexOf(Buffer.from([0xff, 0xd8, 0xff])) + 2;
    const length = jpeg.readUInt16BE(at + 2);
    jpeg[at + 1] = 0xfe;
    jpeg.write('Jane Doe 1970'.padEnd(length - 2, '.').slice(0, length - 2), at + 4, 'latin1');
    expect(jpeg.includes('Jane Doe')).toBe(true);
    const copy = await deidentifiedCopy(jpeg);
    expect(copy.includes('Jane Doe')).toBe(false);
    expect(Buffer.compare(await deidentifiedCopy(jpeg, 7), copy)).toBe(0);
  });
});
