/** Limits the memory for decoded tiles (pictures), which all views of the page share equally. */

const mebibyte = 2 ** 20;

/** Limit of all views of the page together, in bytes. */
let limitOfPage = 256 * mebibyte;
let viewCount = 0;

/**
 * Returns the limit in bytes for a device.
 *
 * @param deviceMemory in gigabytes, as `navigator.deviceMemory` reports it; undefined in browsers without it
 */
export function pictureLimitOf(deviceMemory: number | undefined): number {
  if (deviceMemory === undefined || deviceMemory > 4) return 256 * mebibyte;
  return (deviceMemory > 2 ? 128 : 64) * mebibyte;
}

/** Sets the limit of all views of the page together. */
export function limitPictures(bytes: number): void {
  limitOfPage = bytes;
}

/** Registers a view that shares the limit. @returns a function that unregisters it */
export function shareLimit(): () => void {
  viewCount += 1;
  return () => {
    viewCount -= 1;
  };
}

/** Returns the limit of one view in bytes. */
export function limitOfView(): number {
  return limitOfPage / Math.max(1, viewCount);
}
