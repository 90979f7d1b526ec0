/** The audit log entries of uploads. */
import type { AuditAction, AuditEntry, Origin } from '../audit/audit-recorder.ts';
import type { UploadRow } from '../store/uploads.ts';

/** The administrator who uploads, and the origin of the request (client address and request id). */
export interface Sender {
  readonly uid: string;
  readonly origin: Origin;
}

/** Returns the audit log entry of an upload. @param sender null when the server itself acted */
export function auditEntryOf(action: AuditAction, row: UploadRow, sender: Sender | null): AuditEntry {
  return {
    action,
    actor: sender?.uid ?? null,
    target: null, // an upload is neither an account nor an image
    detail: {
      dataset: row.dataset,
      upload_path: row.path,
      files: row.file_count,
      size_bytes: row.size_bytes,
    },
    origin: sender?.origin ?? null,
  };
}
