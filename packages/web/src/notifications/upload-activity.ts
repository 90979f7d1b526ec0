/** What this browser is uploading, for screens other than the one that lists the uploads. */
import { useSyncExternalStore } from 'react';

export interface UploadActivity {
  /** Uploads that wait, are sent, or wait for the network. */
  readonly count: number;
  /** Of them together. */
  readonly sentBytes: number;
  readonly sizeBytes: number;
}

const idle: UploadActivity = { count: 0, sentBytes: 0, sizeBytes: 0 };
let activity = idle;
const listeners = new Set<() => void>();

export function reportUploadActivity(next: UploadActivity): void {
  activity = next.count === 0 ? idle : next;
  for (const listener of listeners) listener();
}

/** Returns the activity now, and draws again when it changes. */
export function useUploadActivity(): UploadActivity {
  return useSyncExternalStore(subscribe, () => activity);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
