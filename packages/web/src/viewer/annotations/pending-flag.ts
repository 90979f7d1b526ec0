/**
 * A flag in local storage: whether this browser has unsent changes of annotations. If so, opening any slide, even one
 * without annotations, makes the viewer load the code that sends the changes.
 */
const key = 'annotations-pending';

export function hasPendingAnnotations(): boolean {
  return localStorage.getItem(key) !== null;
}

export function rememberPendingAnnotations(isPending: boolean): void {
  if (isPending) localStorage.setItem(key, 'true');
  else localStorage.removeItem(key);
}
