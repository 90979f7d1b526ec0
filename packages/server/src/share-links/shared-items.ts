/**
 * Finds the slides that a visitor sees after opening a share link. The titles of these slides are numbers or strings
 * that users have entered, never names of files, cases or datasets, which may contain patient data. The target of a
 * link is a slide, a case, a saved view or a collection.
 */
import type { SharedItem } from '@lamina/contract';
import { findInaccessibleDatasets } from '../datasets/inaccessible-datasets.ts';
import { withoutAnswer } from '../domain/questions.ts';
import { findCases } from '../store/cases.ts';
import { findCollection, type StoredItem } from '../store/collections.ts';
import type { Connection } from '../store/database.ts';
import { findImages } from '../store/managed-images.ts';
import { coloursOf, fieldOf, findSavedViews } from '../store/saved-views.ts';
import type { ShareLinkRow } from '../store/share-links.ts';
import { findUser } from '../store/users.ts';

/** A shared item without the scale of its slide, which `sharedItems` adds last. */
type ItemWithoutScale = Omit<SharedItem, 'mpp_x' | 'mpp_y' | 'objective_power'>;

type SharedLink = Pick<ShareLinkRow, 'target_type' | 'target_id' | 'title' | 'uid'>;

/** What the link may show. */
interface LinkAccess {
  /** Slides that the link opens. */
  readonly imageIds: ReadonlySet<string>;
  /** Datasets that the creator of the link may not see. */
  readonly inaccessibleDatasets: ReadonlySet<string>;
}

/**
 * Returns the items of a link's target in order.
 *
 * @param link when its target is a case that its creator may not see, there are no items: their titles would contain data of the case
 * @param imageIds slides that the link opens; other slides of the target are omitted
 */
export async function sharedItems(
  db: Connection,
  link: SharedLink,
  imageIds: ReadonlySet<string>,
): Promise<SharedItem[]> {
  const images = new Map((await findImages(db, [...imageIds])).map((image) => [image.id, image]));
  const creator = await findUser(db, link.uid);
  if (creator === null) return [];
  const access = { imageIds, inaccessibleDatasets: await findInaccessibleDatasets(db, creator) };
  return (await itemsOfLink(db, link, access)).map((item) => {
    const image = images.get(item.image_id);
    // A derived pixel size or magnification (calculated from the other, because the file lacks it) is not exact enough for visitors.
    const isPixelSizeExact = image?.derived_scale !== 'mpp';
    const isMagnificationExact = image?.derived_scale !== 'objective_power';
    return {
      ...item,
      mpp_x: isPixelSizeExact ? (image?.mpp_x ?? null) : null,
      mpp_y: isPixelSizeExact ? (image?.mpp_y ?? null) : null,
      objective_power: isMagnificationExact ? (image?.objective_power ?? null) : null,
    };
  });
}

async function itemsOfLink(
  db: Connection,
  link: SharedLink,
  access: LinkAccess,
): Promise<ItemWithoutScale[]> {
  const { target_type: type, target_id: id, title } = link;
  if (type === 'collection') {
    const collection = await findCollection(db, id);
    const items: ItemWithoutScale[] = [];
    for (const [position, item] of (collection?.items ?? []).entries()) {
      const itemNumber = `${position + 1}`; // serves as title, because the name of a slide or case could contain patient data
      const slides = await itemsOf(db, item, itemNumber, access);
      const { text, question } = item;
      items.push(
        ...slides.map((slide, index) => ({
          ...slide,
          text: text ?? slide.text,
          item: position, // position of the item in the collection
          // The web app asks a question about a case at the first slide of the case.
          ...(question !== null && index === 0 && { question: withoutAnswer(question) }),
        })),
      );
    }
    return items;
  }
  return itemsOf(db, { type, id }, title, access);
}

/**
 * Returns the items for a slide, a saved view or a case.
 *
 * @param title title of a slide, or start of the titles of a case's slides; not used for a saved view, which has its own title
 */
async function itemsOf(
  db: Connection,
  { type, id }: Pick<StoredItem, 'type' | 'id'>,
  title: string,
  { imageIds, inaccessibleDatasets }: LinkAccess,
): Promise<ItemWithoutScale[]> {
  if (type === 'slide') return imageIds.has(id) ? [{ image_id: id, title, text: null }] : [];
  if (type === 'view') {
    const [view] = await findSavedViews(db, [id]);
    if (view === undefined || !imageIds.has(view.image_id)) return [];
    const colours = coloursOf(view);
    return [
      {
        image_id: view.image_id,
        title: view.title,
        text: view.text,
        field: fieldOf(view), // the field of view: the visible part of the slide
        ...(colours !== null && { colours }),
      },
    ];
  }
  const [caseWithSlides] = await findCases(db, [id]);
  if (caseWithSlides === undefined || inaccessibleDatasets.has(caseWithSlides.dataset)) return [];
  return caseWithSlides.slides
    .map(({ image_id, stain, block }, index) => {
      const slideName = [block, stain].filter(Boolean).join(' ') || `${index + 1}`;
      return { image_id, title: `${title} · ${slideName}`, text: null };
    })
    .filter(({ image_id }) => imageIds.has(image_id));
}
