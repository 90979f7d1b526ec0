/** Applies edits by administrators to catalogue entries, and returns the audit events of these edits. */
import { AppError } from '@lamina/contract';
import type { AuditAction, AuditEntry, Origin } from '../audit/audit-recorder.ts';
import { parseHold } from '../domain/metadata-hold.ts';
import type { DatabaseTransaction } from '../store/database.ts';
import {
  type EditableField,
  editableFields,
  type ImageChanges,
  type ImageRow,
  updateImage,
} from '../store/images.ts';
import { type Calibration, changesByCalibration } from './image-scale.ts';

/** The account that edits an entry, and the origin (client) of its request, for the audit log. */
export interface CatalogueEditor {
  readonly uid: string;
  readonly origin: Origin;
}

/** The fields to change. Absent fields stay unchanged. */
export interface ImageEdit {
  readonly file_name?: string | undefined;
  /** Null or empty removes the entry from its dataset. */
  readonly dataset_name?: string | null | undefined;
  readonly organ_type?: string | null | undefined;
  /** Null restores the scale of the file. */
  readonly calibration?: Calibration | undefined;
  readonly hidden?: boolean | undefined;
  readonly removed?: boolean | undefined;
  /** Requests another attempt to read a file that could not be read; has no effect on other files. */
  readonly read_again?: true | undefined;
}

/** The edited catalogue entry, and the audit events to record in the same transaction. */
export interface EditedImage {
  /** The row after the edit; the same object when nothing changed. */
  readonly row: ImageRow;
  readonly auditEntries: readonly AuditEntry[];
}

/**
 * Applies an edit to an entry.
 *
 * @param at time of the edit, ISO 8601
 * @throws AppError not_found for a removed entry, unless the edit restores it, or removes it again (which changes nothing)
 */
export async function editImage(
  tx: DatabaseTransaction,
  row: ImageRow,
  edit: ImageEdit,
  { uid, origin }: CatalogueEditor,
  at: string,
): Promise<EditedImage> {
  const isRestored = edit.removed === false && row.removed_at !== null;
  if (row.removed_at !== null && !isRestored) {
    if (edit.removed === true) return { row, auditEntries: [] };
    throw new AppError('not_found');
  }
  const editedFields = editableFields.filter((field) => edit[field] !== undefined);
  const metadataHold = parseHold(row.metadata_hold);
  // A metadata hold records why a scan did not apply the metadata files (`catalogue.csv`, …) to a slide.
  // `waiting`: The scan has hidden the slide because a file was unusable. Showing or hiding the slide ends this hold.
  // `kept`: The scan has left the slide in its dataset although the files name another one. Setting the dataset ends this hold.
  const endsHold =
    (metadataHold?.kind === 'waiting' && edit.hidden !== undefined) ||
    (metadataHold?.kind === 'kept' && editedFields.includes('dataset_name'));
  // If an administrator hides a slide that a scan has hidden, the slide stays hidden when the metadata file is corrected.
  const isToHide = edit.hidden === true && (row.hidden_at === null || metadataHold?.kind === 'waiting');
  const isToShow = edit.hidden === false && row.hidden_at !== null;
  const isToRemove = edit.removed === true;
  const isToRead = edit.read_again === true && row.status === 'failed' && row.missing_since === null;
  const scaleChanges = edit.calibration === undefined ? {} : changesByCalibration(row, edit.calibration);
  const isCalibrated = Object.keys(scaleChanges).length > 0;
  const changes: ImageChanges = {
    ...columnsOf(edit),
    ...scaleChanges,
    ...(editedFields.length > 0 && { edited_fields: withEditedFields(row.edited_fields, editedFields) }),
    ...(endsHold && { metadata_hold: null }),
    ...(isToHide && { hidden_at: at }),
    ...(isToShow && { hidden_at: null }),
    ...(isToRemove && { removed_at: at }),
    ...(isRestored && { removed_at: null }),
    ...(isToRead && { status: 'pending', error: null, error_code: null }),
  };
  if (Object.keys(changes).length === 0) return { row, auditEntries: [] };
  const after = await updateImage(tx, row.id, changes, at);
  if (after === null) throw new AppError('not_found');

  const actions: readonly (AuditAction | false)[] = [
    isRestored && 'image-restored',
    editedFields.length > 0 && 'image-edited',
    isCalibrated && 'image-calibrated',
    isToHide && 'image-hidden',
    isToShow && 'image-shown',
    isToRead && 'image-read-again',
    isToRemove && 'image-removed',
  ];
  const auditEntries = actions.flatMap((action): AuditEntry[] => {
    if (action === false) return [];
    let detail: AuditEntry['detail'] = {};
    if (action === 'image-edited') detail = editDetail(editedFields, row, after);
    else if (action === 'image-calibrated') detail = calibrationDetail(row, after);
    return [{ action, actor: uid, target: row.id, detail, origin }];
  });
  return { row: after, auditEntries };
}

type EditedValues = Partial<Pick<ImageRow, EditableField>>;

/** Returns the detail of an edit's audit event: the edited fields, and the old and new value of each field that changed. */
export function editDetail(
  fields: readonly EditableField[],
  before: EditedValues,
  after: EditedValues,
): NonNullable<AuditEntry['detail']> {
  const beforeAndAfter = (name: string, field: EditableField) =>
    (before[field] ?? null) === (after[field] ?? null)
      ? {}
      : { [`${name}_before`]: before[field] ?? null, [`${name}_after`]: after[field] ?? null };
  return {
    fields: fields.join(' '),
    ...beforeAndAfter('file_name', 'file_name'),
    ...beforeAndAfter('dataset', 'dataset_name'),
    ...beforeAndAfter('organ', 'organ_type'),
  };
}

/** Returns the detail of the audit event for a calibration: the old and new value of each entered value that changed. */
function calibrationDetail(before: ImageRow, after: ImageRow): NonNullable<AuditEntry['detail']> {
  const change = (name: string, field: 'entered_mpp' | 'entered_objective_power') =>
    before[field] === after[field]
      ? {}
      : { [`${name}_before`]: before[field], [`${name}_after`]: after[field] };
  return { ...change('mpp', 'entered_mpp'), ...change('objective_power', 'entered_objective_power') };
}

/** Returns the edited values as columns. An empty string becomes null, which means no dataset or no organ. */
function columnsOf({ file_name, dataset_name, organ_type }: ImageEdit): ImageChanges {
  return {
    ...(file_name !== undefined && { file_name }),
    ...(dataset_name !== undefined && { dataset_name: dataset_name || null }),
    ...(organ_type !== undefined && { organ_type: organ_type || null }),
  };
}

/** Returns the column `edited_fields`, a JSON array, with more fields added. @param before the present value of the column */
export function withEditedFields(before: string, edited: readonly EditableField[]): string {
  return JSON.stringify([...new Set([...(JSON.parse(before) as EditableField[]), ...edited])]);
}
