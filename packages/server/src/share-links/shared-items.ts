/** What a visitor sees of the target of a share link: titles that people gave, never names of files or datasets. */
import type { SharedItem } from '@lamina/contract';
import { withoutAnswer } from '../domain/questions.ts';
import { findCases } from '../store/cases.ts';
import { findCollection, type StoredItem } from '../store/collections.ts';
import type { Connection } from '../store/database.ts';
import { findImages } from '../store/managed-images.ts';
import { coloursOf, fieldOf, findSavedViews } from '../store/saved-views.ts';
import type { ShareLinkRow } from '../store/share-links.ts';

/** An item before the scale of its slide is added. */
type Item = Omit<SharedItem, 'mpp_x' | 'mpp_y' | 'objective_power'>;

/** @param imageIds slides that the link opens; items of others are left out */
export async function sharedItems(
  db: Connection,
  link: Pick<ShareLinkRow, 'target_type' | 'target_id' | 'title'>,
  imageIds: ReadonlySet<string>,
): Promise<SharedItem[]> {
  const images = new Map((await findImages(db, [...imageIds])).map((image) => [image.id, image]));
  return (await itemsOfLink(db, link, imageIds)).map((item) => {
    const image = images.get(item.image_id);
    // A value that was derived from the other one is no calibration.
    const isCalibrated = image?.derived_scale !== 'mpp';
    return {
      ...item,
      mpp_x: isCalibrated ? (image?.mpp_x ?? null) : null,
      mpp_y: isCalibrated ? (image?.mpp_y ?? null) : null,
      objective_power: image?.derived_scale === 'objective_power' ? null : (image?.objective_power ?? null),
    };
  });
}

async function itemsOfLink(
  db: Connection,
  link: Pick<ShareLinkRow, 'target_type' | 'target_id' | 'title'>,
  imageIds: ReadonlySet<string>,
): Promise<Item[]> {
  const { target_type: type, target_id: id, title } = link;
  if (type === 'collection') {
    const stored = await findCollection(db, id);
    const parts: Item[] = [];
    for (const [position, item] of (stored?.items ?? []).entries()) {
      const slides = await itemsOf(db, item, `${position + 1}`, imageIds);
      const { text, question } = item;
      parts.push(
        ...slides.map((slide, index) => ({
          ...slide,
          text: text ?? slide.text,
          item: position,
          ...(question !== null && index === 0 && { question: withoutAnswer(question) }),
        })),
      );
    }
    return parts;
  }
  return itemsOf(db, { type, id }, title, imageIds);
}

/** @param title of a slide, and the beginning of the titles of a case's slides */
async function itemsOf(
  db: Connection,
  { type, id }: Pick<StoredItem, 'type' | 'id'>,
  title: string,
  imageIds: ReadonlySet<string>,
): Promise<Item[]> {
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
        field: fieldOf(view),
        ...(colours !== null && { colours }),
      },
    ];
  }
  const [found] = await findCases(db, [id]);
  return (found?.slides ?? [])
    .map(({ image_id, stain, block }, index) => ({
      image_id,
      title: [title, [block, stain].filter(Boolean).join(' ') || `${index + 1}`].join(' · '),
      text: null,
    }))
    .filter(({ image_id }) => imageIds.has(image_id));
}
