/**
 * What a scan changes about the dataset and the organ of an entry. A scan never shows a slide to an account that could not see
 * it before: it keeps the entry as it is while a metadata file cannot be used, and it keeps a slide in a restricted dataset when
 * the files name a dataset that more people can see. An administrator moves such a slide.
 */
import { isSameName, nameKey } from '@lamina/contract';
import type { AuditEntry } from '../audit/audit-recorder.ts';
import { type MetadataHold, readHold, writeHold } from '../domain/metadata-hold.ts';
import type { EditableField, ImageChanges, ScannedRow } from '../store/images.ts';
import type { SlideMetadata } from './metadata-files.ts';

/** The accounts to which each restricted dataset is granted, by the key of its name. */
export type RestrictedDatasets = ReadonlyMap<string, ReadonlySet<string>>;

export interface FollowedFile {
  readonly changes: ImageChanges;
  /** Audit entries to record in the same transaction. */
  readonly entries: readonly AuditEntry[];
}

/** @param edited fields that an administrator has set */
export function followMetadata(
  row: Pick<ScannedRow, 'id' | 'dataset_name' | 'organ_type' | 'hidden_at' | 'metadata_hold'>,
  metadata: SlideMetadata,
  edited: ReadonlySet<EditableField>,
  restricted: RestrictedDatasets,
): FollowedFile {
  if (metadata.metadataIncomplete) return nothing;
  const before = readHold(row.metadata_hold);
  const isOther = !edited.has('dataset_name') && !isSameName(row.dataset_name, metadata.dataset_name);
  const isKept = isOther && opensMore(row.dataset_name, metadata.dataset_name, restricted);
  const hold: MetadataHold | null = isKept ? { kind: 'kept', dataset: metadata.dataset_name } : null;
  const isOtherOrgan = !edited.has('organ_type') && !isSameName(row.organ_type, metadata.organ_type);
  const isShown = before?.kind === 'waiting' && row.hidden_at !== null;
  const isNewHold = (hold === null ? null : writeHold(hold)) !== row.metadata_hold;

  const entries: AuditEntry[] = [];
  const record = (action: AuditEntry['action'], detail: AuditEntry['detail'] = {}) =>
    entries.push({ action, actor: null, origin: null, target: row.id, detail });
  if (isOther && !isKept) {
    const names = { dataset_before: row.dataset_name, dataset_after: metadata.dataset_name };
    record('image-dataset-changed', names);
  }
  if (isKept && isNewHold) {
    record('image-dataset-kept', { dataset: row.dataset_name, dataset_in_files: metadata.dataset_name });
  }
  if (isShown) record('image-shown', { reason: 'metadata' });
  return {
    changes: {
      ...(isOther && !isKept && { dataset_name: metadata.dataset_name }),
      ...(isOtherOrgan && { organ_type: metadata.organ_type }),
      ...(isNewHold && { metadata_hold: hold === null ? null : writeHold(hold) }),
      ...(isShown && { hidden_at: null }),
    },
    entries,
  };
}

const nothing: FollowedFile = { changes: {}, entries: [] };

/** Whether an account can see the second dataset but not the first. A slide without a dataset is open to every member. */
function opensMore(from: string | null, to: string | null, restricted: RestrictedDatasets): boolean {
  const before = from === null ? undefined : restricted.get(nameKey(from));
  if (before === undefined) return false;
  const after = to === null ? undefined : restricted.get(nameKey(to));
  return after === undefined || [...after].some((uid) => !before.has(uid));
}
