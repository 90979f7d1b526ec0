/** Computes and applies the changes to catalogue entries whose slide files a scan found: new, changed and moved ones. */
import { basename } from 'node:path/posix';
import type { AuditEntry } from '../audit/audit-recorder.ts';
import { stringifyHold } from '../domain/metadata-hold.ts';
import type { SlideFile } from '../slide-storage/slide-roots.ts';
import type { DatabaseTransaction } from '../store/database.ts';
import {
  type EditableField,
  findImage,
  type NewImage,
  type ScannedRow,
  updateImage,
} from '../store/images.ts';
import { changesByMetadata, type EntryUpdate, type RestrictedDatasets } from './changes-by-metadata.ts';
import { type MetadataProblem, slideMetadataOf } from './metadata-files.ts';
import type { FoundSlide } from './scan.ts';

export type Root = SlideFile['root'];

/** A slide that a scan has found, with its slide root. */
export interface FoundAtRoot {
  readonly root: Root;
  readonly slide: FoundSlide;
}

/** A found slide and the entry that belongs to it. */
export interface PairedEntry extends FoundAtRoot {
  readonly row: ScannedRow;
}

/** Actor and origin of audit events for actions of the server itself. */
export const serverActor = { actor: null, origin: null } as const satisfies Partial<AuditEntry>;

/** Returns whether a slide is at another location (root and path) than its entry states. */
export const hasOtherLocation = ({ row, root, slide }: PairedEntry) =>
  row.root !== root || row.path !== slide.path;

/** Returns the column `members` of an entry: the names of the slide's other files as a JSON array. */
const membersOf = ({ members }: Pick<FoundSlide, 'members'>) => JSON.stringify(members);

/** Returns the new entry of a slide, or of a metadata file (`fingerprint` null); hidden if metadata is incomplete. @param at ISO 8601 */
export function newImage(
  id: string,
  root: Root,
  slide: Omit<FoundSlide, 'fingerprint'>,
  { fingerprint, at }: { readonly fingerprint: string | null; readonly at: string },
): NewImage {
  return {
    id,
    root,
    path: slide.path,
    members: membersOf(slide),
    fingerprint,
    file_name: basename(slide.path),
    dataset_name: slide.dataset_name,
    organ_type: slide.organ_type,
    size_bytes: slide.sizeBytes,
    ...(slide.isMetadataIncomplete && { hidden_at: at, metadata_hold: stringifyHold({ kind: 'waiting' }) }),
  };
}

/** Returns an unusable metadata file (`catalogue.csv`) as if it were a slide: its entry shows the problem to administrators. */
export function metadataFileAsSlide({ path }: MetadataProblem): Omit<FoundSlide, 'fingerprint'> {
  return { path, members: [], sizeBytes: 0, ...slideMetadataOf(path, []) };
}

/**
 * Updates the entry of a found slide. The entry is read again, because an administrator may have edited it since the scan
 * began.
 *
 * @returns the audit events to record in the same transaction
 */
export async function updateEntryOfSlide(
  tx: DatabaseTransaction,
  pair: PairedEntry,
  restricted: RestrictedDatasets,
  at: string,
): Promise<readonly AuditEntry[]> {
  const row = await findImage(tx, pair.row.id, { includeMissing: true });
  if (row === null) return [];
  const { changes, auditEntries } = changesOf(row, pair, restricted);
  const after = await updateImage(tx, row.id, changes, at);
  return auditEntries.map((entry) => ({
    ...entry,
    // The event names both datasets as the catalogue spells them, which may differ from the spelling in the metadata file.
    ...(entry.action === 'image-dataset-changed' && {
      detail: { dataset_before: row.dataset_name, dataset_after: after?.dataset_name ?? null },
    }),
  }));
}

/** Returns the changes that make an entry match its file and the metadata files; fields that an administrator has edited stay. */
export function changesOf(
  row: ScannedRow,
  { root, slide }: FoundAtRoot,
  restricted: RestrictedDatasets,
): EntryUpdate {
  const edited = new Set(JSON.parse(row.edited_fields) as EditableField[]);
  const isSameLocation = row.root === root && row.path === slide.path;
  const update = changesByMetadata(row, slide, edited, restricted);
  return {
    changes: {
      ...(!isSameLocation && { root, path: slide.path }),
      ...(!isSameLocation && !edited.has('file_name') && { file_name: basename(slide.path) }),
      ...update.changes,
      ...(row.members !== membersOf(slide) && { members: membersOf(slide) }),
      ...(row.size_bytes !== slide.sizeBytes && { size_bytes: slide.sizeBytes }),
      ...(row.missing_since !== null && { missing_since: null }),
    },
    auditEntries: update.auditEntries,
  };
}

/** Returns the audit event of a moved slide. */
export function moveAuditEntry({ row, slide }: PairedEntry): AuditEntry {
  // A path with a leading slash is temporary: the entry got it in this scan because another entry took its path.
  const oldPath = row.path.startsWith('/') ? null : row.path;
  return { ...serverActor, action: 'image-moved', target: row.id, detail: { from: oldPath, to: slide.path } };
}
