/** Remembers that this browser keeps changes of annotations, so that the code that sends them is loaded with the next slide. */
const key = 'annotations-pending';

export function hasPendingAnnotations(): boolean {
  return localStorage.getItem(key) !== null;
}

export function rememberPendingAnnotations(isPending: boolean): void {
  if (isPending) localStorage.setItem(key, 'true');
  else localStorage.removeItem(key);
}
