/**
 * Stores the link of a slide that a person has opened before signing in, so that the slide can be shown after the sign-in. The
 * link is in the session storage of the tab, where it survives the redirect to an external sign-in service.
 */
const storageKey = 'linked_slide';

/** Stores an address of the slide viewer; does nothing for other addresses and for one without parameters. */
export function rememberLinkedSlide({ pathname, search }: Pick<Location, 'pathname' | 'search'>): void {
  if (pathname === '/wsi-viewer' && search !== '') sessionStorage.setItem(storageKey, pathname + search);
}

/** Returns the stored address; null when there is none. */
export function linkedSlide(): string | null {
  return sessionStorage.getItem(storageKey);
}

export function forgetLinkedSlide(): void {
  sessionStorage.removeItem(storageKey);
}
