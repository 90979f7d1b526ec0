/**
 * Remembers in local storage whether this browser has unsent changes of annotations. Only then does the next slide load the code
 * that sends them.
 */
const key = 'annotations-pending';

export function hasPendingAnnotations(): boolean {
  return localStorage.getItem(key) !== null;
}

export function rememberPendingAnnotations(isPending: boolean): void {
  if (isPending) localStorage.setItem(key, 'true');
  else localStorage.removeItem(key);
}
