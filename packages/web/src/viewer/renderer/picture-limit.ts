/** Limit of the memory for decoded tiles. */

const mebibyte = 2 ** 20;

/** Limit of all views of the page together; slides side by side share it. */
let limitOfPage = 256 * mebibyte;
let views = 0;

/** @param deviceMemory gigabytes, as `navigator.deviceMemory` reports them; undefined in browsers without it */
export function pictureLimitOf(deviceMemory: number | undefined): number {
  if (deviceMemory === undefined || deviceMemory > 4) return 256 * mebibyte;
  return (deviceMemory > 2 ? 128 : 64) * mebibyte;
}

/** Sets the limit of all views of the page together. */
export function limitPictures(bytes: number): void {
  limitOfPage = bytes;
}

/** Counts a view that has pictures. @returns a function that ends it */
export function shareLimit(): () => void {
  views += 1;
  return () => {
    views -= 1;
  };
}

/** Returns the limit of one view. */
export function limitOfView(): number {
  return limitOfPage / Math.max(1, views);
}
