/**
 * Describes a slide with DICOM attributes, for responses of the DICOMweb service (dicomweb.ts): one study with one series, and an
 * instance for each level of the file (PS3.3 A.32.8, VL Whole Slide Microscopy Image IOD). Patient attributes are neutral. An
 * attribute that the standard requires (type 1) but the slide file does not contain gets its least specific value, such as `unknown`.
 */
import type { NativeLevel, PlaceOnGlass } from '@lamina/slide';
import type { DicomWebSlide } from '../tiles/slides.ts';
import { type Attributes, BulkData } from './attributes.ts';
import { uidOf } from './uids.ts';

/** The fields of a catalogue entry from which the attributes are derived. */
export interface DescribedImage {
  readonly id: string;
  readonly fileName: string;
  /** Creation time of the catalogue entry, ISO 8601. The attributes state it as the date of the scan, which the server does not know. */
  readonly createdAt: string;
}

/** SOP class of VL Whole Slide Microscopy Image Storage. */
const wsiStorageClass = '1.2.840.10008.5.1.4.1.1.77.1.6';
const neutralPatientName = 'Anonymous';

/** UIDs of transfer syntaxes by the coding process of JPEG or JPEG 2000. Source: DICOM PS3.6 table A-1. */
const transferSyntaxes = {
  baseline: '1.2.840.10008.1.2.4.50', // JPEG
  extended: '1.2.840.10008.1.2.4.51', // JPEG
  reversible: '1.2.840.10008.1.2.4.90', // JPEG 2000, lossless
  irreversible: '1.2.840.10008.1.2.4.91', // JPEG 2000
} as const satisfies Record<NativeLevel['process'], string>;

/** Returns the UID of the transfer syntax, the encoding of a level's pixels. */
export const transferSyntaxOf = ({ process }: NativeLevel): string => transferSyntaxes[process];

/** DICOM names of the colour models of stored pixels. `rct`, `ict`: reversible and irreversible colour transform of JPEG 2000. */
const photometricInterpretations = {
  grey: 'MONOCHROME2',
  rgb: 'RGB',
  ycc: 'YBR_FULL',
  'ycc-422': 'YBR_FULL_422',
  rct: 'YBR_RCT',
  ict: 'YBR_ICT',
} as const satisfies Record<NativeLevel['colour'], string>;

/** Micrometres per pixel of level 0 (full resolution) that the attributes state for a slide of unknown scale. */
const nominalMpp = 1;
/**
 * Position (mm) and orientation for files that do not state them: as if scanned with the label on the right. The
 * orientation contains the direction cosines (x, y, z) of the rows and then of the columns.
 */
const defaultPlaceOnGlass: PlaceOnGlass = { origin: { x: 0, y: 0 }, orientation: [0, -1, 0, -1, 0, 0] };
/** Assumed thickness of the tissue section in millimetres (5 µm), because no slide file states it. */
const sectionThicknessMm = 0.005;

/** Tags of RowPositionInTotalImagePixelMatrix and ColumnPositionInTotalImagePixelMatrix: the place of a tile in its level. */
const tilePositionTags = ['0048021F', '0048021E'];
/** Tag of PlanePositionSlideSequence, which contains these two attributes. */
const planePositionTag = '0048021A';

/** Maximum number of characters in a value of type LO (long string). */
const maxLongStringLength = 64;

/** Returns a valid LO value: replaces backslashes (which separate values in DICOM) and control characters, and shortens the text. */
const longString = (text: string) => text.replaceAll(/[\\\p{C}]/gu, ' ').slice(0, maxLongStringLength);

/** Returns the attributes of the patient and study. */
export function studyOf({ id, fileName }: DescribedImage): Attributes {
  return {
    SpecificCharacterSet: 'ISO_IR 192', // UTF-8
    StudyDate: null,
    StudyTime: null,
    AccessionNumber: null,
    ReferringPhysicianName: null,
    StudyDescription: longString(fileName),
    PatientName: neutralPatientName,
    PatientID: id,
    PatientBirthDate: null,
    PatientSex: null,
    StudyInstanceUID: uidOf(id, 'study'),
    StudyID: null,
  };
}

/** Returns the attributes of the only series. */
export function seriesOf({ id, fileName }: DescribedImage): Attributes {
  return {
    Modality: 'SM', // slide microscopy
    SeriesDescription: longString(fileName),
    SeriesInstanceUID: uidOf(id, 'series'),
    SeriesNumber: 1,
  };
}

/** Returns those attributes of an instance that a search response contains. `level.level`: index of the level, 0 is full resolution. */
export function instanceOf({ id }: DescribedImage, level: NativeLevel): Attributes {
  return {
    SOPClassUID: wsiStorageClass,
    SOPInstanceUID: uidOf(id, level.level),
    AvailableTransferSyntaxUID: transferSyntaxOf(level),
    InstanceNumber: level.level + 1,
    NumberOfFrames: level.columns * level.rows,
    Rows: level.tileHeight,
    Columns: level.tileWidth,
    BitsAllocated: 8,
  };
}

/** Returns a code sequence with one item. @param scheme Coding Scheme Designator (DICOM PS3.16 section 8) */
const codeSequence = (value: string, scheme: string, meaning: string): readonly Attributes[] => [
  { CodeValue: value, CodingSchemeDesignator: scheme, CodeMeaning: meaning },
];

/** Returns all attributes of an instance except its pixels. @param url URL of the instance */
// oxlint-disable-next-line lamina/max-own-lines -- a list of DICOM attributes
export function metadataOf(
  image: DescribedImage,
  slide: DicomWebSlide,
  level: NativeLevel,
  url: string,
): Attributes {
  const { id, createdAt } = image;
  const timestamp = createdAt.replaceAll(/[-:TZ]/g, ''); // YYYYMMDDhhmmss and milliseconds
  const [date, time] = [timestamp.slice(0, 8), timestamp.slice(8, 14)];
  const isGrey = level.colour === 'grey';
  const imageType =
    level.level === 0
      ? ['ORIGINAL', 'PRIMARY', 'VOLUME', 'NONE']
      : ['DERIVED', 'PRIMARY', 'VOLUME', 'RESAMPLED']; // a smaller level was computed from level 0
  const isLossy = level.process !== 'reversible';
  const spacingXMm = ((slide.mpp?.x ?? nominalMpp) * level.downsample) / 1000;
  const spacingYMm = ((slide.mpp?.y ?? nominalMpp) * level.downsample) / 1000;
  const pixelSpacing = [spacingYMm, spacingXMm]; // DICOM states the distance between rows first
  const containerIdentifier = longString(id);
  const { origin, orientation } = slide.placeOnGlass ?? defaultPlaceOnGlass;
  const dimensionOrganizationUid = uidOf(id, 'dimensions');
  return {
    ...studyOf(image),
    ...seriesOf(image),
    ...instanceOf(image, level),
    ImageType: imageType,
    ContentDate: date,
    ContentTime: time,
    AcquisitionDateTime: date + time,
    Manufacturer: longString(slide.vendor ?? 'unknown'),
    ManufacturerModelName: 'unknown',
    DeviceSerialNumber: 'unknown',
    SoftwareVersions: 'unknown',
    PyramidUID: uidOf(id, 'pyramid'),
    FrameOfReferenceUID: uidOf(id, 'frame-of-reference'),
    PositionReferenceIndicator: 'SLIDE_CORNER',
    VolumetricProperties: 'VOLUME',
    SamplesPerPixel: isGrey ? 1 : 3,
    PhotometricInterpretation: photometricInterpretations[level.colour],
    ...(isGrey
      ? { RescaleIntercept: 0, RescaleSlope: 1, PresentationLUTShape: 'IDENTITY' }
      : { PlanarConfiguration: 0 }), // the colour channels of a pixel follow one another
    BitsStored: 8,
    HighBit: 7,
    PixelRepresentation: 0, // unsigned
    BurnedInAnnotation: 'NO',
    LossyImageCompression: isLossy ? '01' : '00',
    ...(isLossy && {
      LossyImageCompressionMethod: level.codec === 'jpeg' ? 'ISO_10918_1' : 'ISO_15444_1',
      LossyImageCompressionRatio: 10, // a nominal value, because slide files do not state the ratio
    }),
    ContainerIdentifier: containerIdentifier,
    IssuerOfTheContainerIdentifierSequence: null,
    ContainerTypeCodeSequence: codeSequence('433466003', 'SCT', 'Microscope slide'),
    AcquisitionContextSequence: null,
    SpecimenDescriptionSequence: [
      {
        SpecimenIdentifier: containerIdentifier,
        SpecimenUID: uidOf(id, 'specimen'),
        IssuerOfTheSpecimenIdentifierSequence: null,
        SpecimenPreparationSequence: null,
      },
    ],
    ImagedVolumeWidth: level.width * spacingXMm,
    ImagedVolumeHeight: level.height * spacingYMm,
    ImagedVolumeDepth: sectionThicknessMm * 1000, // in micrometres, unlike width and height
    TotalPixelMatrixColumns: level.width,
    TotalPixelMatrixRows: level.height,
    TotalPixelMatrixFocalPlanes: 1,
    TotalPixelMatrixOriginSequence: [
      { XOffsetInSlideCoordinateSystem: origin.x, YOffsetInSlideCoordinateSystem: origin.y },
    ],
    SpecimenLabelInImage: 'NO',
    FocusMethod: 'AUTO',
    ExtendedDepthOfField: 'NO',
    ImageOrientationSlide: orientation,
    NumberOfOpticalPaths: 1,
    OpticalPathSequence: [
      {
        OpticalPathIdentifier: '1',
        OpticalPathDescription: 'Brightfield',
        IlluminationTypeCodeSequence: codeSequence('111744', 'DCM', 'Brightfield illumination'),
        IlluminationColorCodeSequence: codeSequence('414298005', 'SCT', 'Full Spectrum'),
        ...(slide.objectivePower !== null && { ObjectiveLensPower: slide.objectivePower }),
        ...(slide.hasIccProfile && { ICCProfile: new BulkData(`${url}/bulkdata/icc`) }), // a URL instead of the bytes
      },
    ],
    DimensionOrganizationType: 'TILED_FULL',
    DimensionOrganizationSequence: [{ DimensionOrganizationUID: dimensionOrganizationUid }],
    DimensionIndexSequence: tilePositionTags.map((pointer) => ({
      DimensionOrganizationUID: dimensionOrganizationUid,
      DimensionIndexPointer: pointer,
      FunctionalGroupPointer: planePositionTag,
    })),
    SharedFunctionalGroupsSequence: [
      {
        PixelMeasuresSequence: [{ PixelSpacing: pixelSpacing, SliceThickness: sectionThicknessMm }],
        WholeSlideMicroscopyImageFrameTypeSequence: [{ FrameType: imageType }],
        OpticalPathIdentificationSequence: [{ OpticalPathIdentifier: '1' }],
      },
    ],
  };
}
