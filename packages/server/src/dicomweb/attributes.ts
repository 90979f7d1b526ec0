/**
 * Writes the data sets of DICOMweb responses as JSON (DICOM JSON model, PS3.18 annex F). The rest of the server names attributes by
 * their keywords; this module knows their tags and value representations (VR, the data type of an attribute).
 */

/** Tag and value representation of every attribute that the server writes. Source: DICOM PS3.6. */
const dictionary = {
  SpecificCharacterSet: ['00080005', 'CS'],
  ImageType: ['00080008', 'CS'],
  SOPClassUID: ['00080016', 'UI'],
  SOPInstanceUID: ['00080018', 'UI'],
  StudyDate: ['00080020', 'DA'],
  ContentDate: ['00080023', 'DA'],
  AcquisitionDateTime: ['0008002A', 'DT'],
  StudyTime: ['00080030', 'TM'],
  ContentTime: ['00080033', 'TM'],
  AccessionNumber: ['00080050', 'SH'],
  Modality: ['00080060', 'CS'],
  ModalitiesInStudy: ['00080061', 'CS'],
  Manufacturer: ['00080070', 'LO'],
  ReferringPhysicianName: ['00080090', 'PN'],
  CodeValue: ['00080100', 'SH'],
  CodingSchemeDesignator: ['00080102', 'SH'],
  CodeMeaning: ['00080104', 'LO'],
  StudyDescription: ['00081030', 'LO'],
  SeriesDescription: ['0008103E', 'LO'],
  ManufacturerModelName: ['00081090', 'LO'],
  RetrieveURL: ['00081190', 'UR'],
  AvailableTransferSyntaxUID: ['00083002', 'UI'],
  VolumetricProperties: ['00089206', 'CS'],
  FrameType: ['00089007', 'CS'],
  PatientName: ['00100010', 'PN'],
  PatientID: ['00100020', 'LO'],
  PatientBirthDate: ['00100030', 'DA'],
  PatientSex: ['00100040', 'CS'],
  DeviceSerialNumber: ['00181000', 'LO'],
  SoftwareVersions: ['00181020', 'LO'],
  SliceThickness: ['00180050', 'DS'],
  StudyInstanceUID: ['0020000D', 'UI'],
  SeriesInstanceUID: ['0020000E', 'UI'],
  StudyID: ['00200010', 'SH'],
  SeriesNumber: ['00200011', 'IS'],
  InstanceNumber: ['00200013', 'IS'],
  FrameOfReferenceUID: ['00200052', 'UI'],
  PositionReferenceIndicator: ['00201040', 'LO'],
  NumberOfStudyRelatedSeries: ['00201206', 'IS'],
  NumberOfStudyRelatedInstances: ['00201208', 'IS'],
  NumberOfSeriesRelatedInstances: ['00201209', 'IS'],
  DimensionOrganizationUID: ['00209164', 'UI'],
  DimensionOrganizationSequence: ['00209221', 'SQ'],
  DimensionIndexPointer: ['00209165', 'AT'],
  FunctionalGroupPointer: ['00209167', 'AT'],
  DimensionIndexSequence: ['00209222', 'SQ'],
  DimensionOrganizationType: ['00209311', 'CS'],
  PyramidUID: ['00080019', 'UI'],
  SamplesPerPixel: ['00280002', 'US'],
  PhotometricInterpretation: ['00280004', 'CS'],
  PlanarConfiguration: ['00280006', 'US'],
  NumberOfFrames: ['00280008', 'IS'],
  Rows: ['00280010', 'US'],
  Columns: ['00280011', 'US'],
  PixelSpacing: ['00280030', 'DS'],
  BitsAllocated: ['00280100', 'US'],
  BitsStored: ['00280101', 'US'],
  HighBit: ['00280102', 'US'],
  PixelRepresentation: ['00280103', 'US'],
  BurnedInAnnotation: ['00280301', 'CS'],
  RescaleIntercept: ['00281052', 'DS'],
  RescaleSlope: ['00281053', 'DS'],
  ICCProfile: ['00282000', 'OB'],
  LossyImageCompression: ['00282110', 'CS'],
  LossyImageCompressionRatio: ['00282112', 'DS'],
  LossyImageCompressionMethod: ['00282114', 'CS'],
  ContainerIdentifier: ['00400512', 'LO'],
  IssuerOfTheContainerIdentifierSequence: ['00400513', 'SQ'],
  ContainerTypeCodeSequence: ['00400518', 'SQ'],
  AcquisitionContextSequence: ['00400555', 'SQ'],
  SpecimenIdentifier: ['00400551', 'LO'],
  SpecimenUID: ['00400554', 'UI'],
  SpecimenDescriptionSequence: ['00400560', 'SQ'],
  IssuerOfTheSpecimenIdentifierSequence: ['00400562', 'SQ'],
  SpecimenPreparationSequence: ['00400610', 'SQ'],
  WholeSlideMicroscopyImageFrameTypeSequence: ['00400710', 'SQ'],
  XOffsetInSlideCoordinateSystem: ['0040072A', 'DS'],
  YOffsetInSlideCoordinateSystem: ['0040073A', 'DS'],
  ImagedVolumeWidth: ['00480001', 'FL'],
  ImagedVolumeHeight: ['00480002', 'FL'],
  ImagedVolumeDepth: ['00480003', 'FL'],
  TotalPixelMatrixColumns: ['00480006', 'UL'],
  TotalPixelMatrixRows: ['00480007', 'UL'],
  TotalPixelMatrixOriginSequence: ['00480008', 'SQ'],
  SpecimenLabelInImage: ['00480010', 'CS'],
  FocusMethod: ['00480011', 'CS'],
  ExtendedDepthOfField: ['00480012', 'CS'],
  ImageOrientationSlide: ['00480102', 'DS'],
  OpticalPathSequence: ['00480105', 'SQ'],
  OpticalPathIdentifier: ['00480106', 'SH'],
  OpticalPathDescription: ['00480107', 'ST'],
  IlluminationColorCodeSequence: ['00480108', 'SQ'],
  ObjectiveLensPower: ['00480112', 'DS'],
  OpticalPathIdentificationSequence: ['00480207', 'SQ'],
  NumberOfOpticalPaths: ['00480302', 'UL'],
  TotalPixelMatrixFocalPlanes: ['00480303', 'UL'],
  IlluminationTypeCodeSequence: ['00220016', 'SQ'],
  PixelMeasuresSequence: ['00289110', 'SQ'],
  PresentationLUTShape: ['20500020', 'CS'],
  SharedFunctionalGroupsSequence: ['52009229', 'SQ'],
} as const satisfies Record<string, readonly [tag: string, vr: string]>;

type Keyword = keyof typeof dictionary;

/** Values by keyword. A single value stands for a list of one value; null stands for an attribute without a value. */
export type Attributes = Readonly<Partial<Record<Keyword, Value>>>;
type Value = string | number | null | readonly (string | number)[] | readonly Attributes[] | BulkData;

/** A large value that the response does not contain; the client loads it from a URL. */
export class BulkData {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }
}

interface JsonElement {
  readonly vr: string;
  readonly Value?: readonly unknown[];
  readonly BulkDataURI?: string;
}

export type JsonDataSet = Readonly<Record<string, JsonElement>>;

/** Returns the tag of a keyword; undefined for a keyword that the server does not know. */
export function tagOf(keyword: string): string | undefined {
  return Object.hasOwn(dictionary, keyword) ? dictionary[keyword as Keyword][0] : undefined;
}

const keywordsByTag: ReadonlyMap<string, Keyword> = new Map(
  Object.entries(dictionary).map(([keyword, [tag]]) => [tag, keyword as Keyword]),
);

/** Returns the keyword of a tag; undefined for a tag that the server does not know. */
export const keywordOf = (tag: string): Keyword | undefined => keywordsByTag.get(tag);

/** Returns the elements of a data set by tag. `stringifyDataSets` puts them in order. */
export function toJson(attributes: Attributes): JsonDataSet {
  const elements = Object.entries(attributes).map(([keyword, value]) => {
    const [tag, vr] = dictionary[keyword as Keyword];
    return [tag, elementOf(vr, value)] as const;
  });
  return Object.fromEntries(elements);
}

/**
 * Returns the JSON text of data sets, also of nested ones, with the elements in ascending order of their tags (PS3.18 section F.2.2).
 * `JSON.stringify` would put tags without a leading zero first, because JavaScript orders integer-like names before all others.
 */
export function stringifyDataSets(dataSets: readonly JsonDataSet[]): string {
  return `[${dataSets.map(stringifyDataSet).join(',')}]`;
}

function stringifyDataSet(dataSet: JsonDataSet): string {
  const byTag = Object.entries(dataSet).sort(([tagA], [tagB]) => (tagA < tagB ? -1 : 1));
  const elements = byTag.map(([tag, element]) => {
    const { vr, Value: items } = element;
    const text =
      vr === 'SQ' && items !== undefined
        ? `{"vr":"SQ","Value":${stringifyDataSets(items as readonly JsonDataSet[])}}`
        : JSON.stringify(element);
    return `"${tag}":${text}`;
  });
  return `{${elements.join(',')}}`;
}

function elementOf(vr: string, value: Value): JsonElement {
  if (value instanceof BulkData) return { vr, BulkDataURI: value.url };
  const values = (Array.isArray(value) ? value : [value]) as readonly (string | number | Attributes | null)[];
  const nonEmptyValues = values.filter((item) => item !== null && item !== '');
  if (nonEmptyValues.length === 0) return { vr };
  return { vr, Value: nonEmptyValues.map((item) => jsonValueOf(vr, item as string | number | Attributes)) };
}

function jsonValueOf(vr: string, value: string | number | Attributes): unknown {
  if (typeof value === 'object') return toJson(value);
  if (vr === 'PN') return { Alphabetic: String(value) }; // PN: person name
  if (vr === 'DS') return roundForDecimalString(Number(value));
  return vr === 'IS' ? Number(value) : value; // IS: integer string, which is a number in JSON
}

/** Maximum number of characters of a decimal string (VR DS; PS3.5 section 6.2), which is a number in JSON. */
const maxDecimalStringLength = 16;

/** Rounds a number so that its decimal string is not too long. */
function roundForDecimalString(value: number): number {
  let rounded = value;
  for (let digits = maxDecimalStringLength; String(rounded).length > maxDecimalStringLength; digits--)
    rounded = Number(value.toPrecision(digits));
  return rounded;
}
