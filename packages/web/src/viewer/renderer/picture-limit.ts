/**
 * The memory limit for decoded tiles ("pictures"). All views of the page together have one limit; each view gets an equal
 * share.
 */

const mebibyte = 2 ** 20;

/** Limit for all views of the page together, in bytes. */
let limitOfPage = 256 * mebibyte;
let viewCount = 0;

/**
 * Returns the limit for all views of the page together, in bytes, that suits a device.
 *
 * @param deviceMemory memory of the device in gigabytes, from `navigator.deviceMemory`; undefined in browsers that do not report
 *   it
 */
export function pictureLimitOf(deviceMemory: number | undefined): number {
  if (deviceMemory === undefined || deviceMemory > 4) return 256 * mebibyte;
  return (deviceMemory > 2 ? 128 : 64) * mebibyte;
}

/** Sets the limit for all views of the page together. */
export function setPictureLimit(bytes: number): void {
  limitOfPage = bytes;
}

/** Registers a view, which then shares the limit with the other views. @returns a function that unregisters the view */
export function registerView(): () => void {
  viewCount += 1;
  return () => {
    viewCount -= 1;
  };
}

/** Returns the limit for one view in bytes: an equal share for each registered view. */
export function limitOfView(): number {
  return limitOfPage / Math.max(1, viewCount);
}
