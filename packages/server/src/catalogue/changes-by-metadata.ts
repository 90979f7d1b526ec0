/**
 * Computes the dataset and the organ that a scan writes to a catalogue entry because metadata files (`catalogue.csv`,
 * `dataset.json`) state them for the slide. A new dataset must not let more accounts see a slide than before. A hold is the
 * stored reason why a scan did not apply the metadata files to a slide:
 * - `waiting`: A metadata file is unusable. The dataset that it names is unknown and may be restricted (visible only to accounts
 *   with a grant), so the scan hides new slides. It leaves existing entries unchanged.
 * - `kept`: The slide stays in its restricted dataset, because the files name a dataset that accounts without a grant to the
 *   present one can see. Only an administrator can move the slide.
 */
import { isSameName, nameKey } from '@lamina/contract';
import type { AuditEntry } from '../audit/audit-recorder.ts';
import { type MetadataHold, parseHold, stringifyHold } from '../domain/metadata-hold.ts';
import type { EditableField, ImageChanges, ScannedRow } from '../store/images.ts';
import type { SlideMetadata } from './metadata-files.ts';

/** For each restricted dataset, by the key of its name (see `nameKey`), the ids of the accounts with a grant to it. */
export type RestrictedDatasets = ReadonlyMap<string, ReadonlySet<string>>;

/** The changes that a scan makes in one catalogue entry. */
export interface EntryUpdate {
  readonly changes: ImageChanges;
  /** Audit events to record in the same transaction. */
  readonly auditEntries: readonly AuditEntry[];
}

/** Returns the changes to one entry. @param edited fields that an administrator has set; scans do not change them */
export function changesByMetadata(
  row: Pick<ScannedRow, 'id' | 'dataset_name' | 'organ_type' | 'hidden_at' | 'metadata_hold'>,
  metadata: SlideMetadata,
  edited: ReadonlySet<EditableField>,
  restricted: RestrictedDatasets,
): EntryUpdate {
  if (metadata.isMetadataIncomplete) return noChanges; // a metadata file is unusable
  const oldHold = parseHold(row.metadata_hold);
  const isDatasetChanged =
    !edited.has('dataset_name') && !isSameName(row.dataset_name, metadata.dataset_name);
  const keepsDataset = isDatasetChanged && widensAccess(row.dataset_name, metadata.dataset_name, restricted);
  const hold: MetadataHold | null = keepsDataset ? { kind: 'kept', dataset: metadata.dataset_name } : null;
  const isOrganChanged = !edited.has('organ_type') && !isSameName(row.organ_type, metadata.organ_type);
  // An earlier scan hid the slide because a metadata file was unusable. Now all metadata files are usable.
  const isToShow = oldHold?.kind === 'waiting' && row.hidden_at !== null;
  const isHoldChanged = (hold === null ? null : stringifyHold(hold)) !== row.metadata_hold;

  const auditEntries: AuditEntry[] = [];
  const record = (action: AuditEntry['action'], detail: AuditEntry['detail'] = {}) =>
    auditEntries.push({ action, actor: null, origin: null, target: row.id, detail });
  if (isDatasetChanged && !keepsDataset) {
    const names = { dataset_before: row.dataset_name, dataset_after: metadata.dataset_name };
    record('image-dataset-changed', names);
  }
  if (keepsDataset && isHoldChanged) {
    record('image-dataset-kept', { dataset: row.dataset_name, dataset_in_files: metadata.dataset_name });
  }
  if (isToShow) record('image-shown', { reason: 'metadata' });
  return {
    changes: {
      ...(isDatasetChanged && !keepsDataset && { dataset_name: metadata.dataset_name }),
      ...(isOrganChanged && { organ_type: metadata.organ_type }),
      ...(isHoldChanged && { metadata_hold: hold === null ? null : stringifyHold(hold) }),
      ...(isToShow && { hidden_at: null }),
    },
    auditEntries,
  };
}

const noChanges: EntryUpdate = { changes: {}, auditEntries: [] };

/** Returns whether a move to the new dataset lets more accounts see the slide. Null (no dataset) is unrestricted. */
function widensAccess(
  oldDataset: string | null,
  newDataset: string | null,
  restricted: RestrictedDatasets,
): boolean {
  const oldReaders = oldDataset === null ? undefined : restricted.get(nameKey(oldDataset));
  if (oldReaders === undefined) return false;
  const newReaders = newDataset === null ? undefined : restricted.get(nameKey(newDataset));
  return newReaders === undefined || [...newReaders].some((uid) => !oldReaders.has(uid));
}
