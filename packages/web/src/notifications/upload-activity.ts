/** Progress of the uploads of this browser tab. The upload queue reports it, and the navigation bar shows it. */
import { useSyncExternalStore } from 'react';

export interface UploadActivity {
  /** Number of uploads that wait, are being sent, or wait for the network. */
  readonly count: number;
  /** Number of bytes of all these uploads that have been sent. */
  readonly sentBytes: number;
  /** Total size of the files of these uploads, in bytes. */
  readonly sizeBytes: number;
}

const noActivity: UploadActivity = { count: 0, sentBytes: 0, sizeBytes: 0 };
let activity = noActivity;
const listeners = new Set<() => void>();

export function reportUploadActivity(next: UploadActivity): void {
  activity = next.count === 0 ? noActivity : next;
  for (const listener of listeners) listener();
}

/** Returns the current activity; the component renders again when it changes. */
export function useUploadActivity(): UploadActivity {
  return useSyncExternalStore(subscribe, () => activity);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
