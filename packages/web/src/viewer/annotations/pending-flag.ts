/**
 * A flag in local storage: whether this browser has unsent changes of annotations. If so, the viewer loads the code
 * that sends them as soon as any slide is opened, even a slide without annotations.
 */
const key = 'annotations-pending';

export function hasPendingAnnotations(): boolean {
  return localStorage.getItem(key) !== null;
}

export function rememberPendingAnnotations(isPending: boolean): void {
  if (isPending) localStorage.setItem(key, 'true');
  else localStorage.removeItem(key);
}
