/**
 * The DICOM data elements that the readers in this folder use, with their numbers and their value representations (data
 * types, which some files do not state). The readers skip all other elements, such as names, dates and serial numbers.
 *
 * Source: DICOM PS3.6, table 6-1; PS3.10, table 7.1-1.
 */
const dictionary = {
  MediaStorageSOPClassUID: [0x0002_0002, 'UI'],
  TransferSyntaxUID: [0x0002_0010, 'UI'],

  SpecificCharacterSet: [0x0008_0005, 'CS'],
  ImageType: [0x0008_0008, 'CS'],
  SOPClassUID: [0x0008_0016, 'UI'],
  SOPInstanceUID: [0x0008_0018, 'UI'],
  PyramidUID: [0x0008_0019, 'UI'],
  Modality: [0x0008_0060, 'CS'],
  Manufacturer: [0x0008_0070, 'LO'],
  CodeMeaning: [0x0008_0104, 'LO'],
  /** Only used, as a hash, to keep the files of different patients apart. */
  PatientID: [0x0010_0020, 'LO'],
  StudyInstanceUID: [0x0020_000d, 'UI'],
  SeriesInstanceUID: [0x0020_000e, 'UI'],
  InstanceNumber: [0x0020_0013, 'IS'],
  ConcatenationUID: [0x0020_9161, 'UI'],
  InConcatenationNumber: [0x0020_9162, 'US'],
  InConcatenationTotalNumber: [0x0020_9163, 'US'],
  ConcatenationFrameOffsetNumber: [0x0020_9228, 'UL'],
  DimensionOrganizationType: [0x0020_9311, 'CS'],

  SamplesPerPixel: [0x0028_0002, 'US'],
  PhotometricInterpretation: [0x0028_0004, 'CS'],
  PlanarConfiguration: [0x0028_0006, 'US'],
  NumberOfFrames: [0x0028_0008, 'IS'],
  Rows: [0x0028_0010, 'US'],
  Columns: [0x0028_0011, 'US'],
  PixelSpacing: [0x0028_0030, 'DS'],
  BitsAllocated: [0x0028_0100, 'US'],
  BitsStored: [0x0028_0101, 'US'],
  HighBit: [0x0028_0102, 'US'],
  PixelRepresentation: [0x0028_0103, 'US'],
  WindowCenter: [0x0028_1050, 'DS'],
  WindowWidth: [0x0028_1051, 'DS'],
  RescaleIntercept: [0x0028_1052, 'DS'],
  RescaleSlope: [0x0028_1053, 'DS'],
  ICCProfile: [0x0028_2000, 'OB'],
  PixelMeasuresSequence: [0x0028_9110, 'SQ'],
  FrameVOILUTSequence: [0x0028_9132, 'SQ'],
  PixelValueTransformationSequence: [0x0028_9145, 'SQ'],

  /** Only used, as a hash, to keep the files of different slides apart. */
  ContainerIdentifier: [0x0040_0512, 'LO'],
  XOffsetInSlideCoordinateSystem: [0x0040_072a, 'DS'],
  YOffsetInSlideCoordinateSystem: [0x0040_073a, 'DS'],
  ZOffsetInSlideCoordinateSystem: [0x0040_074a, 'DS'],
  ConceptNameCodeSequence: [0x0040_a043, 'SQ'],
  ImagedVolumeWidth: [0x0048_0001, 'FL'],
  ImagedVolumeHeight: [0x0048_0002, 'FL'],
  TotalPixelMatrixColumns: [0x0048_0006, 'UL'],
  TotalPixelMatrixRows: [0x0048_0007, 'UL'],
  TotalPixelMatrixOriginSequence: [0x0048_0008, 'SQ'],
  SpecimenLabelInImage: [0x0048_0010, 'CS'],
  RecommendedAbsentPixelCIELabValue: [0x0048_0015, 'US'],
  ImageOrientationSlide: [0x0048_0102, 'DS'],
  OpticalPathSequence: [0x0048_0105, 'SQ'],
  OpticalPathIdentifier: [0x0048_0106, 'SH'],
  ObjectiveLensPower: [0x0048_0112, 'DS'],
  OpticalPathIdentificationSequence: [0x0048_0207, 'SQ'],
  PlanePositionSlideSequence: [0x0048_021a, 'SQ'],
  ColumnPositionInTotalImagePixelMatrix: [0x0048_021e, 'SL'],
  RowPositionInTotalImagePixelMatrix: [0x0048_021f, 'SL'],
  PixelOriginInterpretation: [0x0048_0301, 'CS'],
  NumberOfOpticalPaths: [0x0048_0302, 'UL'],
  TotalPixelMatrixFocalPlanes: [0x0048_0303, 'UL'],
  SegmentationType: [0x0062_0001, 'CS'],
  SegmentSequence: [0x0062_0002, 'SQ'],
  SegmentNumber: [0x0062_0004, 'US'],
  SegmentLabel: [0x0062_0005, 'LO'],
  RecommendedDisplayCIELabValue: [0x0062_000d, 'US'],
  FloatingPointValues: [0x0066_0125, 'OF'],
  PointCoordinatesData: [0x0066_0016, 'OF'],
  DoublePointCoordinatesData: [0x0066_0022, 'OD'],
  LongPrimitivePointIndexList: [0x0066_0040, 'OL'],
  MeasurementsSequence: [0x0066_0121, 'SQ'],
  MeasurementValuesSequence: [0x0066_0132, 'SQ'],
  AnnotationCoordinateType: [0x006a_0001, 'CS'],
  AnnotationGroupSequence: [0x006a_0002, 'SQ'],
  AnnotationGroupLabel: [0x006a_0005, 'LO'],
  NumberOfAnnotations: [0x006a_000c, 'UL'],
  AnnotationIndexList: [0x006a_0011, 'OL'],
  GraphicType: [0x0070_0023, 'CS'],
  SharedFunctionalGroupsSequence: [0x5200_9229, 'SQ'],
  PerFrameFunctionalGroupsSequence: [0x5200_9230, 'SQ'],

  ExtendedOffsetTable: [0x7fe0_0001, 'OV'],
  ExtendedOffsetTableLengths: [0x7fe0_0002, 'OV'],
  PixelData: [0x7fe0_0010, 'OW'],

  Item: [0xfffe_e000, ''],
  ItemDelimitationItem: [0xfffe_e00d, ''],
  SequenceDelimitationItem: [0xfffe_e0dd, ''],
} as const;

type Name = keyof typeof dictionary;
/** Number of a data element: its group in the upper, its element in the lower 16 bits. */
export type Tag = (typeof dictionary)[Name][0];

export const tag = Object.fromEntries(
  Object.entries(dictionary).map(([name, [number]]) => [name, number]),
) as { readonly [N in Name]: (typeof dictionary)[N][0] };

const elementsByNumber = new Map<number, { readonly name: string; readonly vr: string }>(
  Object.entries(dictionary).map(([name, [number, vr]]) => [number, { name, vr }]),
);

/** Returns the value representation from the dictionary; `UN` for an element outside it. */
export function vrOfTag(number: number): string {
  return elementsByNumber.get(number)?.vr ?? 'UN';
}

/** Returns a name for messages, e.g. `Rows`, or `(0009,0010)` for an element outside the dictionary. */
export function nameOfTag(number: number): string {
  const name = elementsByNumber.get(number)?.name;
  if (name) return name;
  const digits = number.toString(16).padStart(8, '0');
  return `(${digits.slice(0, 4)},${digits.slice(4)})`;
}
