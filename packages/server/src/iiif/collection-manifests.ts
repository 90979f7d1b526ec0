/**
 * Describes cases (slides of one specimen) and collections (lists of slides and cases that a user has made) as IIIF
 * collections of manifests (iiif.io/api/presentation/3.0, section 5.1). The IIIF collections contain only slides that
 * the reader may view. A visitor, who has opened a share link without an account, sees the titles that the creator of
 * the link has given, never the names of files, datasets or cases.
 */
import { AppError, type SharedItem, type User } from '@lamina/contract';
import type { Cases } from '../cases/cases.ts';
import type { VisibleImages } from '../catalogue/visible-images.ts';
import type { Collections } from '../collections/collections.ts';
import type { Visitor } from '../domain/image-session.ts';
import { sharedItems } from '../share-links/shared-items.ts';
import type { Database } from '../store/database.ts';
import { findShareLink } from '../store/share-links.ts';

/** The reader: an account with its current rights, or a visitor of a share link. */
export type ManifestReader = { readonly user: User } | { readonly visitor: Visitor };

export interface CollectionUrls {
  /** URL of the IIIF collection itself. */
  readonly id: string;
  /** URL of the IIIF service, without a slash at the end. The URLs of images and manifests start with it. */
  readonly base: string;
}

export interface CollectionManifests {
  /** Returns the IIIF collection of a case. @throws AppError not_found, also for a case that the reader may not see */
  ofCase(reader: ManifestReader, caseId: string, urls: CollectionUrls): Promise<object>;
  /**
   * Returns the IIIF collection that lists the items of a collection. @throws AppError not_found in the same cases as
   * `ofCase`
   */
  ofCollection(reader: ManifestReader, collectionId: string, urls: CollectionUrls): Promise<object>;
  /** Returns the title of a slide in the share link, or of the link itself if none of its items shows the slide. @throws AppError not_found */
  titleFor(visitor: Visitor, imageId: string): Promise<string>;
}

interface Dependencies {
  readonly db: Database;
  readonly cases: Pick<Cases, 'get'>;
  readonly collections: Pick<Collections, 'get'>;
  readonly visibleImages: VisibleImages;
}

/** A slide or case that an IIIF collection lists. */
interface ListedItem {
  readonly type: 'slide' | 'case';
  readonly id: string;
  readonly title: string;
  readonly text?: string | null;
}

/** The case or collection that an IIIF collection describes. */
interface Target {
  readonly type: 'case' | 'collection';
  readonly id: string;
}

/** The content of an IIIF collection, before its conversion to the JSON of IIIF. */
interface Listing {
  readonly title: string;
  readonly text: string | null;
  readonly items: readonly ListedItem[];
}

export function createCollectionManifests(dependencies: Dependencies): CollectionManifests {
  const { db, cases, collections, visibleImages } = dependencies;

  /** Returns the share link of a visitor. @throws AppError not_found when the link has ended or no longer exists */
  async function linkOf({ linkId, images }: Visitor) {
    const link = await findShareLink(db, linkId);
    if (link === null || link.ended_at !== null) throw new AppError('not_found');
    const loadItems = async (): Promise<SharedItem[]> => sharedItems(db, link, images);
    return { type: link.target_type, id: link.target_id, title: link.title, loadItems };
  }

  /** Returns the content for a visitor. @throws AppError not_found when the link has ended or shares another target */
  async function listingOfLink(visitor: Visitor, target: Target): Promise<Listing> {
    const { type, id, title, loadItems } = await linkOf(visitor);
    if (type !== target.type || id !== target.id) throw new AppError('not_found');
    const items = (await loadItems()).map(
      (item): ListedItem => ({ type: 'slide', id: item.image_id, title: item.title, text: item.text }),
    );
    return { title, text: null, items };
  }

  /** Returns, by id, the images that can be shown. Leaves out those that are not read yet or unreadable, which administrators may see. */
  async function readyImages(user: User, ids: readonly string[]) {
    const images = await visibleImages.of(user, ids);
    return new Map([...images].filter(([, { status }]) => status === 'ready'));
  }

  /** Returns the slides of a case for an account. A slide's title is its block (piece of tissue) and stain, or its file name. */
  async function caseListing(user: User, id: string): Promise<Listing> {
    const { name, description, slides } = await cases.get(user, id);
    const images = await readyImages(
      user,
      slides.map(({ image_id }) => image_id),
    );
    const items = slides.flatMap(({ image_id, stain, block, note }): ListedItem[] => {
      const image = images.get(image_id);
      if (image === undefined) return [];
      const title = [block, stain].filter(Boolean).join(' ') || image.file_name;
      return [{ type: 'slide', id: image_id, title, text: note }];
    });
    return { title: name, text: description, items };
  }

  /** Returns the items of a collection that the account may view. Each case becomes a reference to its own IIIF collection. */
  async function collectionListing(user: User, id: string): Promise<Listing> {
    const { title, description, items: collectionItems } = await collections.get(user, id);
    const images = await readyImages(
      user,
      collectionItems.flatMap((item) => item.images),
    );
    const items = collectionItems.flatMap((item): ListedItem[] => {
      const imageId = item.images.find((id) => images.has(id)); // the slide, or the first readable slide of the case
      if (!item.access || imageId === undefined) return []; // `access` is false if the account may not view the item
      const texts = { title: item.title ?? '', text: item.text };
      return item.type === 'case'
        ? [{ type: 'case', id: item.id, ...texts }]
        : [{ type: 'slide', id: imageId, ...texts }];
    });
    return { title, text: description, items };
  }

  const listingOf = { case: caseListing, collection: collectionListing };

  async function documentFor(reader: ManifestReader, target: Target, urls: CollectionUrls) {
    const listing =
      'user' in reader
        ? await listingOf[target.type](reader.user, target.id)
        : await listingOfLink(reader.visitor, target);
    return documentOf(listing, urls);
  }

  return {
    ofCase: (reader, id, urls) => documentFor(reader, { type: 'case', id }, urls),

    ofCollection: (reader, id, urls) => documentFor(reader, { type: 'collection', id }, urls),

    async titleFor(visitor, imageId) {
      const { title, loadItems } = await linkOf(visitor);
      return (await loadItems()).find(({ image_id }) => image_id === imageId)?.title ?? title;
    },
  };
}

/** Returns the IIIF language map of a text whose language is unknown. */
const textOf = (text: string) => ({ none: [text] });

function documentOf({ title, text, items }: Listing, { id, base }: CollectionUrls): object {
  return {
    '@context': 'http://iiif.io/api/presentation/3/context.json',
    id,
    type: 'Collection',
    label: textOf(title),
    ...(text && { summary: textOf(text) }),
    items: items.map((item) => itemOf(item, base)),
  };
}

function itemOf({ type, id, title, text }: ListedItem, base: string): object {
  const described = { label: textOf(title), ...(text && { summary: textOf(text) }) };
  if (type === 'case') return { id: `${base}/manifest/case/${id}`, type: 'Collection', ...described };
  const service = { id: `${base}/image/${id}`, type: 'ImageService3', profile: 'level2' }; // IIIF compliance level 2
  const thumbnail = `${service.id}/full/!256,256/0/default.jpg`;
  return {
    id: `${base}/manifest/${id}`,
    type: 'Manifest',
    ...described,
    thumbnail: [{ id: thumbnail, type: 'Image', format: 'image/jpeg', service: [service] }],
  };
}
