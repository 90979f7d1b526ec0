/**
 * Numbers of the TIFF tags that Lamina reads. Source: TIFF 6.0; TIFF Technical Notes 1 (SubIFDs) and 2 (JPEGTables);
 * Adobe (XMP); Silicon Graphics (ImageDepth); ICC (ICCProfile); GDAL (GdalNoData); OpenSlide's notes on the Hamamatsu
 * format (65,420 and above).
 */
export const tag = {
  NewSubfileType: 254,
  ImageWidth: 256,
  ImageLength: 257,
  BitsPerSample: 258,
  Compression: 259,
  PhotometricInterpretation: 262,
  FillOrder: 266,
  ImageDescription: 270,
  StripOffsets: 273,
  Orientation: 274,
  SamplesPerPixel: 277,
  RowsPerStrip: 278,
  StripByteCounts: 279,
  MinSampleValue: 280,
  MaxSampleValue: 281,
  XResolution: 282,
  YResolution: 283,
  PlanarConfiguration: 284,
  ResolutionUnit: 296,
  Software: 305,
  Predictor: 317,
  ColorMap: 320,
  TileWidth: 322,
  TileLength: 323,
  TileOffsets: 324,
  TileByteCounts: 325,
  SubIFDs: 330,
  InkSet: 332,
  ExtraSamples: 338,
  SampleFormat: 339,
  JPEGTables: 347,
  YCbCrSubSampling: 530,
  ReferenceBlackWhite: 532,
  XMP: 700,
  ImageDepth: 32_997,
  ICCProfile: 34_675,
  GdalNoData: 42_113,
  NdpiVersion: 65_420,
  SourceLens: 65_421,
  FocalPlane: 65_424,
  McuStarts: 65_426,
  McuStartsHigh: 65_432,
} as const;

export type Tag = (typeof tag)[keyof typeof tag];

const names = new Map<number, string>(Object.entries(tag).map(([name, number]) => [number, name]));

/** Returns the name of a tag for error messages, e.g. `TileOffsets (tag 324)`. */
export function nameOfTag(number: Tag): string {
  return `${names.get(number)} (tag ${number})`;
}
