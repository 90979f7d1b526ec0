import { type Raster, shrinkRaster } from '../decode/raster.ts';
import { tag } from '../tiff/tags.ts';
import { ascii, buildTiff, type DirectoryPlan, long, undefinedBytes } from './build-tiff.ts';
import { losslessDirectory, losslessPicture, withTags } from './lossless-directory.ts';
import { paintTissue } from './paint-tissue.ts';

/** A small slide of a vendor format that describes its levels and images in a text (XML or name-value pairs). */
export interface VendorSlide {
  /** The value of `Slide.format`. */
  readonly format: string;
  /** Builds a file of some kilobytes. @param text written in place of the valid text, for tests of damaged text */
  build(text?: string): Uint8Array;
  readonly text: string; // the valid text
}

const [WIDTH, HEIGHT, TILE] = [80, 64, 32];
const tissue = paintTissue(WIDTH, HEIGHT);
const half = shrinkRaster(tissue, 2); // 40 × 32 pixels
const STRIPS = null; // as the tile size of `losslessPicture`, makes it write strips in place of tiles

/** Adds an ImageDescription. */
const withDescription = (directory: DirectoryPlan, text: string) =>
  withTags(directory, { [tag.ImageDescription]: ascii(text) });

/** Builds a directory with a grey image, whose samples are the red samples of `picture`. */
const greyDirectory = (picture: Raster): DirectoryPlan =>
  losslessDirectory({
    width: picture.width,
    height: picture.height,
    tileSize: TILE,
    samplesPerPixel: 1,
    bits: 8,
    sampleAt: (x, y) => picture.rgb[(y * picture.width + x) * 3] as number,
  });

const vendorSlide = (
  format: string,
  text: string,
  directories: (text: string) => readonly DirectoryPlan[],
): VendorSlide => ({
  format,
  text,
  build: (builtText = text) => buildTiff({ directories: directories(builtText), isBig: true }).bytes,
});

/** PhysicalSizeX states its unit and PhysicalSizeY does not (the default is µm), so that tests cover both cases. */
const omeXml =
  '<OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06" UUID="urn:uuid:1">' +
  '<Instrument ID="Instrument:0"><Objective ID="Objective:0" NominalMagnification="20.0"/></Instrument>' +
  '<Image ID="Image:0" Name="slide"><ObjectiveSettings ID="Objective:0"/>' +
  `<Pixels DimensionOrder="XYZCT" PhysicalSizeX="0.5" PhysicalSizeXUnit="nm" PhysicalSizeY="0.5" SizeX="${WIDTH}" SizeY="${HEIGHT}" SizeC="2" SizeZ="1" SizeT="1" Type="uint8">` +
  '<Channel ID="Channel:0:0" Color="-16776961" SamplesPerPixel="1"/><Channel ID="Channel:0:1" Color="16711935"/>' +
  '<TiffData FirstC="0" FirstZ="0" FirstT="0" IFD="0" PlaneCount="1"><UUID FileName="a">urn:uuid:1</UUID></TiffData>' +
  '<TiffData FirstC="1" IFD="1"/></Pixels></Image>' +
  '<Image ID="Image:1" Name="label image"><Pixels DimensionOrder="XYCZT" SizeX="40" SizeY="32" SizeC="3" SizeZ="1" SizeT="1"><TiffData IFD="2"/></Pixels></Image></OME>';

const qptiffPage = (type: string, more: string) =>
  `<PerkinElmer-QPI-ImageDescription><ImageType>${type}</ImageType>${more}</PerkinElmer-QPI-ImageDescription>`;

/** Builds an attribute of Philips' XML. Readers ignore Group and Element, so all attributes have the same. */
const attribute = (name: string, value: string) =>
  `<Attribute Name="${name}" Group="0x301D" Element="0x1004" PMSVR="IString">${value}</Attribute>`;

const philipsXml =
  '<DataObject ObjectType="DPUfsImport">' +
  attribute(
    'PIM_DP_SCANNED_IMAGES',
    '<Array><DataObject ObjectType="DPScannedImage">' +
      attribute('PIM_DP_IMAGE_TYPE', 'WSI') +
      attribute('DICOM_PIXEL_SPACING', '"0.00025" "0.00025"') +
      attribute(
        'PIIM_PIXEL_DATA_REPRESENTATION_SEQUENCE',
        `<Array>${[1, 2]
          .map(
            (downsample, i) =>
              '<DataObject ObjectType="PixelDataRepresentation">' +
              attribute('DICOM_PIXEL_SPACING', `"${0.00025 * downsample}" "${0.00025 * downsample}"`) +
              attribute('PIIM_PIXEL_DATA_REPRESENTATION_NUMBER', String(i)) +
              '</DataObject>',
          )
          .join('')}</Array>`,
      ) +
      '</DataObject></Array>',
  ) +
  '</DataObject>';

/** Builds the XML element of a Ventana slide that states that two adjacent frames overlap by 4 × 2 pixels. */
const joint = (direction: string, frame: number, neighbour: number) =>
  `<TileJointInfo FlagJoined="1" Confidence="100" Direction="${direction}" Tile1="${frame}" Tile2="${neighbour}" OverlapX="4" OverlapY="2"/>`;

/** Frames are numbered as scanned: 1 to 3 from left to right in the lower row, 4 to 6 from right to left in the upper row. */
const ventanaXml =
  '<EncodeInfo Ver="2"><SlideStitchInfo><ImageInfo AOIScanned="1" Width="32" Height="32" NumRows="2" NumCols="3" Pos-X="0" Pos-Y="0.0">' +
  joint('RIGHT', 1, 2) +
  joint('RIGHT', 2, 3) +
  joint('LEFT', 4, 5) +
  joint('UP', 1, 6) +
  joint('DOWN', 4, 3) +
  '</ImageInfo></SlideStitchInfo><AoiOrigin><AOI0 OriginX="0" OriginY="0"/></AoiOrigin></EncodeInfo>';

/**
 * Builds an `<image>` element of the XML of an SCN slide.
 *
 * @param ifd index of its first directory
 * @param x position on the glass in nanometres, like `y`
 */
const scnImage = (ifd: number, x: number, y: number) =>
  `<image name="a"><pixels sizeX="${WIDTH}" sizeY="${HEIGHT}"><dimension r="0" sizeX="${WIDTH}" sizeY="${HEIGHT}" ifd="${ifd}"/>` +
  `<dimension r="1" sizeX="40" sizeY="32" ifd="${ifd + 1}"/></pixels><view sizeX="40000" sizeY="32000" offsetX="${x}" offsetY="${y}"/>` +
  '<scanSettings><objectiveSettings><objective>20</objective></objectiveSettings>' +
  '<illuminationSettings><illuminationSource>brightfield</illuminationSource></illuminationSettings></scanSettings></image>';

const scnXml =
  '<scn xmlns="http://www.leica-microsystems.com/scn/2010/10/01"><collection sizeX="200000" sizeY="200000">' +
  `${scnImage(0, 1000, 2000)}${scnImage(2, 60_000, 9000)}</collection></scn>`;

/** One slide of each vendor format that describes its levels and images in a text. */
export const vendorSlides: readonly VendorSlide[] = [
  vendorSlide('ome-tiff', omeXml, (text) => [
    { ...withDescription(greyDirectory(tissue), text), subDirectories: [greyDirectory(half)] },
    { ...greyDirectory(tissue), subDirectories: [greyDirectory(half)] },
    losslessPicture(half, STRIPS),
  ]),
  vendorSlide(
    'qptiff',
    qptiffPage('FullResolution', '<Name>DAPI</Name><Color>0,0,255</Color><Objective>10x</Objective>'),
    (text) => [
      withDescription(greyDirectory(tissue), text),
      withDescription(greyDirectory(half), qptiffPage('ReducedResolution', '<Name>DAPI</Name>')),
      withDescription(losslessPicture(half, STRIPS), qptiffPage('Label', '')),
    ],
  ),
  vendorSlide('philips-tiff', philipsXml, (text) => [
    withTags(withDescription(losslessPicture(tissue, TILE), text), {
      [tag.Software]: ascii('Philips DP v1.0'),
    }),
    withTags(losslessPicture(half, TILE), { [tag.NewSubfileType]: long(1) }),
  ]),
  vendorSlide('ventana-bif', ventanaXml, (text) => [
    withTags(withDescription(losslessPicture(half, STRIPS), 'Label Image'), {
      [tag.XMP]: undefinedBytes(
        Buffer.from('<iScan Magnification="20" ScanRes="0.465" ScanWhitePoint="235"/>'),
      ),
    }),
    withTags(withDescription(losslessPicture(paintTissue(96, 64), TILE), 'level=0 mag=20 quality=90'), {
      [tag.XMP]: undefinedBytes(Buffer.from(text)),
    }),
    withDescription(losslessPicture(paintTissue(48, 32), TILE), 'level=1 mag=10 quality=90'),
  ]),
  vendorSlide('leica-scn', scnXml, (text) => [
    withDescription(losslessPicture(tissue, TILE), text),
    losslessPicture(half, TILE),
    losslessPicture(tissue, TILE),
    losslessPicture(half, TILE),
  ]),
  // OverlapsXY: x and y in pixels for each level, here 4 and 6 for level 0, 2 and 2 for level 1.
  vendorSlide('trestle', 'Background Color=E6E0DC;Objective Power=20;OverlapsXY= 4 6 2 2', (text) => [
    withTags(withDescription(losslessPicture(tissue, TILE), text), { [tag.Software]: ascii('MedScan') }),
    losslessPicture(half, TILE),
  ]),
];
