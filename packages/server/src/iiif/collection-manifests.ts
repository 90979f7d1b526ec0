/**
 * Cases and collections as IIIF collections of manifests. They name only slides that the reader may view; a visitor of a share
 * link sees the titles that its maker gave, never names of files, datasets and cases.
 *
 * Source: iiif.io/api/presentation/3.0 section 5.1.
 */
import { AppError, type SharedItem, type User } from '@lamina/contract';
import type { Cases } from '../cases/cases.ts';
import type { VisibleImages } from '../catalogue/visible-images.ts';
import type { Collections } from '../collections/collections.ts';
import type { Visitor } from '../domain/image-session.ts';
import { sharedItems } from '../share-links/shared-items.ts';
import type { Database } from '../store/database.ts';
import { findShareLink } from '../store/share-links.ts';

/** Who reads: an account with the rights of this moment, or a visitor with the session of a share link. */
export type ManifestReader = { readonly user: User } | { readonly visitor: Visitor };

export interface ManifestAddress {
  /** URL of the document itself. */
  readonly id: string;
  /** URL of the service below which images and manifests are, without a slash at the end. */
  readonly base: string;
}

export interface CollectionManifests {
  /** @throws AppError not_found, also for a case that the reader may not see or that the link does not name */
  ofCase(reader: ManifestReader, caseId: string, address: ManifestAddress): Promise<object>;
  /** @throws AppError not_found, also for a collection that the reader may not see or that the link does not name */
  ofCollection(reader: ManifestReader, collectionId: string, address: ManifestAddress): Promise<object>;
  /** Returns the title of a slide for a visitor. @throws AppError not_found when the link has ended */
  titleFor(visitor: Visitor, imageId: string): Promise<string>;
}

interface Dependencies {
  readonly db: Database;
  readonly cases: Pick<Cases, 'get'>;
  readonly collections: Pick<Collections, 'get'>;
  readonly visibleImages: VisibleImages;
}

interface Entry {
  readonly type: 'slide' | 'case';
  readonly id: string;
  readonly title: string;
  readonly text?: string | null;
}

/** What a document lists. */
interface Target {
  readonly type: 'case' | 'collection';
  readonly id: string;
}

interface Listing {
  readonly title: string;
  readonly text: string | null;
  readonly entries: readonly Entry[];
}

export function createCollectionManifests(dependencies: Dependencies): CollectionManifests {
  const { db, cases, collections, visibleImages } = dependencies;

  /** @throws AppError not_found when the link has ended */
  async function linkOf({ linkId, images }: Visitor) {
    const link = await findShareLink(db, linkId);
    if (link === null || link.ended_at !== null) throw new AppError('not_found');
    const items = async (): Promise<SharedItem[]> => sharedItems(db, link, images);
    return { type: link.target_type, id: link.target_id, title: link.title, items };
  }

  /** Returns the target of a link for its visitor. @throws AppError not_found for another target */
  async function listingOfLink(visitor: Visitor, target: Target): Promise<Listing> {
    const { type, id, title, items } = await linkOf(visitor);
    if (type !== target.type || id !== target.id) throw new AppError('not_found');
    const entries = (await items()).map(
      (item): Entry => ({ type: 'slide', id: item.image_id, title: item.title, text: item.text }),
    );
    return { title, text: null, entries };
  }

  /** Returns the images that can be shown, by id: administrators also see those that cannot be read. */
  async function readyImages(user: User, ids: readonly string[]) {
    const images = await visibleImages.of(user, ids);
    return new Map([...images].filter(([, { status }]) => status === 'ready'));
  }

  async function caseListing(user: User, id: string): Promise<Listing> {
    const { name, description, slides } = await cases.get(user, id);
    const images = await readyImages(
      user,
      slides.map(({ image_id }) => image_id),
    );
    const entries = slides.flatMap(({ image_id, stain, block, note }): Entry[] => {
      const image = images.get(image_id);
      if (image === undefined) return [];
      const title = [block, stain].filter(Boolean).join(' ') || image.file_name;
      return [{ type: 'slide', id: image_id, title, text: note }];
    });
    return { title: name, text: description, entries };
  }

  async function collectionListing(user: User, id: string): Promise<Listing> {
    const { title, description, items } = await collections.get(user, id);
    const images = await readyImages(
      user,
      items.flatMap((item) => item.images),
    );
    const entries = items.flatMap((item): Entry[] => {
      const image = item.images.find((each) => images.has(each));
      if (!item.access || image === undefined) return [];
      const named = { title: item.title ?? '', text: item.text };
      return [
        item.type === 'case'
          ? { type: 'case', id: item.id, ...named }
          : { type: 'slide', id: image, ...named },
      ];
    });
    return { title, text: description, entries };
  }

  const listingOf = { case: caseListing, collection: collectionListing };

  async function documentFor(reader: ManifestReader, target: Target, address: ManifestAddress) {
    const listing =
      'user' in reader
        ? await listingOf[target.type](reader.user, target.id)
        : await listingOfLink(reader.visitor, target);
    return documentOf(listing, address);
  }

  return {
    ofCase: (reader, id, address) => documentFor(reader, { type: 'case', id }, address),

    ofCollection: (reader, id, address) => documentFor(reader, { type: 'collection', id }, address),

    async titleFor(visitor, imageId) {
      const { title, items } = await linkOf(visitor);
      return (await items()).find(({ image_id }) => image_id === imageId)?.title ?? title;
    },
  };
}

const textOf = (text: string) => ({ none: [text] });

function documentOf({ title, text, entries }: Listing, { id, base }: ManifestAddress): object {
  return {
    '@context': 'http://iiif.io/api/presentation/3/context.json',
    id,
    type: 'Collection',
    label: textOf(title),
    ...(text && { summary: textOf(text) }),
    items: entries.map((entry) => itemOf(entry, base)),
  };
}

function itemOf({ type, id, title, text }: Entry, base: string): object {
  const described = { label: textOf(title), ...(text && { summary: textOf(text) }) };
  if (type === 'case') return { id: `${base}/manifest/case/${id}`, type: 'Collection', ...described };
  const service = { id: `${base}/image/${id}`, type: 'ImageService3', profile: 'level2' };
  const thumbnail = `${service.id}/full/!256,256/0/default.jpg`;
  return {
    id: `${base}/manifest/${id}`,
    type: 'Manifest',
    ...described,
    thumbnail: [{ id: thumbnail, type: 'Image', format: 'image/jpeg', service: [service] }],
  };
}
