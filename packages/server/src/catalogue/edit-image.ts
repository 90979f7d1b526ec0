/** What an administrator says of an entry of the catalogue, and what goes on record of it. */
import { AppError } from '@lamina/contract';
import type { Audit, AuditAction, Origin } from '../audit.ts';
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

interface Ground {
  readonly audit: Audit;
  readonly editor: Editor;
  /** ISO 8601. */
  readonly at: string;
}

/**
 * @returns the entry afterwards; the very same one when there was nothing to change
 * @throws AppError not_found for a removed entry that is not brought back
 */
export async function editImage(
  tx: Change,
  row: ImageRow,
  edit: ImageEdit,
  { audit, editor, at }: Ground,
): Promise<ImageRow> {
  const isBroughtBack = edit.removed === false && row.removed_at !== null;
  if (row.removed_at !== null && !isBroughtBack) {
    if (edit.removed === true) return row;
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
  if (Object.keys(changes).length === 0) return row;
  const after = await updateImage(tx, row.id, changes, at);
  if (after === null) throw new AppError('not_found');

  const record = (action: AuditAction, detail?: Readonly<Record<string, string>>) =>
    audit.record(tx, {
      action,
      actor: editor.uid,
      target: row.id,
      origin: editor.origin,
      ...(detail && { detail }),
    });
  if (isBroughtBack) await record('image-restored');
  if (edited.length > 0) await record('image-edited', { fields: edited.join(' ') });
  if (isToHide) await record('image-hidden');
  if (isToShow) await record('image-shown');
  if (isToRead) await record('image-read-again');
  if (isToRemove) await record('image-removed');
  return after;
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
