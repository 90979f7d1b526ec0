/** The database columns of a catalogue entry that lists read, and their conversion to the `Image` of the API. */
import type { Image } from '@lamina/contract';
import type { Row } from './schema.ts';

type ImageRow = Row<'images'>;

/** Columns of an entry that the API returns, and `sort_key`, its position in the catalogue. */
export const listedColumns = [
  'id',
  'file_name',
  'dataset_name',
  'organ_type',
  'width',
  'height',
  'mpp_x',
  'mpp_y',
  'objective_power',
  'derived_scale',
  'entered_mpp',
  'entered_objective_power',
  'plane',
  'planes',
  'times',
  'vendor',
  'format',
  'size_bytes',
  'status',
  'error',
  'error_code',
  'hidden_at',
  'created_at',
  'sort_key',
] as const satisfies readonly (keyof ImageRow)[];

export type ListedImage = Pick<ImageRow, (typeof listedColumns)[number]>;

/** Converts the row of an entry to the `Image` of the API. */
export function imageOf(row: Omit<ListedImage, 'sort_key'>): Image {
  return {
    id: row.id,
    file_name: row.file_name,
    dataset_name: row.dataset_name,
    organ_type: row.organ_type,
    width: row.width,
    height: row.height,
    mpp_x: row.mpp_x,
    mpp_y: row.mpp_y,
    objective_power: row.objective_power,
    mpp_derived: row.derived_scale === 'mpp',
    objective_power_derived: row.derived_scale === 'objective_power',
    ...((row.entered_mpp !== null || row.entered_objective_power !== null) && { scale_entered: true }),
    ...shownPlaneOf(row),
    vendor: row.vendor,
    format: row.format,
    size_bytes: row.size_bytes,
    status: row.status,
    error: row.error,
    ...(row.error_code !== null && { error_code: row.error_code }),
    hidden: row.hidden_at !== null,
    created_at: row.created_at,
  };
}

/** Returns the field `shown_plane`, or no field for an image with one focal plane and one time point. */
function shownPlaneOf({
  plane,
  planes,
  times,
}: Pick<ImageRow, 'plane' | 'planes' | 'times'>): Pick<Image, 'shown_plane'> {
  if (plane === null || planes === null || times === null) return {};
  return { shown_plane: { plane, planes, times } };
}
