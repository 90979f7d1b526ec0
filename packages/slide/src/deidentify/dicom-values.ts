/**
 * Rules for the elements of a DICOM file in a de-identified copy: value representations, elements whose values stay, and sequences.
 *
 * Source: DICOM PS3.5, section 7.1.2; PS3.15, annex E (attributes that identify).
 */

/** Value representations (two-letter data types) whose length field has 32 bits. Source: DICOM PS3.5, section 7.1.2. */
export const longVrs = new Set([
  'OB',
  'OD',
  'OF',
  'OL',
  'OV',
  'OW',
  'SQ',
  'SV',
  'UC',
  'UN',
  'UR',
  'UT',
  'UV',
]);
/** Value representations whose length field has 16 bits. */
export const shortVrs = new Set('AE AS AT CS DA DS DT FD FL IS LO LT PN SH SL SS ST TM UI UL US'.split(' '));
/** Free text, names, dates, times and addresses: blanked, except `technicalTexts` and, in `codedSequences`, `codeTexts`. */
export const textVrs = new Set('AE AS DA DT LO LT PN SH ST TM UC UR UT'.split(' '));
/** Codes and numbers stored as text: blanked only in private and patient attributes. */
export const codeVrs = new Set('CS DS IS'.split(' '));

/** Elements whose text describes the device or the image, and is kept. */
export const technicalTexts = new Set([
  0x0008_0070, // Manufacturer
  0x0008_1090, // ManufacturerModelName
  0x0020_9421, // DimensionDescriptionLabel
  0x0028_2110, // LossyImageCompression, which some writers store as text
  0x0048_0106, // OpticalPathIdentifier
  0x0048_0107, // OpticalPathDescription
]);

/** The parts of a coded value. They are kept in `codedSequences` only: other sequences state codes of people and institutions. */
export const codeTexts = new Set([
  0x0008_0100, // CodeValue
  0x0008_0102, // CodingSchemeDesignator
  0x0008_0103, // CodingSchemeVersion
  0x0008_0104, // CodeMeaning
]);

/**
 * Sequences whose coded values describe the specimen, the device or the image. Codes are kept if all enclosing sequences are in
 * this list. Source: DICOM PS3.3, section A.32.8 (VL Whole Slide Microscopy Image IOD).
 */
export const codedSequences = new Set([
  0x0008_2218, // AnatomicRegionSequence
  0x0008_2220, // AnatomicRegionModifierSequence
  0x0008_2228, // PrimaryAnatomicStructureSequence
  0x0008_2230, // PrimaryAnatomicStructureModifierSequence
  0x0022_0015, // AcquisitionDeviceTypeCodeSequence
  0x0022_0016, // IlluminationTypeCodeSequence
  0x0022_0017, // LightPathFilterTypeStackCodeSequence
  0x0022_0018, // ImagePathFilterTypeStackCodeSequence
  0x0022_0019, // LensesCodeSequence
  0x0022_001a, // ChannelDescriptionCodeSequence
  0x0040_0518, // ContainerTypeCodeSequence
  0x0040_0520, // ContainerComponentSequence
  0x0040_0555, // AcquisitionContextSequence
  0x0040_0560, // SpecimenDescriptionSequence
  0x0040_059a, // SpecimenTypeCodeSequence
  0x0040_0610, // SpecimenPreparationSequence
  0x0040_0612, // SpecimenPreparationStepContentItemSequence
  0x0040_0620, // SpecimenLocalizationContentItemSequence
  0x0040_08ea, // MeasurementUnitsCodeSequence
  0x0040_a043, // ConceptNameCodeSequence
  0x0040_a168, // ConceptCodeSequence
  0x0048_0105, // OpticalPathSequence
  0x0048_0108, // IlluminationColorCodeSequence
  0x0050_0012, // ContainerComponentTypeCodeSequence
  0x5200_9229, // SharedFunctionalGroupsSequence
  0x5200_9230, // PerFrameFunctionalGroupsSequence
]);

/** Binary data: zeroed outside `imageTagGroups`, where it may be a document, a certificate or text drawn as an overlay. */
export const binaryVrs = new Set('OB OD OF OL OV OW'.split(' '));
/** Groups of tags whose binary data is kept: image pixels, slide microscopy, pixel data. */
export const imageTagGroups = new Set([0x0028, 0x0048, 0x7fe0]);

/** The rules for an element that result from the sequences that enclose it. */
export interface Scope {
  /** Number of enclosing sequences. */
  readonly depth: number;
  /** Whether one of them is private or belongs to the patient: no text and no number in it is kept. */
  readonly isIdentifying: boolean;
  /** Whether all of them are in `codedSequences`. */
  readonly keepsCodes: boolean;
}

export const rootScope: Scope = { depth: 0, isIdentifying: false, keepsCodes: true };

/** Whether an element is private to a manufacturer: its group has an odd number. */
export const isPrivate = (tag: number) => ((tag >>> 16) & 1) === 1;
/** Whether an element is an attribute of the patient. */
export const isOfPatient = (tag: number) => tag >>> 16 === 0x0010;
