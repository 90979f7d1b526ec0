/**
 * DICOMweb, read only: a slide is a study with one series; each level whose tiles the file stores as JPEG or JPEG 2000 is an
 * instance, and each of its tiles a frame, byte for byte. A slide without such levels has a study without a series.
 */
import { AppError, type Image, type User } from '@lamina/contract';
import type { Allocate, Requester, StoredLevel } from '@lamina/slide';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { TileClient } from '../tiles/render-source.ts';
import type { ServableImage, ServedBytes, Slides, StoredSlide, StoredTile } from '../tiles/slides.ts';
import { type Attributes, type JsonDataSet, tagOf, toJson } from './attributes.ts';
import { type DescribedImage, instanceOf, metadataOf, seriesOf, studyOf } from './describe-slide.ts';
import { matchesQuery, type SearchQuery, searchLimits } from './search-query.ts';
import { imageIdOf, uidOf } from './uids.ts';

export type SearchLevel = 'study' | 'series' | 'instance';

/** UIDs of the path; undefined: all of them. */
export interface Scope {
  readonly study?: string | undefined;
  readonly series?: string | undefined;
  readonly instance?: string | undefined;
}

/** A slide that the caller may see. */
export interface OpenedStudy {
  readonly image: ServableImage;
  readonly described: DescribedImage;
  readonly slide: StoredSlide;
}

export interface DicomWeb {
  /** @param base URL of the service @throws AppError, SlideError */
  search(
    level: SearchLevel,
    query: SearchQuery,
    scope: Scope,
    by: { readonly user: User; readonly requester: Requester; readonly base: string },
  ): Promise<readonly JsonDataSet[]>;
  /** Returns the image that the scope is about. @throws AppError not_found */
  imageIdOf(scope: Scope): string;
  /** @throws AppError not_found; SlideError */
  open(image: ServableImage, createdAt: string, requester: Requester): Promise<OpenedStudy>;
  /** @throws AppError not_found for a scope that the study does not have */
  metadata(study: OpenedStudy, scope: Scope, base: string): readonly JsonDataSet[];
  /**
   * @param number from 1
   * @param allocate supplies the memory that the frame is read into
   * @throws AppError not_found; SlideError
   */
  frame(
    image: ServableImage,
    scope: Scope,
    number: number,
    client: TileClient,
    allocate?: Allocate,
  ): Promise<StoredTile>;
  /** @throws AppError not_found */
  iccProfile(study: OpenedStudy, scope: Scope, requester: Requester): Promise<ServedBytes>;
}

/** Levels of open slides by the UID of their instance, which each request for a frame names. */
const instances = new WeakMap<StoredSlide, Instances>();

interface Instances {
  /** UID of the only series. */
  readonly series: string;
  readonly levels: ReadonlyMap<string, StoredLevel>;
}

function instancesOf(imageId: string, slide: StoredSlide): Instances {
  const known = instances.get(slide);
  if (known !== undefined) return known;
  const levels = new Map(slide.levels.map((level) => [uidOf(imageId, level.level), level]));
  const found = { series: uidOf(imageId, 'series'), levels };
  instances.set(slide, found);
  return found;
}

const pageSize = 100;

interface DicomWebDependencies {
  readonly slides: Pick<Slides, 'stored' | 'storedTile' | 'iccProfile'>;
  readonly catalogue: Pick<Catalogue, 'list' | 'get' | 'servable'>;
}

/** One closure of more than 60 lines: search and retrieval describe the same studies. */
export function createDicomWeb({ slides, catalogue }: DicomWebDependencies): DicomWeb {
  /** Yields the ready images that the user may see, at most one when the query names a study. */
  async function* imagesOf(user: User, study: string | undefined): AsyncGenerator<Image> {
    if (study !== undefined) {
      for (const uid of study.split(/[,\\]/).slice(0, pageSize)) {
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

  /** Returns null for a slide that cannot be read now. */
  async function storedOf(id: string, requester: Requester): Promise<StoredSlide | null> {
    const servable = await catalogue.servable(id);
    if (servable === null) return null;
    return slides.stored(servable, requester).catch(() => null);
  }

  function levelOf(imageId: string, slide: StoredSlide, { series, instance }: Scope): StoredLevel {
    const known = instancesOf(imageId, slide);
    const level = known.levels.get(instance ?? '');
    if (level === undefined || series !== known.series) throw new AppError('not_found');
    return level;
  }

  return {
    async search(level, { matches, limit, offset }, scope, { user, requester, base }) {
      if (limit === 0 || !mayMatch(level, matches) || offset > searchLimits.offset) return [];
      const found: JsonDataSet[] = [];
      let skipped = 0;
      const study = scope.study ?? matches.get(studyUid);
      for await (const { id, file_name: fileName, created_at: createdAt } of imagesOf(user, study)) {
        const described = { id, fileName, createdAt };
        // What does not need the file is compared before it is opened.
        if (
          !matchesQuery(toJson({ ...studyOf(described), ...seriesOf(described) }), among(matches, cheapTags))
        )
          continue;
        const slide = await storedOf(id, requester);
        if (slide === null) continue;
        for (const dataSet of dataSetsOf(level, described, slide, scope, base)) {
          if (!matchesQuery(dataSet, matches)) continue;
          if (skipped++ < offset) continue;
          found.push(dataSet);
          if (found.length >= limit) return found;
        }
      }
      return found;
    },

    imageIdOf({ study = '' }) {
      const id = imageIdOf(study);
      if (id === null) throw new AppError('not_found');
      return id;
    },

    async open(image, createdAt, requester) {
      const slide = await slides.stored(image, requester);
      return { image, slide, described: { id: image.id, fileName: image.fileName, createdAt } };
    },

    metadata(study, scope, base) {
      const { image, slide, described } = study;
      if (scope.series !== undefined && scope.series !== uidOf(image.id, 'series'))
        throw new AppError('not_found');
      const levels = scope.instance === undefined ? slide.levels : [levelOf(image.id, slide, scope)];
      if (levels.length === 0) throw new AppError('not_found');
      return levels.map((level) => toJson(metadataOf(described, slide, level, urlOf(base, image.id, level))));
    },

    frame(image, scope, number, client, allocate) {
      const choose = (slide: StoredSlide) => {
        const level = levelOf(image.id, slide, scope);
        if (number < 1 || number > level.columns * level.rows) throw new AppError('not_found');
        return { level, index: number - 1 };
      };
      return slides.storedTile(image, { choose, allocate }, client);
    },

    async iccProfile({ image, slide }, scope, requester) {
      levelOf(image.id, slide, scope);
      const profile = await slides.iccProfile(image, requester);
      if (profile === null) throw new AppError('not_found');
      return profile;
    },
  };
}

const studyUid = tagOf('StudyInstanceUID') ?? '';
const modalityTags = ['Modality', 'ModalitiesInStudy'].map((keyword) => tagOf(keyword) ?? '');
const someImage: DescribedImage = { id: '00000000-0000-4000-8000-000000000000', fileName: '', createdAt: '' };
/** Attributes that do not need the file. */
const cheapTags: ReadonlySet<string> = new Set(
  Object.keys(toJson({ ...studyOf(someImage), ...seriesOf(someImage) })),
);

/** Whether a slide can match at all: clients ask for other modalities with every study that they open. */
function mayMatch(level: SearchLevel, matches: SearchQuery['matches']): boolean {
  return modalityTags.every((tag) => {
    const wanted = matches.get(tag);
    return (
      wanted === undefined ||
      (level === 'instance' && tag !== modalityTags[0]) ||
      /^(SM|S[?]|[?]M|S[*]|.*[*].*)$/i.test(wanted)
    );
  });
}

function among(matches: SearchQuery['matches'], tags: ReadonlySet<string>): SearchQuery['matches'] {
  return new Map([...matches].filter(([tag]) => tags.has(tag)));
}

function* dataSetsOf(
  level: SearchLevel,
  image: DescribedImage,
  slide: StoredSlide,
  { series, instance }: Scope,
  base: string,
): Generator<JsonDataSet> {
  const count = slide.levels.length;
  const study: Attributes = {
    ...studyOf(image),
    NumberOfStudyRelatedSeries: Math.min(1, count),
    NumberOfStudyRelatedInstances: count,
    ModalitiesInStudy: count > 0 ? 'SM' : null,
  };
  const url = `${base}/studies/${uidOf(image.id, 'study')}`;
  if (level === 'study') yield toJson({ ...study, RetrieveURL: url });
  if (level === 'study' || count === 0) return;
  const seriesId = uidOf(image.id, 'series');
  if (series !== undefined && series !== seriesId) return;
  const ofSeries = { ...study, ...seriesOf(image), NumberOfSeriesRelatedInstances: count };
  if (level === 'series') yield toJson({ ...ofSeries, RetrieveURL: `${url}/series/${seriesId}` });
  if (level === 'series') return;
  for (const each of slide.levels) {
    if (instance !== undefined && instance !== uidOf(image.id, each.level)) continue;
    yield toJson({ ...ofSeries, ...instanceOf(image, each), RetrieveURL: urlOf(base, image.id, each) });
  }
}

function urlOf(base: string, imageId: string, { level }: StoredLevel): string {
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
