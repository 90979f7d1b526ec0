/**
 * The slide whose link was opened before sign-in. Stored for this tab, so that it survives the redirect to
 * an external sign-in service.
 */
const storageKey = 'linked_slide';

/** Does nothing for an address without a slide. */
export function rememberLinkedSlide({ pathname, search }: Pick<Location, 'pathname' | 'search'>): void {
  if (pathname === '/wsi-viewer' && search !== '') sessionStorage.setItem(storageKey, pathname + search);
}

/** Returns the stored address and deletes it; null when there is none. */
export function linkedSlide(): string | null {
  return sessionStorage.getItem(storageKey);
}

export function forgetLinkedSlide(): void {
  sessionStorage.removeItem(storageKey);
}
