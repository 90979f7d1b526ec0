/** What the audit trail is told of an upload. */
import type { AuditAction, AuditEntry, Origin } from '../audit.ts';
import type { UploadRow } from '../store/uploads.ts';

/** Who sends, and where from. */
export interface Sender {
  readonly uid: string;
  readonly origin: Origin;
}

/** @param by null: nobody did it */
export function entryOf(action: AuditAction, row: UploadRow, by: Sender | null): AuditEntry {
  return {
    action,
    actor: by?.uid ?? null,
    target: null,
    detail: {
      dataset: row.dataset,
      upload_path: row.path,
      files: row.file_count,
      size_bytes: row.size_bytes,
    },
    origin: by?.origin ?? null,
  };
}
