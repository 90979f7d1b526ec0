/**
 * IIIF service: image information, images and manifests of slides (iiif.io/api/image/3.0, iiif.io/api/presentation/3.0).
 *
 * A request for exactly the pixels of one Deep Zoom tile gets the bytes of that tile, which are usually the bytes in the slide file. A
 * render worker (a separate process that decodes slides) renders all other images. Images for IIIF have the colours of the file, without
 * colour correction.
 */
import { createHash } from 'node:crypto';
import {
  type DeepZoomAddress,
  type DeepZoomDescriptor,
  isWithinViewLimits,
  maxViewPixels,
  maxViewSide,
  type View,
} from '@lamina/slide';
import type { TileClient } from '../tiles/render-source.ts';
import type { ServableImage, ServedBytes, Slides, Tiling } from '../tiles/slides.ts';
import { type ImageParameters, largestSize, parseImageRequest } from './image-request.ts';

/** `client`: the account and session whose share of the render queue a request uses, and the signal that aborts the request. */
export interface Iiif {
  /** Returns the document info.json. @param id URL of the image service @throws SlideError */
  information(image: ServableImage, id: string, client: TileClient): Promise<ServedJson>;
  /** Returns the requested image. @throws AppError invalid_request; SlideError */
  image(image: ServableImage, parameters: ImageParameters, client: TileClient): Promise<ServedImage>;
  /**
   * Returns the manifest of a slide.
   *
   * @param label replaces the file name, and hides the dataset, for a reader who may not see them
   * @throws SlideError
   */
  manifest(image: ServableImage, urls: ManifestUrls, client: TileClient, label?: string): Promise<ServedJson>;
}

export interface ServedJson {
  readonly json: object;
  readonly etag: string;
}

/** The bytes and the ETag of an image, and its media type. */
interface ServedImage extends ServedBytes {
  readonly type: 'image/jpeg' | 'image/png';
}

interface ManifestUrls {
  /** URL of the manifest itself. */
  readonly manifest: string;
  /** URL of the image service. */
  readonly image: string;
}

export function createIiif({ slides }: { readonly slides: Pick<Slides, 'tiling' | 'tile' | 'view'> }): Iiif {
  return {
    async information(image, id, client) {
      const tiling = await slides.tiling(image, client.requester);
      return { json: informationOf(id, tiling), etag: etagOf(tiling, 'info', id) };
    },

    async image(image, parameters, client) {
      const { descriptor } = await slides.tiling(image, client.requester);
      const view = parseImageRequest(parameters, descriptor);
      const type = view.format === 'jpg' ? 'image/jpeg' : 'image/png';
      const address = tileOf(view, descriptor); // level, column and row of a Deep Zoom tile
      if (address === null) return { ...(await slides.view(image, view, client)), type };
      const { bytes, etag } = await slides.tile(image, { address, knownTag: undefined }, client);
      return { bytes: bytes ?? '', etag, type }; // `bytes` is null only when `knownTag`, the ETag of the client, is current
    },

    async manifest(image, urls, client, label) {
      const tiling = await slides.tiling(image, client.requester);
      const names = label === undefined ? image : { fileName: label, dataset: null };
      const json = manifestOf(names, urls, tiling);
      const variant = JSON.stringify([names.fileName, names.dataset, urls]);
      return { json, etag: etagOf(tiling, 'manifest', variant) };
    },
  };
}

/** Returns the ETag of a document. @param variant the URLs and names on which the document depends besides the slide file */
function etagOf({ fingerprint }: Tiling, name: string, variant: string): string {
  const hash = createHash('sha256').update(variant).digest('base64url').slice(0, 22); // 132 bits
  return `"${fingerprint}-iiif-${name}-${hash}"`;
}

/** Returns the Deep Zoom tile with exactly the pixels of the view; null when there is none. */
export function tileOf(
  view: View,
  { width, height, tileSize, maxLevel }: DeepZoomDescriptor,
): DeepZoomAddress | null {
  const isUnchangedJpeg = view.rotation === 0 && !view.isMirrored && !view.isGrey && view.format === 'jpg';
  /** How often the view halves the width and height of full resolution, rounded; not negative, because no view enlarges its region. */
  const halvings = Math.round(Math.log2(Math.max(view.width / view.toWidth, view.height / view.toHeight)));
  const tileSideAtFullResolution = tileSize * 2 ** halvings;
  const isOnTileGrid = view.x % tileSideAtFullResolution === 0 && view.y % tileSideAtFullResolution === 0;
  if (!isUnchangedJpeg || !isOnTileGrid) return null;

  // Tiles at the right and bottom edges are smaller.
  const tileWidth = Math.min(tileSideAtFullResolution, width - view.x);
  const tileHeight = Math.min(tileSideAtFullResolution, height - view.y);
  const isWholeTile = view.width === tileWidth && view.height === tileHeight;
  const hasTileSize =
    view.toWidth === Math.ceil(tileWidth / 2 ** halvings) &&
    view.toHeight === Math.ceil(tileHeight / 2 ** halvings);
  if (!isWholeTile || !hasTileSize || halvings > maxLevel) return null;
  return {
    dziLevel: maxLevel - halvings,
    column: view.x / tileSideAtFullResolution,
    row: view.y / tileSideAtFullResolution,
  };
}

function informationOf(id: string, { descriptor, nativeDziLevels }: Tiling): object {
  const { width, height, tileSize, maxLevel } = descriptor;
  const [smallestNative = maxLevel] = nativeDziLevels.slice(-1); // native levels are stored in the file; the smallest is last
  // Contains the levels of the file, then one level for each further halving until the whole image fits into a single tile.
  const levels = new Set([maxLevel, ...nativeDziLevels]);
  for (let level = smallestNative; level >= 0; level--) {
    levels.add(level);
    if (Math.max(width, height) / 2 ** (maxLevel - level) <= tileSize) break;
  }
  const scaleFactors = [...levels].map((level) => 2 ** (maxLevel - level)).sort((a, b) => a - b);
  const sizes = scaleFactors
    .map((factor) => ({ width: Math.ceil(width / factor), height: Math.ceil(height / factor) }))
    .filter(({ width, height }) => isWithinViewLimits(width, height));
  return {
    '@context': 'http://iiif.io/api/image/3/context.json',
    id,
    type: 'ImageService3',
    protocol: 'http://iiif.io/api/image',
    profile: 'level2',
    width,
    height,
    maxArea: maxViewPixels,
    maxWidth: maxViewSide, // also the maximum height: Image API 3.0 section 5.2
    sizes: sizes.toReversed(),
    tiles: [{ width: tileSize, height: tileSize, scaleFactors }],
    extraQualities: ['color', 'gray'],
    extraFeatures: ['mirroring'],
  };
}

/** Longer side of a thumbnail in pixels. */
const thumbnailSide = 256;
const imageService = (id: string) => ({ id, type: 'ImageService3', profile: 'level2' }); // IIIF compliance level 2

// oxlint-disable-next-line lamina/max-own-lines -- one JSON document
function manifestOf(
  { fileName, dataset }: Pick<ServableImage, 'fileName' | 'dataset'>,
  urls: ManifestUrls,
  tiling: Tiling,
): object {
  const { width, height } = tiling.descriptor;
  const canvasId = `${urls.manifest}/canvas/1`;
  const service = [imageService(urls.image)];
  const largest = largestSize({ width, height });
  const thumbnailScale = Math.min(1, thumbnailSide / Math.max(width, height));
  const metadata = [
    { name: 'Dataset', value: dataset },
    { name: 'Pixel size (µm)', value: tiling.mpp && `${tiling.mpp.x} × ${tiling.mpp.y}` },
  ].flatMap(({ name, value }) =>
    value === null ? [] : [{ label: { en: [name] }, value: { none: [value] } }],
  );
  return {
    '@context': 'http://iiif.io/api/presentation/3/context.json',
    id: urls.manifest,
    type: 'Manifest',
    label: { none: [fileName] },
    ...(metadata.length > 0 && { metadata }),
    thumbnail: [
      {
        id: `${urls.image}/full/!${thumbnailSide},${thumbnailSide}/0/default.jpg`,
        type: 'Image',
        format: 'image/jpeg',
        width: Math.max(1, Math.round(width * thumbnailScale)),
        height: Math.max(1, Math.round(height * thumbnailScale)),
        service,
      },
    ],
    items: [
      {
        id: canvasId,
        type: 'Canvas',
        label: { none: [fileName] },
        width,
        height,
        items: [
          {
            id: `${canvasId}/page/1`,
            type: 'AnnotationPage',
            items: [
              {
                id: `${canvasId}/page/1/image`,
                type: 'Annotation',
                motivation: 'painting',
                body: {
                  id: `${urls.image}/full/max/0/default.jpg`,
                  type: 'Image',
                  format: 'image/jpeg',
                  ...largest,
                  service,
                },
                target: canvasId,
              },
            ],
          },
        ],
      },
    ],
  };
}
