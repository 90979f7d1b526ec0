/**
 * The URL of a slide that a user opened before signing in. The app stores it to show the slide after the sign-in. It uses the session
 * storage of the tab, which survives the redirect to an external sign-in service.
 */
const storageKey = 'linked_slide';

/** Stores a URL of the slide viewer. Ignores URLs of other screens, and a URL without parameters, which names no slide. */
export function rememberLinkedSlide({ pathname, search }: Pick<Location, 'pathname' | 'search'>): void {
  if (pathname === '/wsi-viewer' && search !== '') sessionStorage.setItem(storageKey, pathname + search);
}

/** Returns the stored path and query; null when there is none. */
export function linkedSlide(): string | null {
  return sessionStorage.getItem(storageKey);
}

export function forgetLinkedSlide(): void {
  sessionStorage.removeItem(storageKey);
}
