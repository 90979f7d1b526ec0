/** What an administrator says of an entry of the catalogue, and what goes on record of it. */
import { AppError } from '@lamina/contract';
import type { AuditAction, AuditEntry, Origin } from '../audit.ts';
import type { Change } from '../store/database.ts';
import {
  type EditableField,
  editableFields,
  type ImageChanges,
  type ImageRow,
  updateImage,
} from '../store/images.ts';

/** Who changes an entry and where from, for the audit trail. */
export interface Editor {
  readonly uid: string;
  readonly origin: Origin;
}

/** What is left out stays as it is. */
export interface ImageEdit {
  readonly file_name?: string | undefined;
  /** Null or empty: none. */
  readonly dataset_name?: string | null | undefined;
  readonly organ_type?: string | null | undefined;
  readonly hidden?: boolean | undefined;
  readonly removed?: boolean | undefined;
  /** Of a file that could not be read; does nothing for any other. */
  readonly read_again?: true | undefined;
}

/** What became of an entry, and what is to be written down of it in the same change. */
export interface EditedImage {
  /** Afterwards; the very same one when there was nothing to change. */
  readonly row: ImageRow;
  readonly entries: readonly AuditEntry[];
}

/**
 * @param at ISO 8601
 * @throws AppError not_found for a removed entry that is not brought back
 */
export async function editImage(
  tx: Change,
  row: ImageRow,
  edit: ImageEdit,
  { uid, origin }: Editor,
  at: string,
): Promise<EditedImage> {
  const isBroughtBack = edit.removed === false && row.removed_at !== null;
  if (row.removed_at !== null && !isBroughtBack) {
    if (edit.removed === true) return { row, entries: [] };
    throw new AppError('not_found');
  }
  const edited = editableFields.filter((field) => edit[field] !== undefined);
  const isToHide = edit.hidden === true && row.hidden_at === null;
  const isToShow = edit.hidden === false && row.hidden_at !== null;
  const isToRemove = edit.removed === true;
  const isToRead = edit.read_again === true && row.status === 'failed' && row.missing_since === null;
  const changes: ImageChanges = {
    ...valuesOf(edit),
    ...(edited.length > 0 && { edited_fields: withEdited(row.edited_fields, edited) }),
    ...(isToHide && { hidden_at: at }),
    ...(isToShow && { hidden_at: null }),
    ...(isToRemove && { removed_at: at }),
    ...(isBroughtBack && { removed_at: null }),
    ...(isToRead && { status: 'pending', error: null }),
  };
  if (Object.keys(changes).length === 0) return { row, entries: [] };
  const after = await updateImage(tx, row.id, changes, at);
  if (after === null) throw new AppError('not_found');

  const done: readonly (AuditAction | false)[] = [
    isBroughtBack && 'image-restored',
    edited.length > 0 && 'image-edited',
    isToHide && 'image-hidden',
    isToShow && 'image-shown',
    isToRead && 'image-read-again',
    isToRemove && 'image-removed',
  ];
  const entries = done.flatMap((action): AuditEntry[] => {
    if (action === false) return [];
    const detail = action === 'image-edited' ? { fields: edited.join(' ') } : {};
    return [{ action, actor: uid, target: row.id, detail, origin }];
  });
  return { row: after, entries };
}

/** An empty text takes a dataset or an organ away. */
function valuesOf({ file_name, dataset_name, organ_type }: ImageEdit): ImageChanges {
  return {
    ...(file_name !== undefined && { file_name }),
    ...(dataset_name !== undefined && { dataset_name: dataset_name || null }),
    ...(organ_type !== undefined && { organ_type: organ_type || null }),
  };
}

/** @param before JSON array of the fields that were set before */
export function withEdited(before: string, edited: readonly EditableField[]): string {
  return JSON.stringify([...new Set([...(JSON.parse(before) as EditableField[]), ...edited])]);
}
