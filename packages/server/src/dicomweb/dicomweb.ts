/**
 * Read-only DICOMweb service. A slide is a study with one series. Each level whose tiles the file stores as JPEG or JPEG 2000 is an
 * instance; each tile is a frame, whose bytes the server sends as stored. A slide without such levels is a study without a series.
 */
import { AppError, type Image, type User } from '@lamina/contract';
import { type BufferAllocator, type NativeLevel, type Requester, renderedTileCoding } from '@lamina/slide';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { TileClient } from '../tiles/render-source.ts';
import type { DicomWebSlide, NativeLevelTile, ServableImage, ServedBytes, Slides } from '../tiles/slides.ts';
import { type Attributes, type JsonDataSet, tagOf, toJson } from './attributes.ts';
import { type DescribedImage, instanceOf, metadataOf, seriesOf, studyOf } from './describe-slide.ts';
import { matchesQuery, type SearchQuery, searchLimits, valuesIn } from './search-query.ts';
import { imageIdOf, uidOf } from './uids.ts';

export type SearchLevel = 'study' | 'series' | 'instance';

/** The UIDs in the path of a request. An undefined UID stands for all studies, series or instances. */
export interface RequestedUids {
  readonly study?: string | undefined;
  readonly series?: string | undefined;
  readonly instance?: string | undefined;
}

/** A study and its open slide. */
export interface OpenedStudy {
  readonly image: ServableImage;
  readonly described: DescribedImage;
  readonly slide: DicomWebSlide;
}

export interface DicomWeb {
  /**
   * Returns the studies, series or instances that match the query, as DICOM JSON. `hasMore` tells whether the limit of the query left
   * out further ones. A slide that cannot be opened now is left out.
   *
   * @param context.requester account and session whose share of the render queue the search uses
   * @param context.base URL of the DICOMweb service
   * @param context.signal aborted when the client disconnects; the search then ends
   * @throws the reason of the signal, and database errors
   */
  search(
    level: SearchLevel,
    query: SearchQuery,
    uids: RequestedUids,
    context: {
      readonly user: User;
      readonly requester: Requester;
      readonly base: string;
      readonly signal: AbortSignal;
    },
  ): Promise<{ readonly results: readonly JsonDataSet[]; readonly hasMore: boolean }>;
  /** Returns the id of the image of the study in the path. @throws AppError not_found */
  imageIdOf(uids: RequestedUids): string;
  /** Opens the slide of a study. @param createdAt creation time of the catalogue entry @throws SlideError */
  open(image: ServableImage, createdAt: string, requester: Requester): Promise<OpenedStudy>;
  /** Returns the metadata of the instances that the UIDs select. @throws AppError not_found when the study does not contain them */
  metadata(study: OpenedStudy, uids: RequestedUids, base: string): readonly JsonDataSet[];
  /**
   * Returns a frame of an instance.
   *
   * @param frameNumber counted from 1
   * @param client account and session whose share of the render queue the request uses, and the signal that aborts it
   * @param allocate supplies the memory into which the frame is read
   * @throws AppError not_found; SlideError
   */
  frame(
    image: ServableImage,
    uids: RequestedUids,
    frameNumber: number,
    client: TileClient,
    allocate?: BufferAllocator,
  ): Promise<NativeLevelTile>;
  /** Returns the ICC profile of the slide. @throws AppError not_found when it has none, or lacks the series or instance; SlideError */
  iccProfile(study: OpenedStudy, uids: RequestedUids, requester: Requester): Promise<ServedBytes>;
}

/** Instances of open slides. Each request for a frame looks one up, so they are computed only once. */
const instancesBySlide = new WeakMap<DicomWebSlide, Instances>();

interface Instances {
  /** UID of the only series. */
  readonly series: string;
  /** Levels by the UID of their instance. */
  readonly levels: ReadonlyMap<string, NativeLevel>;
}

function instancesOf(imageId: string, slide: DicomWebSlide): Instances {
  const cachedInstances = instancesBySlide.get(slide);
  if (cachedInstances !== undefined) return cachedInstances;
  const levels = new Map(slide.levels.map((level) => [uidOf(imageId, level.level), level]));
  const instances = { series: uidOf(imageId, 'series'), levels };
  instancesBySlide.set(slide, instances);
  return instances;
}

/** Number of images in one query of the catalogue. */
const pageSize = 100;
/** Maximum number of study UIDs that a search looks up. It ignores further ones. */
const maxStudyUids = 100;

interface DicomWebDependencies {
  readonly slides: Pick<Slides, 'dicomWebSlide' | 'nativeLevelTile' | 'iccProfile'>;
  readonly catalogue: Pick<Catalogue, 'list' | 'get' | 'servable'>;
}

/** The function is long because search and retrieval share functions that open a study. */
export function createDicomWeb({ slides, catalogue }: DicomWebDependencies): DicomWeb {
  /**
   * Yields the ready images that the user may see.
   *
   * @param studyUids one UID, or a list of UIDs separated by commas or backslashes; undefined: all studies
   */
  async function* imagesOf(user: User, studyUids: string | undefined): AsyncGenerator<Image> {
    if (studyUids !== undefined) {
      for (const uid of studyUids.split(/[,\\]/).slice(0, maxStudyUids)) {
        const id = imageIdOf(uid);
        const image = id === null ? null : await catalogue.get(id, user).catch(nullIfMissing);
        if (image?.status === 'ready') yield image;
      }
      return;
    }
    let cursor: string | null | undefined;
    do {
      const page = await catalogue.list({ limit: pageSize, ...(cursor && { cursor }) }, user);
      for (const image of page.images) if (image.status === 'ready') yield image;
      cursor = page.next_cursor;
    } while (cursor);
  }

  /** Opens a slide; returns null if it cannot be read now. */
  async function openOrNull(id: string, requester: Requester): Promise<DicomWebSlide | null> {
    const servable = await catalogue.servable(id);
    if (servable === null) return null;
    return slides.dicomWebSlide(servable, requester).catch(() => null);
  }

  /** Returns the level that an instance stands for. @throws AppError not_found */
  function levelOf(imageId: string, slide: DicomWebSlide, { series, instance }: RequestedUids): NativeLevel {
    const instances = instancesOf(imageId, slide);
    const level = instances.levels.get(instance ?? '');
    if (level === undefined || series !== instances.series) throw new AppError('not_found');
    return level;
  }

  return {
    async search(level, { matches, limit, offset }, uids, { user, requester, base, signal }) {
      if (limit === 0 || !mayMatch(level, matches) || offset > searchLimits.offset) {
        return { results: [], hasMore: false };
      }
      const results: JsonDataSet[] = [];
      let matchCount = 0;
      const catalogueMatches = new Map([...matches].filter(([tag]) => catalogueTags.has(tag)));
      const studyUids = uids.study ?? matches.get(studyUidTag);
      for await (const { id, file_name: fileName, created_at: createdAt } of imagesOf(user, studyUids)) {
        signal.throwIfAborted();
        const described = { id, fileName, createdAt };
        // Opening a file is slow, so attributes that come from the catalogue are compared first.
        const catalogueDataSet = toJson({ ...studyOf(described), ...seriesOf(described) });
        if (!matchesQuery(catalogueDataSet, catalogueMatches)) continue;
        const slide = await openOrNull(id, requester);
        if (slide === null) continue;
        for (const dataSet of dataSetsOf(level, described, slide, uids, base)) {
          // A study with a series can also be found by the attributes of the series, which its data set does not contain.
          const searchable = slide.levels.length > 0 ? { ...catalogueDataSet, ...dataSet } : dataSet;
          if (!matchesQuery(searchable, matches)) continue;
          matchCount++;
          if (matchCount <= offset) continue;
          if (results.length === limit) return { results, hasMore: true };
          results.push(dataSet);
        }
      }
      return { results, hasMore: false };
    },

    imageIdOf({ study = '' }) {
      const id = imageIdOf(study);
      if (id === null) throw new AppError('not_found');
      return id;
    },

    async open(image, createdAt, requester) {
      const slide = await slides.dicomWebSlide(image, requester);
      return { image, slide, described: { id: image.id, fileName: image.fileName, createdAt } };
    },

    metadata(study, uids, base) {
      const { image, slide, described } = study;
      if (uids.series !== undefined && uids.series !== uidOf(image.id, 'series'))
        throw new AppError('not_found');
      const levels = uids.instance === undefined ? slide.levels : [levelOf(image.id, slide, uids)];
      if (levels.length === 0) throw new AppError('not_found'); // the study has no series
      return levels.map((level) => toJson(metadataOf(described, slide, level, urlOf(base, image.id, level))));
    },

    frame(image, uids, frameNumber, client, allocate) {
      // `nativeLevelTile` calls this function when the slide is open, and reads the chosen tile.
      const chooseTile = (slide: DicomWebSlide) => {
        const level = levelOf(image.id, slide, uids);
        if (frameNumber < 1 || frameNumber > level.columns * level.rows) throw new AppError('not_found');
        return { level, index: frameNumber - 1 };
      };
      return slides.nativeLevelTile(image, { choose: chooseTile, allocate }, client);
    },

    async iccProfile({ image, slide }, uids, requester) {
      levelOf(image.id, slide, uids); // throws if the path names another series or an unknown instance
      const profile = await slides.iccProfile(image, requester);
      if (profile === null) throw new AppError('not_found');
      return profile;
    },
  };
}

const studyUidTag = tagOf('StudyInstanceUID') ?? '';
const modalityTag = tagOf('Modality') ?? '';
const modalitiesInStudyTag = tagOf('ModalitiesInStudy') ?? '';
/** An image and a level whose values do not matter, because only the tags of their attributes are needed. */
const exampleImage: DescribedImage = {
  id: '00000000-0000-4000-8000-000000000000',
  fileName: '',
  createdAt: '',
};
const exampleLevel: NativeLevel = {
  ...renderedTileCoding, // codec and colour model
  level: 0,
  width: 1,
  height: 1,
  tileWidth: 1,
  tileHeight: 1,
  columns: 1,
  rows: 1,
  downsample: 1,
};
/** Tags of the attributes that come from the catalogue: a search compares these without opening the slide file. */
const catalogueTags: ReadonlySet<string> = new Set(
  Object.keys(toJson({ ...studyOf(exampleImage), ...seriesOf(exampleImage) })),
);

/** Returns the tags of the attributes that a search can match: those that its response contains, and for studies also series attributes. */
export function searchableTagsOf(level: SearchLevel): ReadonlySet<string> {
  const dataSets = [...dataSetsOf(level, exampleImage, { levels: [exampleLevel] }, {}, '')];
  return new Set([...catalogueTags, ...dataSets.flatMap(Object.keys)]);
}

/**
 * Returns whether slides, whose modality is SM (slide microscopy), can match the query. When a viewer opens a study, it also searches
 * for series of other modalities; the server answers such a search without reading the catalogue. Values of the query
 * that can match: SM, S?, ?M, ??, every pattern with a star, and a list that contains one of them.
 */
function mayMatch(level: SearchLevel, matches: SearchQuery['matches']): boolean {
  const mayMatchSlides = (queryValue: string | undefined) =>
    queryValue === undefined || valuesIn(queryValue).some((value) => /^([S?][M?]|.*[*].*)$/i.test(value));
  // In a search for instances, only `matchesQuery` compares this attribute of the study; this function only saves time.
  const mayMatchStudy = level === 'instance' || mayMatchSlides(matches.get(modalitiesInStudyTag));
  return mayMatchSlides(matches.get(modalityTag)) && mayMatchStudy;
}

/** Yields the data sets of a slide for a search at a level: one for the study, one for the series, or one for each instance. */
function* dataSetsOf(
  level: SearchLevel,
  image: DescribedImage,
  slide: Pick<DicomWebSlide, 'levels'>,
  { series, instance }: RequestedUids,
  base: string,
): Generator<JsonDataSet> {
  const instanceCount = slide.levels.length;
  const study: Attributes = {
    ...studyOf(image),
    NumberOfStudyRelatedSeries: Math.min(1, instanceCount),
    NumberOfStudyRelatedInstances: instanceCount,
    ModalitiesInStudy: instanceCount > 0 ? 'SM' : null,
  };
  const studyUrl = `${base}/studies/${uidOf(image.id, 'study')}`;
  if (level === 'study') {
    yield toJson({ ...study, RetrieveURL: studyUrl });
    return;
  }
  if (instanceCount === 0) return;

  const seriesUid = uidOf(image.id, 'series');
  if (series !== undefined && series !== seriesUid) return;
  const seriesAttributes = {
    ...study,
    ...seriesOf(image),
    NumberOfSeriesRelatedInstances: instanceCount,
  };
  if (level === 'series') {
    yield toJson({ ...seriesAttributes, RetrieveURL: `${studyUrl}/series/${seriesUid}` });
    return;
  }

  for (const storedLevel of slide.levels) {
    if (instance !== undefined && instance !== uidOf(image.id, storedLevel.level)) continue;
    const RetrieveURL = urlOf(base, image.id, storedLevel);
    yield toJson({ ...seriesAttributes, ...instanceOf(image, storedLevel), RetrieveURL });
  }
}

/** Returns the URL of the instance of a level. */
function urlOf(base: string, imageId: string, { level }: NativeLevel): string {
  const [study, series, instance] = [
    uidOf(imageId, 'study'),
    uidOf(imageId, 'series'),
    uidOf(imageId, level),
  ];
  return `${base}/studies/${study}/series/${series}/instances/${instance}`;
}

function nullIfMissing(error: unknown): null {
  if (error instanceof AppError && error.code === 'not_found') return null;
  throw error;
}
