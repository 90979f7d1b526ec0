/** Stub of the server for tests of the slide viewer: answers catalogue requests from a list of images, as the server would. */
import {
  foldDiacritics,
  type Image,
  type ImageOrder,
  matchesWords,
  naturalCompare,
  searchWords,
} from '@lamina/contract';

const defaultFields: Omit<Image, 'id'> = {
  file_name: '',
  dataset_name: null,
  organ_type: null,
  width: null,
  height: null,
  mpp_x: null,
  mpp_y: null,
  objective_power: null,
  mpp_derived: false,
  objective_power_derived: false,
  vendor: null,
  format: null,
  size_bytes: 0,
  status: 'ready',
  error: null,
  hidden: false,
  created_at: '2026-11-01T00:00:00.000Z',
};

/** Returns an image with default values for the missing fields; a short id such as '7' is padded to a UUID. */
export function imageOf(fields: object): Image {
  const image: Image = { ...defaultFields, id: '', ...fields };
  const id = image.id.length === 36 ? image.id : `00000000-0000-4000-8000-${image.id.padStart(12, '0')}`;
  return { ...image, id };
}

/** A case of the stub. All of its images must be in one dataset. */
export interface CaseOfStub {
  readonly id: string;
  readonly name: string;
  readonly image_ids: readonly string[];
}

/** Answers GET /image-catalog/images/groups, …/rows, …/{id} and …/{id}/position; responds to any other request with 404. */
export function answerCatalogue(
  images: readonly Image[],
  address: string,
  cases: readonly CaseOfStub[] = [],
): Response {
  const { pathname, searchParams } = new URL(address, 'http://localhost');
  const path = pathname.slice(pathname.indexOf('/image-catalog/images') + '/image-catalog/images'.length);
  const list = listOf(images, searchParams, cases);
  /** Revision of the catalogue: changes whenever an image is added. */
  const revision = JSON.stringify(images).length.toString();
  if (path === '/groups') return Response.json({ revision, ...list.groups() });
  if (path === '/rows') {
    const from = Number(searchParams.get('from') ?? 0);
    return Response.json({
      revision,
      images: list.rows.slice(from, from + Number(searchParams.get('limit') ?? 100)),
    });
  }
  const [, imageId, subresource] = path.split('/'); // '/{id}' or '/{id}/position'
  const image = images.find(({ id }) => id === imageId);
  if (image === undefined)
    return Response.json({ message: 'Not found.', code: 'not_found' }, { status: 404 });
  if (subresource === undefined) return Response.json({ image });
  const position = list.rows.indexOf(image);
  return Response.json({ revision, position: position === -1 ? null : position });
}

/** Applies the search, filters and order of a request. @returns the images in the order of the list, and a function for its groups */
function listOf(images: readonly Image[], query: URLSearchParams, cases: readonly CaseOfStub[]) {
  const words = searchWords(query.get('q') ?? '');
  const order = (query.get('order') ?? 'name') as ImageOrder;
  const found = images.filter((image) => {
    const { file_name, id, organ_type, dataset_name } = image;
    return matchesWords(foldDiacritics([file_name, id, organ_type, dataset_name].join('\n')), words);
  });
  /** Whether a value matches the filter of the request, which is, for example, `no_dataset`, `dataset=…` or absent. */
  const matchesFilter = (field: 'dataset' | 'organ', value: string | null) => {
    if (query.has(`no_${field}`)) return value === null;
    return !query.has(field) || query.get(field) === value;
  };
  const inDataset = found.filter((image) => matchesFilter('dataset', image.dataset_name));
  const withOrgan = found.filter((image) => matchesFilter('organ', image.organ_type));
  const filtered = inDataset.filter((image) => withOrgan.includes(image)).sort(comparators[order]);
  const groups = [...Map.groupBy(filtered, (image) => image.dataset_name)];
  if (order === 'name') groups.sort(([a], [b]) => compareNames(a, b));
  /** Returns the cases of a group with their images (only in the order by name), and the rows of the group: images in cases first. */
  const splitByCase = (imagesOfGroup: readonly Image[]) => {
    const casesOfGroup = cases
      .map(({ id, name, image_ids }) => ({
        id,
        name,
        images: imagesOfGroup.filter((image) => image_ids.includes(image.id)),
      }))
      .filter((slideCase) => order === 'name' && slideCase.images.length > 0)
      .sort((a, b) => naturalCompare(a.name, b.name));
    const inCases = casesOfGroup.flatMap((slideCase) => slideCase.images);
    return { casesOfGroup, rows: [...inCases, ...imagesOfGroup.filter((image) => !inCases.includes(image))] };
  };
  /** Returns the choices of a filter with their numbers of images. */
  const choicesOf = (countedImages: readonly Image[], field: 'dataset_name' | 'organ_type') =>
    [...new Set(images.map((image) => image[field]))].sort(compareNames).map((name) => ({
      [field]: name,
      images: countedImages.filter((image) => image[field] === name).length,
    }));
  return {
    rows: groups.flatMap(([, imagesOfGroup]) => splitByCase(imagesOfGroup).rows),
    groups: () => ({
      groups: groups.map(([dataset_name, imagesOfGroup]) => {
        const casesWithCounts = splitByCase(imagesOfGroup).casesOfGroup.map((slideCase) => ({
          ...slideCase,
          images: slideCase.images.length,
        }));
        return {
          dataset_name,
          images: imagesOfGroup.length,
          ...(casesWithCounts.length > 0 && { cases: casesWithCounts }),
        };
      }),
      // Each filter counts the images that match the other filter.
      datasets: choicesOf(withOrgan, 'dataset_name'),
      organs: choicesOf(inDataset, 'organ_type'),
    }),
  };
}

const byName = (a: Image, b: Image) => naturalCompare(a.file_name, b.file_name) || naturalCompare(a.id, b.id);
const comparators: Readonly<Record<ImageOrder, (a: Image, b: Image) => number>> = {
  name: byName,
  newest: (a, b) => Date.parse(b.created_at) - Date.parse(a.created_at) || byName(a, b),
  largest: (a, b) => b.size_bytes - a.size_bytes || byName(a, b),
};

/** Sorts null, the missing name, last. */
function compareNames(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return naturalCompare(a, b);
}
