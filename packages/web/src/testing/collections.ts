/** Responses of the API about the collections and saved views of `account()`, İpek Işık. */

const at = '2026-11-22T10:00:00.000Z';

/** Returns the collection "Ders 3" of İpek Işık with these items. */
export function ownCollection<Item>(items: readonly Item[]) {
  return {
    id: 'c-1',
    version: 3,
    title: 'Ders 3',
    description: null,
    owner: 'uid-of-ipek',
    owner_name: 'İpek Işık',
    own: true,
    items,
    readers: [],
    created_at: at,
    updated_at: at,
  };
}

/** Returns the saved view "Kenar" of İpek Işık on the image `a`. @param field the part of the slide that the view shows */
export function ownView<ViewField>(field: ViewField) {
  return {
    id: 'v-1',
    version: 1,
    image_id: 'a',
    title: 'Kenar',
    text: null,
    field,
    colours: null,
    layers: null,
    created_at: at,
    updated_at: at,
  };
}
