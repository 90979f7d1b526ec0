/**
 * What DICOM says of a slide: study, series, and an instance for each stored level (PS3.3 A.32.8, VL Whole Slide Microscopy
 * Image IOD). Patient attributes are neutral. Attributes of type 1 that nothing is known of have the least specific value.
 */
import type { PlaceOnGlass, StoredLevel } from '@lamina/slide';
import type { StoredSlide } from '../tiles/slides.ts';
import { type Attributes, BulkData } from './attributes.ts';
import { uidOf } from './uids.ts';

/** A catalogue entry as far as DICOM describes it. */
export interface DescribedImage {
  readonly id: string;
  readonly fileName: string;
  /** ISO 8601; stands for the unknown dates of the scan. */
  readonly createdAt: string;
}

const wsiStorage = '1.2.840.10008.5.1.4.1.1.77.1.6';
const neutralPatientName = 'Anonymous';

/** Transfer syntaxes by coding process. Source: PS3.6 table A-1. */
const transferSyntaxes = {
  baseline: '1.2.840.10008.1.2.4.50',
  extended: '1.2.840.10008.1.2.4.51',
  reversible: '1.2.840.10008.1.2.4.90',
  irreversible: '1.2.840.10008.1.2.4.91',
} as const satisfies Record<StoredLevel['process'], string>;

export const transferSyntaxOf = ({ process }: StoredLevel): string => transferSyntaxes[process];

const photometric = {
  grey: 'MONOCHROME2',
  rgb: 'RGB',
  ycc: 'YBR_FULL',
  'ycc-422': 'YBR_FULL_422',
  rct: 'YBR_RCT',
  ict: 'YBR_ICT',
} as const satisfies Record<StoredLevel['colour'], string>;

/** Micrometres per pixel of a slide of unknown scale. */
const nominalMpp = 1;
/** Of a slide whose file does not state it: scanned with the label on the right. */
const assumedPlace: PlaceOnGlass = { origin: { x: 0, y: 0 }, orientation: [0, -1, 0, -1, 0, 0] };
/** Thickness of a section in millimetres, which no slide states: 5 µm. */
const sectionThickness = 0.005;

/** Tags of the row and column of a tile in the total pixel matrix, and of the sequence that has them. */
const tilePositions = ['0048021F', '0048021E'];
const planePosition = '0048021A';

const text = (value: string, most: number) => value.replaceAll(/[\\\p{C}]/gu, ' ').slice(0, most);

export function studyOf({ id, fileName }: DescribedImage): Attributes {
  return {
    SpecificCharacterSet: 'ISO_IR 192',
    StudyDate: null,
    StudyTime: null,
    AccessionNumber: null,
    ReferringPhysicianName: null,
    StudyDescription: text(fileName, 64),
    PatientName: neutralPatientName,
    PatientID: id,
    PatientBirthDate: null,
    PatientSex: null,
    StudyInstanceUID: uidOf(id, 'study'),
    StudyID: null,
  };
}

export function seriesOf({ id, fileName }: DescribedImage): Attributes {
  return {
    Modality: 'SM',
    SeriesDescription: text(fileName, 64),
    SeriesInstanceUID: uidOf(id, 'series'),
    SeriesNumber: 1,
  };
}

/** Returns what a search tells of an instance. */
export function instanceOf({ id }: DescribedImage, level: StoredLevel): Attributes {
  return {
    SOPClassUID: wsiStorage,
    SOPInstanceUID: uidOf(id, level.level),
    AvailableTransferSyntaxUID: transferSyntaxOf(level),
    InstanceNumber: level.level + 1,
    NumberOfFrames: level.columns * level.rows,
    Rows: level.tileHeight,
    Columns: level.tileWidth,
    BitsAllocated: 8,
  };
}

const code = (value: string, scheme: string, meaning: string): readonly Attributes[] => [
  { CodeValue: value, CodingSchemeDesignator: scheme, CodeMeaning: meaning },
];

/** @param url of the instance */
// oxlint-disable-next-line lamina/max-own-lines -- a list of DICOM attributes
export function metadataOf(
  image: DescribedImage,
  slide: StoredSlide,
  level: StoredLevel,
  url: string,
): Attributes {
  const { id, createdAt } = image;
  const at = createdAt.replaceAll(/[-:TZ]/g, '');
  const [date, time] = [at.slice(0, 8), at.slice(8, 14)];
  const isGrey = level.colour === 'grey';
  const isFirst = level.level === 0;
  const imageType = [isFirst ? 'ORIGINAL' : 'DERIVED', 'PRIMARY', 'VOLUME', isFirst ? 'NONE' : 'RESAMPLED'];
  const isLossy = level.process !== 'reversible';
  const spacing = [slide.mpp?.y ?? nominalMpp, slide.mpp?.x ?? nominalMpp].map(
    (micrometres) => (micrometres * level.downsample) / 1000,
  );
  const [spacingY = 0, spacingX = 0] = spacing;
  const container = text(id, 64);
  const { origin, orientation } = slide.placeOnGlass ?? assumedPlace;
  const dimensions = uidOf(id, 'dimensions');
  return {
    ...studyOf(image),
    ...seriesOf(image),
    ...instanceOf(image, level),
    ImageType: imageType,
    ContentDate: date,
    ContentTime: time,
    AcquisitionDateTime: date + time,
    Manufacturer: text(slide.vendor ?? 'unknown', 64),
    ManufacturerModelName: 'unknown',
    DeviceSerialNumber: 'unknown',
    SoftwareVersions: 'unknown',
    PyramidUID: uidOf(id, 'pyramid'),
    FrameOfReferenceUID: uidOf(id, 'frame-of-reference'),
    PositionReferenceIndicator: 'SLIDE_CORNER',
    VolumetricProperties: 'VOLUME',
    SamplesPerPixel: isGrey ? 1 : 3,
    PhotometricInterpretation: photometric[level.colour],
    ...(isGrey
      ? { RescaleIntercept: 0, RescaleSlope: 1, PresentationLUTShape: 'IDENTITY' }
      : { PlanarConfiguration: 0 }),
    BitsStored: 8,
    HighBit: 7,
    PixelRepresentation: 0,
    BurnedInAnnotation: 'NO',
    LossyImageCompression: isLossy ? '01' : '00',
    ...(isLossy && {
      LossyImageCompressionMethod: level.codec === 'jpeg' ? 'ISO_10918_1' : 'ISO_15444_1',
      LossyImageCompressionRatio: 10,
    }),
    ContainerIdentifier: container,
    IssuerOfTheContainerIdentifierSequence: null,
    ContainerTypeCodeSequence: code('433466003', 'SCT', 'Microscope slide'),
    AcquisitionContextSequence: null,
    SpecimenDescriptionSequence: [
      {
        SpecimenIdentifier: container,
        SpecimenUID: uidOf(id, 'specimen'),
        IssuerOfTheSpecimenIdentifierSequence: null,
        SpecimenPreparationSequence: null,
      },
    ],
    ImagedVolumeWidth: level.width * spacingX,
    ImagedVolumeHeight: level.height * spacingY,
    ImagedVolumeDepth: sectionThickness * 1000,
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
        IlluminationTypeCodeSequence: code('111744', 'DCM', 'Brightfield illumination'),
        IlluminationColorCodeSequence: code('414298005', 'SCT', 'Full Spectrum'),
        ...(slide.objectivePower !== null && { ObjectiveLensPower: slide.objectivePower }),
        ...(slide.hasIccProfile && { ICCProfile: new BulkData(`${url}/bulkdata/icc`) }),
      },
    ],
    DimensionOrganizationType: 'TILED_FULL',
    DimensionOrganizationSequence: [{ DimensionOrganizationUID: dimensions }],
    DimensionIndexSequence: tilePositions.map((pointer) => ({
      DimensionOrganizationUID: dimensions,
      DimensionIndexPointer: pointer,
      FunctionalGroupPointer: planePosition,
    })),
    SharedFunctionalGroupsSequence: [
      {
        PixelMeasuresSequence: [{ PixelSpacing: spacing, SliceThickness: sectionThickness }],
        WholeSlideMicroscopyImageFrameTypeSequence: [{ FrameType: imageType }],
        OpticalPathIdentificationSequence: [{ OpticalPathIdentifier: '1' }],
      },
    ],
  };
}
