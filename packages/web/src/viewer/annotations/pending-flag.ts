/**
 * A flag in local storage: whether this browser has unsent changes of annotations. If it has, the next opened slide loads the
 * code that sends them, even if that slide has no annotations.
 */
const key = 'annotations-pending';

export function hasPendingAnnotations(): boolean {
  return localStorage.getItem(key) !== null;
}

export function rememberPendingAnnotations(isPending: boolean): void {
  if (isPending) localStorage.setItem(key, 'true');
  else localStorage.removeItem(key);
}
